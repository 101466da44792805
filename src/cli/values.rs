//! Reads the values of options: numbers, durations, names.
//!
//! clap calls these parsers. An error is a [`Diagnostic`], which [`super::usage`] takes out of clap's
//! error again.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::{self, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::engine::{self, Devices};
use crate::escape::{escaped, escaped_os, is_active};
use crate::key::{BCRYPT_ROUNDS, Cipher, Format};
use crate::notice::{Notice, counted};
use crate::search::MAX_THREADS;
use crate::wire::Target;
use bytesize::ByteSize;
use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};

use crate::plan::{ColorChoice, Diagnostic, ProgressForm};

const DURATIONS: &str =
    "write a number and a unit, such as 90s, 1.5h or 1h30m, or 01:30:00; a number alone is seconds";

/// The times that `--bench` takes for each engine.
const BENCH_TIMES: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(60 * 60);

/// The most rounds of bcrypt. They take minutes for each key, and again each time it is opened.
const MOST_ROUNDS: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

const MOST_THREADS: NonZeroUsize = NonZeroUsize::new(MAX_THREADS).unwrap();

/// The values of an option, and their names.
pub(super) type Names<T> = &'static [(&'static str, T)];

pub(super) const TARGETS: Names<Target> = &[("key", Target::Key), ("fingerprint", Target::Fingerprint)];

pub(super) const FORMATS: Names<Format> =
    &[("pkcs8", Format::Pkcs8), ("openssh", Format::Openssh), ("ppk", Format::Ppk)];

pub(super) const CIPHERS: Names<Cipher> =
    &[("aes256-ctr", Cipher::Aes256Ctr), ("aes256-gcm", Cipher::Aes256Gcm), (GCM_IN_FULL, Cipher::Aes256Gcm)];

/// OpenSSH's name of aes256-gcm. It is accepted, but not offered.
const GCM_IN_FULL: &str = "aes256-gcm@openssh.com";

pub(super) const PROGRESS_FORMS: Names<ProgressForm> =
    &[("auto", ProgressForm::Auto), ("off", ProgressForm::Off), ("json", ProgressForm::Json)];

pub(super) const COLORS: Names<ColorChoice> =
    &[("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

/// Returns a parser of these names. Completions offer them.
pub(super) fn named<T: Copy + Send + Sync>(names: Names<T>) -> impl TypedValueParser<Value = T> {
    let value = |name: &'static str| PossibleValue::new(name).hide(name == GCM_IN_FULL);
    let known = PossibleValuesParser::new(names.iter().map(|(name, _)| value(name)));
    known.map(|typed| names.iter().find(|(name, _)| *name == typed).expect("clap knows these names alone").1)
}

pub(super) fn engines() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(std::iter::once(engine::AUTO).chain(engine::names()))
}

pub(super) fn count(typed: &str) -> Result<u64, Diagnostic> {
    whole("--count", typed, 1..=u64::MAX)
}

pub(super) fn threads(typed: &str) -> Result<NonZeroUsize, Diagnostic> {
    whole("--threads", typed, NonZeroUsize::MIN..=MOST_THREADS).map_err(|error| {
        let is_type = ["ed25519", "rsa", "ecdsa", "dsa"].contains(&typed);
        let error = if is_type { error.hint("leave it out: all keys are Ed25519 keys") } else { error };
        error.hint("-t, or --threads, sets the worker threads; without it, all available processors work")
    })
}

/// The variables in which schedulers tell a job the number of its processors, and the variable without
/// which that is no scheduler's.
const OF_SCHEDULERS: [(&str, Option<&str>); 6] = [
    ("SLURM_CPUS_PER_TASK", None),
    ("SLURM_CPUS_ON_NODE", None),
    ("PBS_NCPUS", None),
    ("NCPUS", Some("PBS_JOBID")),
    ("LSB_DJOB_NUMPROC", None),
    ("NSLOTS", None),
];

/// Returns the number of threads of a command line without `--threads`: that of all processors, or of
/// those that a scheduler has given, with a notice. A scheduler need not confine its jobs to them.
pub(super) fn default_threads() -> (NonZeroUsize, Option<Notice>) {
    let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN).min(MOST_THREADS);
    let given = OF_SCHEDULERS.iter().find_map(|(name, job)| {
        if job.is_some_and(|job| std::env::var_os(job).is_none()) {
            return None;
        }
        std::env::var(name).ok()?.parse::<NonZeroUsize>().ok().map(|number| (name, number))
    });
    match given {
        Some((name, number)) if number < available => {
            let threads = counted(number.get() as u64, "thread");
            (number, Some(Notice::note(format!("using {threads}, as {name} says; -t N changes it"))))
        }
        _ => (available, None),
    }
}

