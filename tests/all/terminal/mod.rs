//! A terminal, and what the program asks there.

#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::program::{PROGRAM, Running, command, start};

pub const PROMPT: &str = "Passphrase for the private keys: ";
pub const AGAIN: &str = "The same passphrase again: ";

/// A program in a terminal of its own, and who types there.
pub struct Typist {
    script: Running,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// All that was shown.
    shown: String,
    /// How much of it was waited for.
    seen: usize,
}

impl Typist {
    /// Runs a line of shell in `directory`, where `$P` is the program.
    pub fn start(script: &Path, directory: &Path, line: &str) -> Self {
        Self::run(command(script).current_dir(directory).env("P", PROGRAM), line)
    }

    /// Runs a line of shell by `script`.
    pub fn run(script: &mut Command, line: &str) -> Self {
        script.args(["-qec", line, "/dev/null"]).env("SHELL", "/bin/sh");
        // With `script` ends its terminal, and with that what runs there.
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

    /// Waits for a text that was not waited for before, then types.
    pub fn answer(&mut self, prompt: &str, typed: impl AsRef<[u8]>) {
        while !self.shown[self.seen..].contains(prompt) {
            // Only a program that never asks lets this end.
            let bytes = self.screen.recv_timeout(Duration::from_secs(60));
            let bytes = bytes.unwrap_or_else(|_| panic!("no {prompt:?} in {:?}", self.shown));
            self.shown += &String::from_utf8_lossy(&bytes);
        }
        self.seen += self.shown[self.seen..].find(prompt).unwrap() + prompt.len();
        self.keyboard.write_all(typed.as_ref()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the end. Gives the status and all that was shown.
    pub fn end(mut self) -> (Option<i32>, String) {
        for bytes in &self.screen {
            self.shown += &String::from_utf8_lossy(&bytes);
        }
        (self.script.wait().unwrap().code(), self.shown)
    }
}
