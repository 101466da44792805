//! Random sequences of runs and accidents in one directory of keys.
//!
//! After a run with status 0, every key that was asked for opens, belongs to its public line, shows
//! its pattern, and is encrypted if that was asked for. This holds whatever happened to the
//! directory before. If the directory is gone in the middle, every reported key is in it, in the
//! working directory or in the home directory. No run changes a file that exists, except that the ledger grows, and no
//! reported key is lost. `holdings` judges that from the files.
//!
//! `VANITY_SEQUENCES` sets the number of sequences (12 by default), and `VANITY_SEED` the number of
//! the first (0 by default). A sequence follows from its number, except how far a run has come when
//! it is killed.

#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use tempfile::TempDir;
use vanity_search::key::{Format, Seed};

use crate::{holdings, program};
use holdings::{Asked, PASSPHRASE, Snapshot, harm, is_temporary, misbehavior, missing, shows, snapshot};
use program::{LEDGER, Ran, Running, command, executable, names, public_path, start, wait_until};

/// The number of sequences, unless `VANITY_SEQUENCES` sets it.
const SEQUENCES: u64 = 12;

/// The fewest and the most steps of a sequence before its last run.
const STEPS: (usize, usize) = (5, 9);

/// The longest time after which a run is killed: longer than most of them take.
const LATEST_KILL: Duration = Duration::from_millis(60);

const LISTS: [&[&str]; 5] = [&["a"], &["b"], &["ab"], &["a", "b"], &["a", "ab"]];

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// A directory, and a list of what has happened to it.
struct Sequence {
    outer: TempDir,
    random: ChaCha8Rng,
    happened: Vec<String>,
}

impl Sequence {
    fn new(number: u64) -> Self {
        let outer = TempDir::new().unwrap();
        fs::write(outer.path().join("secret"), PASSPHRASE).unwrap();
        fs::set_permissions(outer.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(outer.path().join("keys")).unwrap();
        Self { outer, random: ChaCha8Rng::seed_from_u64(number), happened: Vec::new() }
    }

    fn keys(&self) -> PathBuf {
        self.outer.path().join("keys")
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.next_u32() as usize % end
    }

    /// Returns true in one of `times` calls, at random.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn note(&mut self, what: impl Into<String>) {
        self.happened.push(what.into());
    }

    /// Returns a random request, and the arguments for it.
    fn request(&mut self) -> (Asked, Vec<String>) {
        let patterns = LISTS[self.below(LISTS.len())].to_vec();
        let asked =
            Asked { patterns, count: 1 + self.below(3), any: self.once_in(4), encrypted: self.once_in(3) };
        let mut args: Vec<String> =
            ["-q", "-t", "1", "--engine", "reference", "-d", "keys", "-n"].map(str::to_owned).into();
        args.push(asked.count.to_string());
        args.extend(asked.patterns.iter().map(|pattern| (*pattern).to_owned()));
        let mut add = |options: &[&str]| args.extend(options.iter().map(|option| (*option).to_owned()));
        if asked.any {
            add(&["--any"]);
        }
        // It takes some tenths of a second to encrypt PKCS#8 and PuTTY's format.
        match (asked.encrypted, self.below(40)) {
            (true, 0) => add(&["--passphrase-file", "secret", "--format", "pkcs8"]),
            (true, 1) => add(&["--passphrase-file", "secret", "--format", "ppk"]),
            (true, _) => add(&["--passphrase-file", "secret", "--rounds", "1"]),
            (false, 0..12) => add(&["--format", "pkcs8"]),
            (false, 12..18) => add(&["--format", "openssh"]),
            (false, 18..24) => add(&["--format", "ppk"]),
            (false, _) => {}
        }
        if self.once_in(4) {
            add(&["-C", "someone else"]);
        }
        (asked, args)
    }