pub(super) fn duration(option: &str, typed: &str) -> Result<Duration, Diagnostic> {
    parsed(typed).filter(|duration| !duration.is_zero()).ok_or_else(|| {
        Diagnostic::new(format!("{option} must be a duration above 0, not {}", quoted(typed))).hint(DURATIONS)
    })
}

/// Reads how long the agent keeps a key.
pub(super) fn lifetime(typed: &str) -> Result<NonZeroU32, Diagnostic> {
    let duration = parsed(typed).filter(|duration| duration.subsec_nanos() == 0);
    let seconds = duration.and_then(|duration| u32::try_from(duration.as_secs()).ok());
    seconds.and_then(NonZeroU32::new).ok_or_else(|| {
        let (least, most) = (NonZeroU32::MIN, NonZeroU32::MAX);
        Diagnostic::new(format!(
            "--lifetime must be a duration of whole seconds from {least}s to {most}s, not {}",
            quoted(typed)
        ))
        .hint(DURATIONS)
    })
}

pub(super) fn table_memory(typed: &str) -> Result<usize, Diagnostic> {
    let size = typed.parse::<ByteSize>().ok().and_then(|size| usize::try_from(size.as_u64()).ok());
    size.filter(|&bytes| bytes >= engine::LEAST_TABLE_MEMORY).ok_or_else(|| {
        Diagnostic::new(format!("--table-memory must be a size of at least 16KiB, not {}", quoted(typed)))
            .hint("write a number and a unit, such as 64KiB or 30MiB")
    })
}

/// What `--gpu-device` asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GpuDevices {
    List,
    Use(Devices),
}

pub(super) fn gpu_devices(typed: &str) -> Result<GpuDevices, Diagnostic> {
    if typed == "list" {
        return Ok(GpuDevices::List);
    }
    let numbers: Option<Vec<usize>> = typed.split(',').map(|number| number.parse().ok()).collect();
    numbers.and_then(Devices::of).map(GpuDevices::Use).ok_or_else(|| {
        Diagnostic::new(format!(
            "--gpu-device must be a number from 0 to {}, or several separated by commas, not {}",
            Devices::END - 1,
            quoted(typed)
        ))
        .hint("without --gpu-device, all graphics processors are used; --gpu-device list prints them")
    })
}

pub(super) fn bench(typed: &str) -> Result<Duration, Diagnostic> {
    parsed(typed).filter(|time| BENCH_TIMES.contains(time)).ok_or_else(|| {
        let [least, most] =
            [BENCH_TIMES.start(), BENCH_TIMES.end()].map(|time| humantime::format_duration(*time));
        Diagnostic::new(format!("--bench must be a duration from {least} to {most}, not {}", quoted(typed)))
            .hint("write a number and a unit, such as 5s or 500ms; a pattern goes before --bench")
    })
}

pub(super) fn rounds(typed: &str) -> Result<NonZeroU32, Diagnostic> {
    whole("--rounds", typed, NonZeroU32::MIN..=MOST_ROUNDS).map_err(|error| {
        error.hint(format!(
            "without --rounds, {BCRYPT_ROUNDS} are used, as in ssh-keygen; each takes about 10 ms"
        ))
    })
}

fn whole<T: FromStr + PartialOrd + Display>(
    option: &str,
    typed: &str,
    range: RangeInclusive<T>,
) -> Result<T, Diagnostic> {
    typed.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        Diagnostic::new(format!(
            "{option} must be a whole number from {least} to {most}, not {}",
            quoted(typed)
        ))
    })
}

/// Reads the path of a file or a directory. Refuses one that begins with what the shell should have
/// replaced, as in `~/keys`: the program would make a directory of that name, and `rm -r ~` removes
/// another one.
pub(super) fn paths() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|typed: PathBuf| {
        let text = typed.to_string_lossy();
        let first = text.split(path::is_separator).next().unwrap_or_default();
        let hint = if first == "~" || first.starts_with('~') && first.len() < text.len() {
            "the shell expands ~ only at the beginning of a word, without quotes: \
            write a space in place of =, or $HOME in place of ~"
        } else if is_variable(first) {
            "the shell expands variables without quotes, and in double quotes"
        } else {
            return Ok(typed);
        };
        let first = if first.starts_with('~') { "~" } else { first };
        Err(Diagnostic::new(format!("the shell has not expanded {first} in {}", quoted(&text))).hint(hint))
    })
}

