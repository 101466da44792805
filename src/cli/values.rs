//! Reads the values of options: numbers, durations, names.

use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use crate::engine::{self, Devices};
use crate::escape::{escaped, escaped_os, is_active, quoted_start};
use crate::key::{BCRYPT_ROUNDS, Cipher, Format};
use crate::search::MAX_THREADS;
use crate::wire::Target;
use bytesize::ByteSize;

use crate::plan::{Diagnostic, ProgressForm};

/// The longest `--bench`, in seconds for each engine.
const LONGEST_BENCH: f64 = 3600.0;

/// The most rounds of bcrypt. They take minutes for each key, and again each time it is opened.
const MOST_ROUNDS: u32 = 10_000;

pub(super) fn count(typed: Option<&str>) -> Result<u64, Diagnostic> {
    let Some(typed) = typed else { return Ok(1) };
    typed.parse().ok().filter(|&count| count > 0).ok_or_else(|| {
        Diagnostic::new(format!(
            "--count must be a whole number from 1 to {}, not {}",
            u64::MAX,
            quoted(typed)
        ))
    })
}

pub(super) fn threads(typed: Option<&str>) -> Result<NonZeroUsize, Diagnostic> {
    let Some(typed) = typed else {
        let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        return Ok(available.min(NonZeroUsize::new(MAX_THREADS).unwrap_or(NonZeroUsize::MIN)));
    };
    typed.parse().ok().filter(|&threads: &NonZeroUsize| threads.get() <= MAX_THREADS).ok_or_else(|| {
        Diagnostic::new(format!(
            "--threads must be a whole number from 1 to {MAX_THREADS}, not {}",
            quoted(typed)
        ))
        .hint("without --threads, the program uses all available processors")
    })
}

/// Reads the duration of an option.
pub(super) fn duration(option: &str, typed: Option<&str>) -> Result<Option<Duration>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    parsed(typed).filter(|duration| !duration.is_zero()).map(Some).ok_or_else(|| {
        Diagnostic::new(format!("{option} must be a duration above 0, not {}", quoted(typed)))
            .hint("write a whole number and a unit, such as 90s, 15min, 2h or 1h30m")
    })
}

/// Reads how long the agent keeps a key.
pub(super) fn lifetime(typed: Option<&str>) -> Result<Option<NonZeroU32>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    let duration = parsed(typed).filter(|duration| duration.subsec_nanos() == 0);
    let seconds = duration.and_then(|duration| u32::try_from(duration.as_secs()).ok());
    seconds.and_then(NonZeroU32::new).map(Some).ok_or_else(|| {
        Diagnostic::new(format!(
            "--lifetime must be a duration of whole seconds above 0, not {}",
            quoted(typed)
        ))
        .hint("write a whole number and a unit, such as 8h, 30min or 1h30m; the most is 4294967295s")
    })
}

/// Reads the time that suggestions must fit into. They are part of an estimate.
pub(super) fn within(typed: Option<&str>, estimate: bool) -> Result<Option<Duration>, Diagnostic> {
    let within = duration("--within", typed)?;
    if within.is_some() && !estimate {
        return Err(Diagnostic::new("--within needs --estimate")
            .hint("--estimate --within prints what fits into that time; --timeout ends a search"));
    }
    Ok(within)
}

pub(super) fn table_memory(typed: Option<&str>) -> Result<Option<usize>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    let size = typed.parse::<ByteSize>().ok().and_then(|size| usize::try_from(size.as_u64()).ok());
    size.filter(|&bytes| bytes >= engine::LEAST_TABLE_MEMORY).map(Some).ok_or_else(|| {
        Diagnostic::new(format!("--table-memory must be a size of at least 16KiB, not {}", quoted(typed)))
            .hint("write a number and a unit, such as 64KiB or 30MiB")
    })
}

pub(super) fn devices(typed: Option<&str>) -> Result<Devices, Diagnostic> {
    let Some(typed) = typed else { return Ok(Devices::ALL) };
    let numbers: Option<Vec<usize>> = typed.split(',').map(|number| number.parse().ok()).collect();
    numbers.and_then(Devices::of).ok_or_else(|| {
        Diagnostic::new(format!(
            "--gpu-device must be a number from 0 to {}, or several separated by commas, not {}",
            Devices::END - 1,
            quoted(typed)
        ))
        .hint("without --gpu-device, all graphics processors are used; --gpu-device list prints them")
    })
}

