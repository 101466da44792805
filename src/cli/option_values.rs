//! Reads the values of options: numbers, durations, names.
//!
//! clap calls these parsers. An error is a [`Diagnostic`], or what the value must be, in words;
//! [`super::usage`] takes it out of clap's error again.

use std::ffi::OsString;
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::{self, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::engine::{self, Devices};
use crate::escape::quoted_start;
use crate::key::{Cipher, Format, HostName};
use crate::key::{has_active, is_active};
use crate::notice::Notice;
use crate::search::MAX_THREADS;
use crate::wire::Target;
use crate::words::counted;
use bytesize::ByteSize;
use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};

use crate::plan::{ColorChoice, Diagnostic, ProgressForm};

/// The times that `--bench` takes for each engine.
const BENCH_TIMES: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(60 * 60);

/// The percentages of the time that a GPU can work. With less, a pause would delay the end of a search.
const GPU_LOADS: RangeInclusive<u8> = 10..=100;

/// The most rounds of bcrypt. They take minutes for each key, and again each time it is opened.
pub(super) const MOST_ROUNDS: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

pub(super) const MOST_THREADS: NonZeroUsize = NonZeroUsize::new(MAX_THREADS).unwrap();

/// The names of values, of which the types know none.
pub(super) type Names<T> = &'static [(&'static str, T)];

pub(super) const TARGETS: Names<Target> = &[("key", Target::Key), ("fingerprint", Target::Fingerprint)];

pub(super) const FORMATS: Names<Format> =
    &[("pkcs8", Format::Pkcs8), ("openssh", Format::Openssh), ("ppk", Format::Ppk)];

/// OpenSSH's long name is accepted, but not offered.
pub(super) const CIPHERS: Names<Cipher> = &[
    ("aes256-ctr", Cipher::Aes256Ctr),
    ("aes256-gcm", Cipher::Aes256Gcm),
    ("aes256-gcm@openssh.com", Cipher::Aes256Gcm),
];

pub(super) const PROGRESS_FORMS: Names<ProgressForm> =
    &[("auto", ProgressForm::Auto), ("off", ProgressForm::Off), ("json", ProgressForm::Json)];

pub(super) const COLORS: Names<ColorChoice> =
    &[("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

/// Returns the value of this name.
pub(super) fn by_name<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Returns the first name of a value.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// Returns a parser of these names.
pub(super) fn named<T: Copy + Send + Sync>(names: Names<T>) -> impl TypedValueParser<Value = T> {
    let values = names.iter().map(|(name, _)| PossibleValue::new(*name).hide(name.contains('@')));
    PossibleValuesParser::new(values)
        .map(|name| by_name(names, &name).expect("clap accepts these names alone"))
}

pub(super) fn engines() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(std::iter::once(engine::AUTO).chain(engine::list().map(engine::Listed::name)))
}

/// The variables in which schedulers tell a job the number of its processors.
const OF_SCHEDULERS: [&str; 6] =
    ["SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "PBS_NCPUS", "NCPUS", "LSB_DJOB_NUMPROC", "NSLOTS"];

/// Returns the number of threads of a command line without `--threads`: that of all processors, or of
/// those that a scheduler has given, with a notice. A scheduler need not confine its jobs to them.
pub(super) fn default_threads() -> (NonZeroUsize, Option<Notice>) {
    let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN).min(MOST_THREADS);
    // Without the other variable, this one is not PBS's.
    let names =
        OF_SCHEDULERS.iter().filter(|name| **name != "NCPUS" || std::env::var_os("PBS_JOBID").is_some());
    let number = |name| std::env::var(name).ok()?.parse::<NonZeroUsize>().ok();
    let given = names.filter_map(|name| Some((name, number(name)?))).next();
    match given {
        Some((name, number)) if number < available => {
            let threads = counted(number.get() as u64, "thread");
            (number, Some(Notice::note(format!("using {threads}, as {name} says; -t N changes it"))))
        }
        _ => (available, None),
    }
}

pub(super) fn duration(typed: &str) -> Result<Duration, String> {
    parsed(typed).filter(|duration| !duration.is_zero()).ok_or_else(|| "a duration above 0".to_owned())
}

/// Reads how long the agent keeps a key.
pub(super) fn lifetime(typed: &str) -> Result<NonZeroU32, String> {
    let duration = parsed(typed).filter(|duration| duration.subsec_nanos() == 0);
    let seconds = duration.and_then(|duration| u32::try_from(duration.as_secs()).ok());
    let must = || format!("a duration of whole seconds from 1s to {}s", u32::MAX);
    seconds.and_then(NonZeroU32::new).ok_or_else(must)
}

pub(super) fn bench(typed: &str) -> Result<Duration, String> {
    let [least, most] =
        [BENCH_TIMES.start(), BENCH_TIMES.end()].map(|time| humantime::format_duration(*time));
    let must = || format!("a duration from {least} to {most}");
    parsed(typed).filter(|time| BENCH_TIMES.contains(time)).ok_or_else(must)
}

pub(super) fn table_memory(typed: &str) -> Result<usize, String> {
    let size = typed.parse::<ByteSize>().ok().and_then(|size| usize::try_from(size.as_u64()).ok());
    let size = size.filter(|&bytes| bytes >= engine::LEAST_TABLE_MEMORY);
    size.ok_or_else(|| "a size of at least 16KiB".to_owned())
}

/// What `--gpu-device` asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GpuDevices {
    List,
    Use(Devices),
}