/// Returns `true` for `$HOME`, `${HOME}` and `%HOME%`.
fn is_variable(text: &str) -> bool {
    let inner = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let name = inner("${", "}").or_else(|| inner("%", "%")).or_else(|| text.strip_prefix('$'));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

pub(super) fn comments() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|typed: OsString| {
        let Some(text) = typed.to_str() else {
            return Err(Diagnostic::new(format!("--comment {} is not UTF-8 text", quoted_os(&typed))));
        };
        match text.chars().position(is_active) {
            None => Ok(text.to_owned()),
            Some(at) => Err(Diagnostic::new(format!(
                "--comment {} has a control or formatting character at position {}",
                quoted(text),
                at + 1
            ))
            .hint("leave the character out: a comment is the end of a line, which terminals show")),
        }
    })
}

pub(super) fn commands() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|typed: OsString| {
        if !typed.to_string_lossy().trim().is_empty() {
            return Ok(typed);
        }
        Err(Diagnostic::new("--exec must be a shell command, and this one is empty").hint(
            "for example --exec 'echo \"$VANITY_FINGERPRINT\" >> found'; without --exec no command runs",
        ))
    })
}

/// Reads a duration, such as `1h30m` or `1:30:00`. A number without a unit is seconds.
fn parsed(typed: &str) -> Option<Duration> {
    if typed.contains([':', '-']) {
        return of_fields(typed);
    }
    let is_bare = typed.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    humantime::parse_duration(&if is_bare { format!("{typed}s") } else { typed.into() }).ok()
}

/// Reads a duration as Slurm takes it: `HH:MM:SS` and `MM:SS`, or `D-HH:MM:SS`, `D-HH:MM` and `D-HH`.
fn of_fields(typed: &str) -> Option<Duration> {
    let number = |field: &str| {
        let is_number = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        field.parse::<u64>().ok().filter(|_| is_number)
    };
    let (days, time) = typed.split_once('-').map_or((None, typed), |(days, time)| (Some(days), time));
    let fields: Vec<u64> = time.split(':').map(number).collect::<Option<_>>()?;
    let (days, hours, minutes, seconds) = match (days, &fields[..]) {
        (Some(days), &[hours @ 0..24, ref rest @ ..]) if rest.len() <= 2 => {
            (number(days)?, hours, *rest.first().unwrap_or(&0), *rest.get(1).unwrap_or(&0))
        }
        (None, &[hours, minutes, seconds]) => (0, hours, minutes, seconds),
        (None, &[minutes, seconds]) => (0, minutes / 60, minutes % 60, seconds),
        _ => return None,
    };
    if minutes >= 60 || seconds >= 60 {
        return None;
    }
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(60 * 60)?.checked_add(60 * minutes + seconds).map(Duration::from_secs)
}

/// Returns text in quotes, escaped for a terminal.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", escaped(text))
}

/// Returns an argument in quotes, escaped for a terminal. It need not be text.
pub(super) fn quoted_os(text: &OsStr) -> String {
    format!("'{}'", escaped_os(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_or_fields() {
        let seconds = |typed| parsed(typed).map(|time| time.as_secs());
        for (typed, expected) in [
            ("90", 90),
            ("1h30m", 5400),
            ("01:30:00", 5400),
            ("1:30:00", 5400),
            ("100:00:01", 360_001),
            ("30:00", 1800),
            ("90:05", 5405),
            ("1-00", 86_400),
            ("1-12:30", 131_400),
            ("2-01:02:03", 176_523),
        ] {
            assert_eq!(seconds(typed), Some(expected), "{typed}");
        }
        let wrong = [
            ":",
            "1:",
            ":30",
            "1:60",
            "1:60:00",
            "1:00:60",
            "1:2:3:4",
            "-5s",
            "-1:00",
            "1-",
            "1-24:00",
            "1-1:2:3:4",
            "+1:00",
            "1:+1",
            "1.5:00",
            "1:30h",
            "1 :00",
            "99999999999999999999:00:00",
            "999999999999999999-00",
        ];
        for typed in wrong {
            assert_eq!(seconds(typed), None, "{typed}");
        }
    }
}
