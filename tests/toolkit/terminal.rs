//! A pseudo-terminal in which the binary runs, and its screen.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longest wait for something to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// A side of the screen.
fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Every byte that was written.
    pub written: Vec<u8>,
}

impl Terminal {
    /// Runs the binary in a terminal of this size.
    pub fn run(args: &[String], rows: u16, cols: u16, variables: &[(&str, &str)]) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_icache"));
        command.args(args);
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        command.env("TERM", "xterm-256color");
        for name in ["NO_COLOR", "COLUMNS", "LINES", "LC_ALL", "LANG", "ICACHE_SERVER"] {
            command.env_remove(name);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The end of the child ends the terminal, on Linux with an error.
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(cells(rows), cells(cols), 0);
        Self { child, master: pair.master, keys, output, screen, written: Vec::new() }
    }

    /// Waits until the screen is as `wished`; its text.
    pub fn until(&mut self, what: &str, wished: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.screen.screen().contents();
            if wished(&text) {
                return text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("{what}: the screen stays\n{text}"),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.screen.process(bytes);
        self.written.extend_from_slice(bytes);
    }

    pub fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    pub fn resize(&mut self, rows: u16, cols: u16) {
        self.screen.screen_mut().set_size(cells(rows), cells(cols));
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap();
        let status = std::process::Command::new("sh").args(["-c", &format!("kill -{name} {id}")]).status();
        assert!(status.unwrap().success());
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// Waits for the end; its exit status, as a shell has it: 130 also where the signal of Ctrl-C ended it.
    pub fn end(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it goes on"),
            }
        }
        let status = self.child.wait().unwrap();
        if status.signal() == Some("Interrupt") { 130 } else { status.exit_code() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        let _ = self.child.kill();
    }
}
