//! What is no command line, and commands that need neither files of others nor a server.

use super::look;
use super::world::World;

#[test]
fn no_command_line() {
    let lines = [
        "",
        "lokup",
        "help bogus",
        "policy",
        "policy lnt",
        "--color sometimes state",
        "lookup --tenat t",
        "lookup --tenant",
        "lookup --demo more",
        "lookup --demo --demo",
        "lookup --demo -o yaml",
        "lookup --tenant %FF",
        "state --timeout 5",
        "state --timeout 5parsecs",
        "state --timeout ''",
        "state --timeout 300000000h",
        "state --timeout -5s",
    ];
    look("command_line", &World::new(), &lines);
}

#[test]
fn explain() {
    let lines = [
        "explain zzz",
        "explain prefix_match",
        "explain routing-flor-score",
        "explain minimumMatchedToken",
        "explain NO_HINT -o xml",
        "explain NO_HINT NO_HINT",
        "explain > /dev/full",
    ];
    look("explain", &World::new(), &lines);
}

#[test]
fn pages_and_scripts() {
    let world = World::new();
    world.file("plain.txt", "hello\n");
    let lines = [
        "completions",
        "completions tcsh",
        "completions bash > /dev/full",
        "man --dir",
        "man --dir plain.txt",
        "man --dir plain.txt/man1",
        "man > /dev/full",
        "generate --root plain.txt",
    ];
    look("pages_and_scripts", &world, &lines);
}
