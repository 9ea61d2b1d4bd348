//! The engine of these tests: a Python process with pyzmq and msgspec, driven by lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Tokens in a block.
pub const SIZE: usize = 64;

pub struct Engine {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    layout: &'static str,
    pub port: u16,
    pub replay_port: u16,
}

fn python() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/setup.sh");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python-client");
        let status = Command::new("sh").arg(setup).arg(&folder).status().expect("sh runs");
        assert!(status.success(), "the virtual environment is made");
        folder.join("bin/python")
    })
}

/// Tokens of some blocks of a prompt; each prompt has its own.
pub fn tokens(prompt: u32, blocks: std::ops::Range<usize>) -> Vec<u32> {
    (blocks.start * SIZE..blocks.end * SIZE).map(|at| prompt * 100_000 + at as u32).collect()
}

/// The engine's name of a block.
pub fn name(prompt: u32, block: usize) -> u64 {
    u64::from(prompt) * 1_000 + block as u64
}

pub fn stored(prompt: u32, blocks: std::ops::Range<usize>) -> Value {
    let parent = blocks.start.checked_sub(1).map(|before| name(prompt, before));
    json!({
        "type": "BlockStored",
        "block_hashes": blocks.clone().map(|block| name(prompt, block)).collect::<Vec<_>>(),
        "parent_block_hash": parent,
        "token_ids": tokens(prompt, blocks),
        "block_size": SIZE,
    })
}

pub fn removed(prompt: u32, blocks: std::ops::Range<usize>) -> Value {
    json!({
        "type": "BlockRemoved",
        "block_hashes": blocks.map(|block| name(prompt, block)).collect::<Vec<_>>(),
    })
}

impl Engine {
    /// With replays as `plain` or with the `topic`.
    pub fn start(layout: &'static str) -> Self {
        Self::start_at(layout, 0, 0)
    }

    /// So many, at ports one after the other, and as many for replays.
    pub fn start_ranks(layout: &'static str, ranks: u16) -> Vec<Self> {
        for _ in 0..100 {
            let mut engines = vec![Self::start(layout)];
            let (port, replay_port) = (engines[0].port, engines[0].replay_port);
            while engines.len() < usize::from(ranks) {
                let rank = engines.len() as u16;
                let at = port.checked_add(rank).zip(replay_port.checked_add(rank));
                let Some(next) = at.and_then(|(port, replay)| Self::try_start_at(layout, port, replay))
                else {
                    break;
                };
                engines.push(next);
            }
            if engines.len() == usize::from(ranks) {
                return engines;
            }
        }
        panic!("no {ranks} ports one after the other are free");
    }

    fn start_at(layout: &'static str, port: u16, replay_port: u16) -> Self {
        Self::try_start_at(layout, port, replay_port).expect("its ports are free")
    }

    /// `None` where one of the ports is taken.
    fn try_start_at(layout: &'static str, port: u16, replay_port: u16) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/engine.py");
        let mut child = Command::new(python())
            .arg(script)
            .args([&port.to_string(), &replay_port.to_string(), layout, "kv-events"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        let commands = child.stdin.take().expect("it is piped");
        let mut answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let ports = read(&mut answers);
        let port = |at: usize| ports[at].as_u64().and_then(|port| u16::try_from(port).ok());
        let Some((port, replay_port)) = port(0).zip(port(1)) else {
            child.wait().expect("the child is ours");
            return None;
        };
        Some(Self { child, commands, answers, layout, port, replay_port })
    }

    /// Ends at once, and gives what starts another at the same ports.
    pub fn kill(mut self) -> impl FnOnce() -> Engine {
        let (layout, port, replay_port) = (self.layout, self.port, self.replay_port);
        self.child.kill().expect("the child is ours");
        self.child.wait().expect("the child is ours");
        move || Self::start_at(layout, port, replay_port)
    }

    fn command(&mut self, command: &Value) -> Value {
        writeln!(self.commands, "{command}").expect("the engine reads");
        read(&mut self.answers)
    }

    pub fn publish(&mut self, events: &[Value]) {
        self.publish_with(events, json!({}));
    }

    /// With `rank`, `send`, `buffer` or `topic`.
    pub fn publish_with(&mut self, events: &[Value], how: Value) {
        let mut command = how;
        command["do"] = json!("publish");
        command["events"] = json!(events);
        self.command(&command);
    }

    /// Any frames; whether they take a number of the sequence.
    pub fn raw(&mut self, frames: &[&[u8]], takes_seq: bool) {
        let frames: Vec<String> = frames.iter().map(hex::encode).collect();
        self.command(&json!({"do": "raw", "frames": frames, "takes_seq": u8::from(takes_seq)}));
    }

    pub fn renumber(&mut self, seq: u64) {
        self.command(&json!({"do": "renumber", "seq": seq}));
    }

    pub fn next_seq(&mut self) -> u64 {
        self.command(&json!({"do": "asked"}))["next_seq"].as_u64().expect("a number")
    }

    /// From where replays were asked for.
    pub fn asked(&mut self) -> Vec<u64> {
        let answer = self.command(&json!({"do": "asked"}));
        let asked = answer["asked"].as_array().expect("a list");
        asked.iter().map(|from| from.as_u64().expect("a number")).collect()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It has ended already where it was killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(answers: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    answers.read_line(&mut line).expect("the engine answers");
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("no line of JSON from the engine: {line:?}"))
}
