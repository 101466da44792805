//! Runs the program in a terminal, and types there.

#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::program::{Running, command, executable, start};

pub const PROMPT: &str = "Passphrase for the private keys: ";
pub const AGAIN: &str = "The same passphrase again: ";

/// A program in a terminal of its own, with the keyboard and the screen of that terminal.
pub struct Typist {
    script: Running,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// Everything that the terminal has shown.
    shown: String,
    /// How many bytes of `shown` precede the next prompt.
    seen: usize,
}

impl Typist {
    /// Runs a line of shell in `directory`. `$P` is the program there.
    pub fn start(script: &Path, directory: &Path, line: &str) -> Self {
        Self::run(command(script).current_dir(directory).env("P", executable()), line)
    }

    /// Runs a line of shell with `script`.
    pub fn run(script: &mut Command, line: &str) -> Self {
        script.args(["-qec", line, "/dev/null"]).env("SHELL", "/bin/sh");
        // When `script` ends, its terminal ends, and with it the program that runs there.
        let mut script = start(script.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (shows, screen) = channel();
        let mut output = script.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let _ = shows.send(bytes[..read].to_vec());
            }
        });
        let keyboard = script.stdin.take().unwrap();
        Self { script, keyboard, screen, shown: String::new(), seen: 0 }
    }

    /// Waits until the terminal shows `prompt` after the prompt before it, then types.
    pub fn answer(&mut self, prompt: &str, typed: impl AsRef<[u8]>) {
        while !self.shown[self.seen..].contains(prompt) {
            // Only a program that never asks exceeds this time.
            let bytes = self.screen.recv_timeout(Duration::from_secs(60));
            let bytes = bytes.unwrap_or_else(|_| panic!("no {prompt:?} in {:?}", self.shown));
            self.shown += &String::from_utf8_lossy(&bytes);
        }
        self.seen += self.shown[self.seen..].find(prompt).unwrap() + prompt.len();
        self.keyboard.write_all(typed.as_ref()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the end. Returns the status and everything that the terminal has shown.
    pub fn end(mut self) -> (Option<i32>, String) {
        for bytes in &self.screen {
            self.shown += &String::from_utf8_lossy(&bytes);
        }
        (self.script.wait().unwrap().code(), self.shown)
    }
}
