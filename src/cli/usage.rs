//! Diagnostics about the command line as clap reads it: about values, and about options that do not
//! exist or exclude each other.

use std::ffi::OsString;

use crate::escape::{escaped, shell_argument};
use crate::plan::Diagnostic;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args;
use super::values::{self, quoted, quoted_os};

/// Options that do not exist, and what to use in their place.
const OTHERS: [(&[&str], &str); 39] = [
    (
        &["--pattern", "--text", "--search", "--find", "--string", "--name"],
        "leave it out: a word without an option is a pattern",
    ),
    (&["--starts-with", "--start", "--begins-with"], "--prefix matches the text at the beginning"),
    (&["--ends-with", "--end"], "--suffix matches the text at the end"),
    (
        &["--contains", "--substring"],
        "leave it out: the text may be anywhere, unless --prefix or --suffix is given",
    ),
    (&["-w", "--whole-word", "--word-regexp"], "--word matches the text with + or / on both sides"),
    (&["-e", "-E", "-r", "--regexp"], "--regex matches PATTERN as a regular expression"),
    (
        &["--case-insensitive", "--insensitive", "--nocase", "-I"],
        "leave it out: case is ignored, unless -s is given",
    ),
    (&["--exact", "--case", "--sensitive"], "-s, or --case-sensitive, matches upper and lower case exactly"),
    (&["--position", "--where"], "--prefix, --suffix and --word say where the text must be"),
    (&["--fingerprint", "--hash", "--sha256"], "--in fingerprint searches the fingerprint"),
    (
        &["--list", "--wordlist", "--words", "--stdin"],
        "-f FILE, or --patterns FILE, reads one pattern per line (- is stdin)",
    ),
    (
        &["--number", "--num", "--amount", "--keys", "--max", "--limit"],
        "-n N, or --count N, sets the number of keys for each pattern",
    ),
    (
        &["-j", "--jobs", "--core", "--cores", "--cpu", "--cpus", "--workers"],
        "-t N, or --threads N, sets the number of worker threads",
    ),
    (
        &["--gpu", "--cuda", "--opencl", "--device", "--devices", "--list-devices"],
        "--engine gpu searches with graphics processors; --gpu-device list lists them",
    ),
    (
        &["-v", "--verbose", "--debug"],
        "leave it out: everything is printed, unless -q is given; -V prints the version",
    ),
    (&["--silent"], "-q, or --quiet, prints only errors to stderr"),
    (&["--no-progress"], "--progress off prints no progress; -q, or --quiet, prints only errors to stderr"),
    (&["--no-color", "--no-colors"], "--color never prints without colors"),
    (
        &["--dry-run", "--odds", "--probability", "--difficulty", "--time"],
        "--estimate prints the odds and the time of a search; --timeout ends one",
    ),
    (
        &["--output-file", "--outfile", "--out", "--file", "--filename", "--key", "--keyfile", "--save"],
        "-o PATH, or --output PATH, names the private file",
    ),
    (
        &["--dir", "--directory", "--folder", "--outdir", "--out-dir", "--output-directory", "--batch"],
        "-d DIR, or --output-dir DIR, writes a pair of files for each key",
    ),
    (&["--stdout", "--print"], "leave it out: the key goes to stdout, unless -o, -d or --agent is given"),
    (
        &["--force", "--overwrite", "-y", "--yes"],
        "keys are never overwritten: choose another name, or move the existing file away",
    ),
    (
        &["-m", "--pem", "--pkcs8", "--openssh", "--ppk", "--putty"],
        "--format pkcs8, openssh or ppk sets the format of the private key",
    ),
    (
        &["-p", "-P", "-N", "--password", "--pass", "--pw", "--encrypt"],
        "--passphrase asks for a passphrase on the terminal; --passphrase-file FILE reads the first line of FILE",
    ),
    (&["-a"], "--rounds N sets the rounds of bcrypt of an encrypted key"),
    (&["-Z"], "--cipher NAME sets the cipher of an encrypted key"),
    (
        &["-b", "--bits", "--type", "--algo", "--algorithm", "--ed25519", "--rsa"],
        "leave it out: all keys are Ed25519 keys",
    ),
    (&["--seed", "--random", "--entropy"], "leave it out: the operating system alone gives the randomness"),
    (
        &["--config", "--conf", "--configuration"],
        "there is no file of options: all of them are on the command line",
    ),
    (
        &["--duration", "--deadline", "--max-time", "--time-limit"],
        "--timeout DURATION ends the command after this time",
    ),
    (&["--memory", "--mem", "--ram"], "--table-memory SIZE limits the memory for a table"),
    (
        &["-c", "--label", "--email", "--mail", "--user"],
        "-C TEXT, or --comment TEXT, sets the comment of the key",
    ),
    (&["--add", "--ssh-agent"], "--agent adds the key to the running ssh-agent"),
    (
        &["--ttl", "--expire", "--expires", "--expiry"],
        "--lifetime DURATION, with --agent, drops the key after this time",
    ),
    (
        &["--command", "--cmd", "--run", "--hook", "--notify", "--on-found"],
        "--exec COMMAND runs a command after each key",
    ),
    (&["--speed", "--measure"], "--bench measures the engines"),
    (&["--l33t", "--1337"], "--leet lets a letter also match its look-alike digit"),
    (&["-?", "-H", "--h", "--?", "--usage"], "--help lists all options; -h prints a short list"),
];