    fn command(&self, args: &[String]) -> Command {
        let mut command = command(executable());
        command.args(args).current_dir(&self.outer).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end, and often a second time.
    fn run(&mut self) -> Result<(), String> {
        let (asked, args) = self.request();
        let ran = self.ran(&asked, &args)?;
        if ran.status == Some(0) && self.once_in(3) {
            let again = self.ran(&asked, &args)?;
            if (again.status, again.stdout.as_str()) != (Some(0), "") {
                return Err(format!("the same once more is not complete: {again:?}"));
            }
        }
        Ok(())
    }

    /// Runs the program to its end, and checks what it has done.
    fn ran(&mut self, asked: &Asked, args: &[String]) -> Result<Ran, String> {
        let before = snapshot(&self.keys());
        let ran: Ran = self.command(args).output().unwrap().into();
        self.note(format!("run {args:?}: {:?}", ran.status));
        harm(&self.keys(), &before, &ran.stdout).and_then(|()| self.judge(&before, asked, &ran))?;
        Ok(ran)
    }

    /// Runs the program twice at the same time.
    fn run_together(&mut self) -> Result<(), String> {
        let (asked, args) = self.request();
        let before = snapshot(&self.keys());
        let ran = [(), ()].map(|()| start(&mut self.command(&args))).map(Running::end);
        self.note(format!("twice at once {args:?}: {:?}", [ran[0].status, ran[1].status]));
        harm(&self.keys(), &before, &format!("{}{}", ran[0].stdout, ran[1].stdout))?;
        ran.iter().try_for_each(|ran| self.judge(&before, &asked, ran))
    }

    /// Checks that the status of a run is right for what the directory holds.
    fn judge(&self, before: &Snapshot, asked: &Asked, ran: &Ran) -> Result<(), String> {
        let keys = self.keys();
        let wrong = |what: &str| Err(format!("{what}: {ran:?}"));
        misbehavior(ran).or_else(|what| wrong(&what))?;
        match ran.status {
            Some(0) => missing(&keys, asked).or_else(|what| wrong(&format!("status 0 with {what}"))),
            // Keys in the clear do not count if encrypted ones are asked for. The message names
            // them.
            Some(2) if asked.encrypted => {
                let would_count = |name: &&String| {
                    ran.stderr.contains(&format!("'keys/{name}'"))
                        && holdings::open(&keys.join(name)).is_some_and(|opened| {
                            !opened.encrypted
                                && asked.patterns.iter().any(|pattern| shows(&opened.line, pattern))
                        })
                };
                if !before.keys().any(|name| would_count(&name)) {
                    return wrong("refused without a key in the clear");
                }
                if !ran.stdout.is_empty() || !ran.stderr.contains("\nhint: ") {
                    return wrong("refused after the search, or without a hint");
                }
                Ok(())
            }
            _ => wrong("there is no reason for this status"),
        }
    }

    /// Kills a run at a random moment.
    fn kill(&mut self) -> Result<(), String> {
        let (_, args) = self.request();
        let before = snapshot(&self.keys());
        let mut child = start(&mut self.command(&args));
        let moment = LATEST_KILL.mul_f64(self.below(1000) as f64 / 1000.0);
        std::thread::sleep(moment);
        child.kill().unwrap();
        let ran = child.end();
        self.note(format!("kill {args:?} after {moment:?}: {:?}", ran.status));
        harm(&self.keys(), &before, &ran.stdout)
    }

    /// Takes the directory away from a run at a random moment, and often the working directory, too.
    fn take_away(&mut self) -> Result<(), String> {
        let (asked, args) = self.request();
        let outer = self.outer.path();
        let [keys, away, work, home] = ["keys", "away", "work", "home"].map(|name| outer.join(name));
        for directory in [&work, &home] {
            fs::create_dir(directory).unwrap();
        }
        let before = snapshot(&keys);
        let args: Vec<String> = args
            .into_iter()
            .map(|arg| if ["keys", "secret"].contains(&&*arg) { format!("../{arg}") } else { arg })
            .collect();
        let mut child = start(self.command(&args).current_dir(&work).env("HOME", &home));
        let moment = LATEST_KILL.mul_f64(self.below(1000) as f64 / 1000.0);
        let without_work = self.once_in(2);
        std::thread::sleep(moment);
        fs::rename(&keys, &away).unwrap();
        if without_work {
            let _ = fs::remove_dir(&work);
        }
        wait_until("the run has ended", || child.try_wait().unwrap().is_some());
        let ran = child.end();
        self.note(format!("take away {args:?} after {moment:?}, {without_work}: {:?}", ran.status));
        let places = [&keys, &away, &work, &home];
        let pairs = places.into_iter().filter(|place| place.is_dir()).flat_map(|place| {
            names(place).into_iter().filter_map(|name| holdings::open_pair(&place.join(name)))
        });
        let lines: Vec<String> = pairs.map(|opened| opened.line).collect();
        let elsewhere = [&work, &home].into_iter().filter(|place| place.is_dir());
        let is_whole = |private: &PathBuf| {
            holdings::open_pair(private).is_some_and(|opened| opened.encrypted == asked.encrypted)
        };
        let broken = elsewhere
            .flat_map(|place| names(place).into_iter().map(|name| place.join(name)))
            .find(|file| file.extension().is_none_or(|end| end != "pub") && !is_whole(file));
        // A run that had not begun makes the directory anew.
        if keys.exists() {
            harm(&keys, &Snapshot::new(), "")?;
            fs::remove_dir_all(&keys).unwrap();
        }
        fs::rename(&away, &keys).unwrap();
        for directory in [&work, &home] {
            let _ = fs::remove_dir_all(directory);
        }
        harm(&keys, &before, "")?;
        misbehavior(&ran).map_err(|what| format!("{what}: {ran:?}"))?;
        if let Some(broken) = broken {
            return Err(format!("{broken:?} is not whole: {ran:?}"));
        }
        match ran.stdout.lines().find(|line| !lines.contains(&holdings::key_of(line))) {
            Some(lost) => Err(format!("{lost} was printed and is nowhere: {ran:?}")),
            None if ran.stderr.contains(" lost") => Err(format!("a key is lost: {ran:?}")),
            None => Ok(()),
        }
    }

    /// Returns a random file: one of the private files, or one of all.
    fn file(&mut self, private: bool) -> Option<PathBuf> {
        let keys = self.keys();
        let is_one = |name: &String| {
            let is_other = name == LEDGER || is_temporary(name) || private && name.ends_with(".pub");
            !is_other && keys.join(name).is_file()
        };
        let names: Vec<String> = names(&keys).into_iter().filter(is_one).collect();
        (!names.is_empty()).then(|| keys.join(&names[self.below(names.len())]))
    }

    /// Damages a random file, or changes its mode.
    fn harm_a_file(&mut self) {
        let private = self.once_in(2);
        let (Some(file), Some(other)) = (self.file(private), self.file(true)) else { return };
        let accidents = [
            "is empty",
            "is cut in half",
            "is gone",
            "is a directory",
            "is a dangling link",
            "is a link to another",
            "has the bytes of another",
            "is a stranger's",
            "changes places with another",
            "has mode 644",
            "has mode 400",
            "has mode 600",
        ];
        let accident = accidents[self.below(accidents.len())];
        self.note(format!("{file:?} {accident}: {other:?}"));
        let bytes = fs::read(&file).unwrap();
        let instead = |make: &dyn Fn()| {
            fs::remove_file(&file).unwrap();
            make();
        };
        match accident {
            "is empty" => fs::write(&file, "").unwrap(),
            "is cut in half" => fs::write(&file, &bytes[..bytes.len() / 2]).unwrap(),
            "is gone" => fs::remove_file(&file).unwrap(),
            "is a directory" => instead(&|| fs::create_dir(&file).unwrap()),
            "is a dangling link" => instead(&|| symlink("nowhere", &file).unwrap()),
            "is a link to another" => {
                if file != other {
                    instead(&|| symlink(&other, &file).unwrap());
                }
            }
            "has the bytes of another" => fs::write(&file, fs::read(&other).unwrap()).unwrap(),
            "is a stranger's" => fs::write(&file, stranger(1).1).unwrap(),
            "changes places with another" => {
                let others = fs::read(&other).unwrap();
                fs::write(&other, &bytes).unwrap();
                fs::write(&file, others).unwrap();
            }
            "has mode 644" => set_mode(&file, 0o644),
            "has mode 400" => set_mode(&file, 0o400),
            "has mode 600" => set_mode(&file, 0o600),
            other => unreachable!("{other}"),
        }
    }

    /// Adds a key of someone else, with the right digits or with wrong ones in its name.
    fn foreign_key(&mut self) {
        let (digits, text, line) = stranger(self.below(4) as u8);
        let digits = if self.once_in(2) { digits } else { "0123456789abcdef".into() };
        let label = ["backup", "notes-2024", "a", "ab"][self.below(4)];
        let file = self.keys().join(format!("{label}-{digits}"));
        if file.exists() || file.is_symlink() {
            return;
        }
        self.note(format!("a stranger's {file:?}"));
        fs::write(&file, text).unwrap();
        set_mode(&file, 0o600);
        if self.once_in(2) {
            fs::write(public_path(&file), line).unwrap();
        }
    }

    /// Damages the ledger, or adds a false line to it.
    fn harm_the_ledger(&mut self) {
        let ledger = self.keys().join(LEDGER);
        let accidents = [
            "is gone",
            "is cut off",
            "has a wrong bit",
            "has a line three times",
            "claims that a key shows more",
            "claims that a key shows something else",
            "names a file that is not there",
            "names a file by another path",
            "has a line that is too long",
            "ends in nonsense",
        ];
        let (accident, place) = (accidents[self.below(accidents.len())], self.below(1 << 20));
        self.note(format!("the ledger {accident}, at {place}"));
        let mut bytes = fs::read(&ledger).unwrap_or_default();
        let lines: Vec<String> = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
        let line = lines.get(place % lines.len().max(1)).cloned().unwrap_or_default();
        let append = |text: String| {
            let mut file = OpenOptions::new().append(true).create(true).open(&ledger).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let changed = |from: &str, to: &str| append(line.replace(from, to) + "\n");
        match accident {
            "is gone" => drop(fs::remove_file(&ledger)),
            "is cut off" => {
                bytes.truncate(bytes.len().saturating_sub(1 + place % 99));
                fs::write(&ledger, bytes).unwrap();
            }
            "has a wrong bit" => {
                let len = bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(place % len) {
                    *byte ^= 1 << (place % 7);
                }
                fs::write(&ledger, bytes).unwrap();
            }
            "has a line three times" => append(format!("{line}\n{line}\n")),
            "claims that a key shows more" => changed(r#""pattern":"a""#, r#""pattern":"ab""#),
            "claims that a key shows something else" => changed(r#""pattern":"b""#, r#""pattern":"a""#),
            "names a file that is not there" => changed(r#""file":""#, r#""file":"x"#),
            "names a file by another path" => changed(r#""file":""#, r#""file":"../keys/"#),
            "has a line that is too long" => {
                append(format!("{{\"pattern\":\"{}\"}}\n", "a".repeat(place + (1 << 19))));
            }
            "ends in nonsense" => append("nonsense\n{}\n\u{0}\u{1b}[31m".into()),
            other => unreachable!("{other}"),
        }
    }

    /// Adds a file that a killed process could have left.
    fn leftover(&mut self) {
        self.note("a file is left over");
        let name = format!(".vanity-ed25519-{:06x}.tmp", self.below(1 << 24));
        fs::write(self.keys().join(name), stranger(2).1).unwrap();
    }

    /// Makes a step of a random kind.
    fn step(&mut self) -> Result<(), String> {
        match self.below(17) {
            16 => return self.take_away(),
            0..5 => return self.run(),
            5 => return self.run_together(),
            6 | 7 => return self.kill(),
            8..12 => self.harm_a_file(),
            12 => self.foreign_key(),
            13 | 14 => self.harm_the_ledger(),
            _ => self.leftover(),
        }
        Ok(())
    }

    fn all(&mut self) -> Result<(), String> {
        self.run()?;
        for _ in 0..STEPS.0 + self.below(STEPS.1 - STEPS.0) {
            self.step()?;
        }
        self.run()
    }
}

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a stranger's key: the digits that its name would have, its private text and its public
/// line.
fn stranger(number: u8) -> (String, String, String) {
    let seed = Seed::new([number; 32]);
    let public = seed.public_key();
    let fingerprint = public.fingerprint();
    let hash = STANDARD_NO_PAD.decode(fingerprint.trim_start_matches("SHA256:")).unwrap();
    let digits = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let text = seed.private_text(Format::Openssh, "stranger", None).unwrap();
    (digits, text.to_string(), public.line("stranger") + "\n")
}

#[test]
fn after_status_0_every_key_exists_whatever_happened_before() {
    let (first, sequences) = (number("VANITY_SEED", 0), number("VANITY_SEQUENCES", SEQUENCES));
    let wrong: Vec<String> = (first..first + sequences)
        .into_par_iter()
        .filter_map(|number| {
            let mut sequence = Sequence::new(number);
            let wrong = sequence.all().err()?;
            Some(format!("VANITY_SEED={number}: {wrong}\n    {}", sequence.happened.join("\n    ")))
        })
        .collect();
    let first: Vec<&str> = wrong.iter().take(10).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {sequences} sequences:\n{}", wrong.len(), first.join("\n"));
}