pub(super) fn gpu_devices(typed: &str) -> Result<GpuDevices, String> {
    if typed == "list" {
        return Ok(GpuDevices::List);
    }
    let numbers: Option<Vec<usize>> = typed.split(',').map(|number| number.parse().ok()).collect();
    numbers
        .and_then(Devices::of)
        .map(GpuDevices::Use)
        .ok_or_else(|| format!("a number from 0 to {}, or several separated by commas", Devices::END - 1))
}

pub(super) fn gpu_load(typed: &str) -> Result<u8, String> {
    let must = || format!("a percentage from {}% to {}%", GPU_LOADS.start(), GPU_LOADS.end());
    let number = typed.strip_suffix('%').unwrap_or(typed).parse().ok();
    number.filter(|load| GPU_LOADS.contains(load)).ok_or_else(must)
}

/// Returns a parser of whole numbers in a range.
pub(super) fn whole<T: FromStr + PartialOrd + Display + Clone>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |typed| {
        let must = || format!("a whole number from {} to {}", range.start(), range.end());
        typed.parse().ok().filter(|number| range.contains(number)).ok_or_else(must)
    }
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
        Err(Diagnostic::new(format!("the shell has not expanded {first} in '{text}'")).hint(hint))
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

pub(super) fn comment(typed: &str) -> Result<String, Diagnostic> {
    let Some(at) = typed.chars().position(is_active) else { return Ok(typed.to_owned()) };
    let at = at + 1;
    let problem = format!("--comment '{typed}' has a control or formatting character at position {at}");
    Err(Diagnostic::new(problem)
        .hint("leave the character out: a comment is the end of a line, which terminals show"))
}

pub(super) fn commands() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|typed: OsString| match typed.to_string_lossy().trim() {
        "" => Err("a shell command"),
        _ => Ok(typed),
    })
}

pub(super) fn host_name(typed: &str) -> Result<HostName, Diagnostic> {
    let wrong = || Diagnostic::new(format!("--host-key={} is not a host name", quoted_start(typed)));
    HostName::parse(typed).ok_or_else(|| wrong().hint(instead_of(typed)))
}

/// Returns what to write instead of a name that is not usable.
pub(super) fn instead_of(typed: &str) -> String {
    let with_port = typed.rsplit_once(':').map(|(name, port)| format!("[{name}]:{port}"));
    if let Some(with_port) = with_port.filter(|with_port| HostName::parse(with_port).is_some()) {
        return format!("a name with a port has brackets: --host-key='{with_port}'");
    }
    if !typed.is_ascii() && !has_active(typed) {
        return "write the name in ASCII, as the DNS has it, such as xn--bcher-kva.example".to_owned();
    }
    "write the name or the address by which clients connect, such as --host-key=bob.example.org, or with a port \
     that is not 22, --host-key='[bob.example.org]:2222'"
        .to_owned()
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
    let (days, time) = typed.split_once('-').map_or((None, typed), |(days, time)| (Some(days), time));
    let fields: Vec<&str> = days.into_iter().chain(time.split(':')).collect();
    let units: &[_] = match (days, fields.len()) {
        (Some(_), 2..=4) => &["d", "h", "m", "s"],
        (None, 3) => &["h", "m", "s"],
        (None, 2) => &["m", "s"],
        _ => return None,
    };
    let parts = fields.into_iter().zip(units).enumerate().map(|(place, (field, unit))| {
        let number: u64 = field.parse().ok().filter(|_| !field.starts_with('+'))?;
        let most = if *unit == "h" { 23 } else { 59 };
        (place == 0 || number <= most).then(|| format!("{number}{unit}"))
    });
    humantime::parse_duration(&parts.collect::<Option<String>>()?).ok()
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