/// Values that an option does not know, and what they mean.
const MEANT: [(&str, &[&str], &str); 19] = [
    (
        "--format",
        &["pem", "pkcs", "pkcs1", "pkcs12", "pk8", "p8", "openssl"],
        "pkcs8 is PEM as OpenSSL writes it, and openssh is PEM as ssh-keygen writes it",
    ),
    ("--format", &["ssh", "ssh2", "ssh-keygen", "rfc4716"], "openssh is the format of ssh-keygen"),
    ("--format", &["putty", "ppk2", "ppk3"], "ppk is PuTTY's format, version 3"),
    ("--format", &["rsa", "dsa", "ecdsa", "ed25519"], "leave it out: all keys are Ed25519 keys"),
    ("--format", &["der", "raw", "hex"], "openssl pkey -outform DER converts pkcs8"),
    ("--format", &["json"], "--json prints JSON"),
    ("--in", &["fp", "fpr", "finger", "hash", "sha256", "sha"], "the nearest is fingerprint"),
    ("--in", &["pub", "public", "pubkey", "public-key", "text", "body", "base64"], "the nearest is key"),
    ("--color", &["no", "off", "none", "false", "0"], "the nearest is never"),
    ("--color", &["yes", "on", "true", "1", "force"], "the nearest is always"),
    ("--format", &["pkcs#8", "pkcs_8", "pkcs-8"], "the nearest is pkcs8"),
    ("--progress", &["no", "none", "never", "false", "0", "quiet"], "the nearest is off"),
    ("--progress", &["yes", "on", "true", "1", "bar", "line", "text", "always"], "the nearest is auto"),
    ("--engine", &["avx512", "avx-512", "avx512bw"], "the nearest is avx512f"),
    ("--engine", &["cuda", "opencl", "nvidia", "gpus"], "the nearest is gpu"),
    ("--engine", &["cpu", "fast", "fastest", "best", "default", "all", "simd"], "the nearest is auto"),
    ("--engine", &["dalek", "ed25519-dalek", "curve25519-dalek", "slow"], "the nearest is reference"),
    ("--completions", &["pwsh"], "the nearest is powershell"),
    ("--completions", &["sh"], "the nearest is bash"),
];

/// The options that say what to look for, after which a pattern follows as a word of its own.
const ABOUT_PATTERNS: [&str; 11] = [
    "--anywhere",
    "--prefix",
    "--suffix",
    "--word",
    "--regex",
    "--ignore-case",
    "--case-sensitive",
    "--leet",
    "--estimate",
    "-i",
    "-s",
];

/// Options that exclude others, and what to do.
const EXCLUSIVE: [(&str, &str); 3] = [
    ("--bench", "--bench only measures engines: leave one of them out"),
    ("--leet", "write the digits into the expression, as in [a4]lice"),
    ("--output-dir", "--output names one file; --output-dir names the files itself"),
];