pub(super) fn bench(typed: Option<&str>) -> Result<Option<Duration>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    let seconds = typed.parse().ok().filter(|seconds| (0.1..=LONGEST_BENCH).contains(seconds));
    seconds.map(|seconds| Some(Duration::from_secs_f64(seconds))).ok_or_else(|| {
        Diagnostic::new(format!(
            "--bench must be a number of seconds from 0.1 to {LONGEST_BENCH}, not {}",
            quoted(typed)
        ))
        .hint("write the pattern first: vanity-ed25519 PATTERN --bench")
    })
}

pub(super) fn progress(typed: Option<&str>) -> Result<ProgressForm, Diagnostic> {
    match typed {
        None | Some("auto") => Ok(ProgressForm::Auto),
        Some("json") => Ok(ProgressForm::Json),
        Some(other) => {
            Err(Diagnostic::new(format!("--progress must be auto or json, not {}", quoted(other)))
                .hint("auto shows a line on a terminal; json writes an object to stderr every second"))
        }
    }
}

pub(super) fn target(typed: Option<&str>) -> Result<Target, Diagnostic> {
    match typed {
        None | Some("key") => Ok(Target::Key),
        Some("fingerprint") => Ok(Target::Fingerprint),
        Some(other) => {
            Err(Diagnostic::new(format!("--in must be key or fingerprint, not {}", quoted(other))))
        }
    }
}

pub(super) fn format(typed: Option<&str>) -> Result<Option<Format>, Diagnostic> {
    match typed {
        None => Ok(None),
        Some("pkcs8") => Ok(Some(Format::Pkcs8)),
        Some("openssh") => Ok(Some(Format::Openssh)),
        Some("ppk") => Ok(Some(Format::Ppk)),
        Some(other) => {
            Err(Diagnostic::new(format!("--format must be pkcs8, openssh or ppk, not {}", quoted(other))))
        }
    }
}

pub(super) fn cipher(typed: Option<&str>) -> Result<Cipher, Diagnostic> {
    match typed {
        None => Ok(Cipher::default()),
        Some("aes256-ctr") => Ok(Cipher::Aes256Ctr),
        Some("aes256-gcm" | "aes256-gcm@openssh.com") => Ok(Cipher::Aes256Gcm),
        Some(other) => {
            Err(Diagnostic::new(format!("--cipher must be aes256-ctr or aes256-gcm, not {}", quoted(other))))
        }
    }
}

pub(super) fn rounds(typed: Option<&str>) -> Result<NonZeroU32, Diagnostic> {
    let Some(typed) = typed else { return Ok(BCRYPT_ROUNDS) };
    typed.parse().ok().filter(|&rounds: &NonZeroU32| rounds.get() <= MOST_ROUNDS).ok_or_else(|| {
        Diagnostic::new(format!(
            "--rounds must be a whole number from 1 to {MOST_ROUNDS}, not {}",
            quoted(typed)
        ))
        .hint(format!("without --rounds, {BCRYPT_ROUNDS} are used, as in ssh-keygen; each takes about 10 ms"))
    })
}

pub(super) fn comment(typed: Option<&OsStr>) -> Result<Option<String>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    let Some(text) = typed.to_str() else {
        return Err(Diagnostic::new(format!("--comment {} is not UTF-8 text", quoted_os(typed))));
    };
    match text.chars().position(is_active) {
        None => Ok(Some(text.to_owned())),
        Some(at) => Err(Diagnostic::new(format!(
            "--comment {} has a control or formatting character at position {}",
            quoted(text),
            at + 1
        ))
        .hint("leave it out: the comment is the end of a single line, and terminals show it")),
    }
}

/// Reads a duration, such as `1h30m`. A number without a unit is seconds.
fn parsed(typed: &str) -> Option<Duration> {
    let is_bare = typed.bytes().all(|byte| byte.is_ascii_digit());
    humantime::parse_duration(&if is_bare { format!("{typed}s") } else { typed.into() }).ok()
}

pub(super) fn exec(typed: Option<&OsStr>) -> Result<Option<OsString>, Diagnostic> {
    let Some(typed) = typed else { return Ok(None) };
    if typed.to_string_lossy().trim().is_empty() {
        return Err(Diagnostic::new("--exec must be a shell command, and this one is empty").hint(
            "for example --exec 'echo \"$VANITY_FINGERPRINT\" >> found'; without --exec no command runs",
        ));
    }
    Ok(Some(typed.to_owned()))
}

/// Returns text in quotes, escaped for a terminal.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", escaped(text))
}

/// Returns an argument in quotes, escaped for a terminal. It need not be text.
pub(super) fn quoted_os(text: &OsStr) -> String {
    format!("'{}'", escaped_os(text))
}

/// The most characters of a text that are shown.
const SHOWN: usize = 48;

/// Returns the first [`SHOWN`] characters of a text in quotes.
pub(super) fn shortened(text: &str) -> String {
    quoted_start(text, SHOWN)
}