/// Returns the diagnostic about clap's `error`. clap does not escape what was typed, and its words
/// are not always right.
pub(super) fn diagnostic(error: &clap::Error, typed: &[OsString]) -> Diagnostic {
    known(error, typed).unwrap_or_else(|| {
        let said = error.render().to_string();
        let problem = said.lines().next().unwrap_or_default();
        Diagnostic::new(problem.trim_start_matches("error: ")).hint("--help lists all options")
    })
}

/// Refuses a long option with one hyphen, which clap would take for `-o ut`, and `=` as a word, which it would
/// take for the value.
pub(super) fn check_words(typed: &[OsString]) -> Result<(), Diagnostic> {
    let words = typed.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    for (before, word) in words.iter().zip(words.iter().skip(1)) {
        if word == "="
            && let Some(value) = value_of(before)
        {
            let problem = format!("there is a space between {before} and =");
            return Err(Diagnostic::new(problem).hint(format!("write {before} {value}")));
        }
        let name = word.split('=').next().unwrap_or_default();
        // The texts of these can begin with a hyphen.
        let is_text = ["-C", "--comment", "--exec"].contains(&&**before);
        // `-in 5` is `-i -n 5`, and `-help` is `-h`.
        let is_short = match name {
            "-in" => !words.contains(&"fingerprint".into()),
            "-help" => true,
            _ => name.len() < "-abc".len() || name.starts_with("--") || !name.starts_with('-'),
        };
        let hint = if is_text || is_short { None } else { two_hyphens(&format!("-{name}")) };
        if let Some(hint) = hint {
            return Err(Diagnostic::new(format!("there is no option {name}")).hint(hint));
        }
    }
    Ok(())
}

/// Returns the name of the value of an option, if it takes one.
fn value_of(option: &str) -> Option<String> {
    let command = args::command();
    let (long, short) = (option.strip_prefix("--"), option.strip_prefix('-'));
    let is_it = |option: &&clap::Arg| {
        long.is_some() && option.get_long() == long
            || short.is_some() && option.get_short().map(String::from).as_deref() == short
    };
    let option = command.get_opts().find(is_it).filter(|option| option.get_action().takes_values())?;
    option.get_value_names()?.first().map(ToString::to_string)
}

/// Returns a hint about an option that was typed with one hyphen, if it is one with two.
fn two_hyphens(long: &str) -> Option<String> {
    let is_ours = args::command().get_opts().any(|option| option.get_long() == long.strip_prefix("--"));
    if is_ours { Some(format!("write {long}")) } else { other(long).map(str::to_owned) }
}

/// Returns what to use in place of an option that does not exist.
fn other(name: &str) -> Option<&'static str> {
    OTHERS.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}

/// Returns the diagnostic about a value of an option that takes none.
fn no_value(option: &str, value: &str) -> Diagnostic {
    let hint = match value.to_ascii_lowercase().as_str() {
        "false" | "no" | "off" | "0" | "never" | "none" => "leave the option out".to_owned(),
        "" | "true" | "yes" | "on" | "1" | "always" => format!("write {option} alone"),
        _ if option == "--json" => "JSON goes to stdout: write --json > FILE".to_owned(),
        _ if option == "--estimate" && values::duration(option, value).is_ok() => {
            format!("write --estimate --within {value}")
        }
        _ if option == "--agent" => "the agent is the one that SSH_AUTH_SOCK names".to_owned(),
        _ if ABOUT_PATTERNS.contains(&option) => {
            format!("write {option} {}: the pattern is a word of its own", shell_argument(value))
        }
        _ => format!("write {option} alone"),
    };
    Diagnostic::new(format!("{option} takes no value")).hint(hint)
}

/// Returns the short option before a value that it does not take, as in `-s=abc`, and the value.
fn short_with_value(typed: &[OsString]) -> Option<(String, String)> {
    let words = typed.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    words.filter(|word| !word.starts_with("--")).find_map(|word| {
        let (options, value) = word.strip_prefix('-')?.split_once('=')?;
        Some((format!("-{}", options.chars().next_back()?), value.to_owned()))
    })
}

/// Returns the diagnostic about an error of a kind that this command line can cause.
fn known(error: &clap::Error, typed: &[OsString]) -> Option<Diagnostic> {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    };
    let text = |kind| texts(kind).first().map(String::as_str);
    match error.kind() {
        ErrorKind::ValueValidation => {
            use std::error::Error as _;
            error.source()?.downcast_ref::<Diagnostic>().cloned()
        }
        ErrorKind::InvalidValue => {
            let usage = text(ContextKind::InvalidArg)?;
            let (option, typed) = (name(usage), text(ContextKind::InvalidValue)?);
            let known = texts(ContextKind::ValidValue).split_last();
            let known = known.map(|(last, others)| format!("{} or {last}", others.join(", ")));
            if typed.is_empty() {
                let usage =
                    known.map_or_else(|| usage.replace(['<', '>'], ""), |known| format!("{option} {known}"));
                return Some(
                    Diagnostic::new(format!("the value of {option} is missing or empty"))
                        .hint(format!("write {usage}")),
                );
            }
            let is_same = |name: &&String| name.eq_ignore_ascii_case(typed);
            let nearest = texts(ContextKind::ValidValue).iter().find(is_same).map(String::as_str);
            let lower = typed.to_ascii_lowercase();
            let meant = MEANT.iter().find(|(of, values, _)| *of == option && values.contains(&&*lower));
            let meant = meant.map(|(.., hint)| (*hint).to_owned()).filter(|_| nearest.is_none());
            let nearest = nearest.or(text(ContextKind::SuggestedValue));
            let hint = match option {
                "--cipher" => Some("aes256-ctr, the default, is the one that most programs read".to_owned()),
                _ => meant.or_else(|| nearest.map(|near| format!("the nearest is {near}"))),
            };
            let problem = format!("{option} must be {}, not {}", known?, quoted(typed));
            Some(Diagnostic::new(problem).hints(hint))
        }
        ErrorKind::InvalidUtf8 => {
            let word = typed.iter().find(|word| word.to_str().is_none())?;
            Some(Diagnostic::new(format!("{} is not UTF-8 text", quoted_os(word))))
        }
        ErrorKind::TooManyValues => {
            Some(no_value(text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?))
        }
        ErrorKind::UnknownArgument => {
            let name = text(ContextKind::InvalidArg)?.split('=').next()?;
            if name == "-"
                && let Some((option, value)) = short_with_value(typed)
            {
                return Some(no_value(&option, &value));
            }
            let lower = name.to_ascii_lowercase();
            let near = || text(ContextKind::SuggestedArg).filter(|near| is_like(near, name));
            let hint = other(name).map(str::to_owned);
            let hint = hint.or_else(|| two_hyphens(&lower).filter(|_| name.starts_with("--")));
            let hint = hint.or_else(|| near().map(|near| format!("the nearest is {near}")));
            let hint = hint.unwrap_or_else(|| "--help lists all options".to_owned());
            Some(Diagnostic::new(format!("there is no option {}", escaped(name))).hint(hint))
        }
        ErrorKind::ArgumentConflict => {
            let option = name(text(ContextKind::InvalidArg)?);
            let Some(other) = text(ContextKind::PriorArg).map(name) else {
                return Some(
                    Diagnostic::new(format!("{option} cannot be used with other arguments"))
                        .hint("leave the others out"),
                );
            };
            if [option, other].iter().all(|option| ["--prefix", "--suffix"].contains(option)) {
                return Some(
                    Diagnostic::new(format!("{option} cannot be used with {other}"))
                        .hint("--regex '^abc.*xyz$' searches for both: abc at the beginning, xyz at the end"),
                );
            }
            let hint = EXCLUSIVE.iter().find(|(name, _)| [option, other].contains(name));
            let hint = hint.map_or("leave one of them out", |(_, hint)| hint);
            Some(Diagnostic::new(format!("{option} cannot be used with {other}")).hint(hint))
        }
        _ => None,
    }
}

/// Returns the name of an option that clap shows with its value, as in `--output <PATH>`.
fn name(usage: &str) -> &str {
    usage.split([' ', '[']).next().unwrap_or(usage)
}

/// Returns `true` if a long option looks like what was typed. What clap suggests is often only a guess
/// otherwise, as `--leet` for `--silent`.
fn is_like(option: &str, typed: &str) -> bool {
    let begin = |letters: usize| option.get(..2 + letters).is_some_and(|start| typed.starts_with(start));
    let ends = option.get(option.len() - 2..).is_some_and(|end| typed.ends_with(end));
    begin(3) || begin(1) && (ends || option.len().abs_diff(typed.len()) <= 1)
}
