//! The command line: every option once, with its help, its values, and what it needs or excludes.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueHint};
use clap_complete::Shell;

use super::option_values::{
    self as values, CIPHERS, COLORS, FORMATS, GpuDevices, MOST_ROUNDS, MOST_THREADS, PROGRESS_FORMS, TARGETS,
    duration, named, paths, whole,
};
use crate::engine;
use crate::key::{Cipher, Format, HostName};
use crate::plan::{ColorChoice, ProgressForm};
use crate::wire::Target;

pub(super) const NAME: &str = "vanity-ed25519";

/// Command lines, and what they do.
pub(super) const EXAMPLES: &str = "
  vanity-ed25519 -o ~/.ssh/id_alice alice     A key, and id_alice.pub beside it
  vanity-ed25519 --prefix -s ABC -o id_abc    Begins with ABC, in exact case
  vanity-ed25519 --suffix xyz -o id_xyz       Ends with xyz
  vanity-ed25519 --in fingerprint -o id eve   In the fingerprint
  vanity-ed25519 --word bob --estimate        The odds, without a search
  vanity-ed25519 -d keys -n 5 ann bob         Five keys for each name
  vanity-ed25519 --regex '^A.*99$' --json     One JSON object per line
  vanity-ed25519 abc > key.pem                PKCS#8 PEM on stdout, for OpenSSL";

const EXIT_STATUS: &str = "\
Exit status:
  0 all found, 1 a failure, 2 refused before the search, 3 ended by --timeout,
  128 + n ended by signal n, within a second";

const KEPT: &str = "\
Keys that were found before that are kept. A key that cannot be encrypted within this second is given up \
and reported.";

/// The heading of the options before whose patterns people write `=`.
pub(super) const ABOUT_PATTERNS: &str = "What to look for";

/// The heading of the options that `--bench` excludes, because it makes no keys.
const ABOUT_KEYS: &str = "Where the key goes";

/// Finds Ed25519 SSH keys whose public key text contains a word you choose.
///
/// The public key text is the base64 in `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI...`. Its first 25 characters
/// never change. The program searches the other 43, which are the body. It verifies every key twice: before it
/// prints or writes a key, ed25519-dalek derives the key again, and the pattern is compared again.
// Without `bin_name`, clap shows the name by which the program was called.
#[derive(Parser)]
#[command(name = NAME, bin_name = NAME, version, long_version = long_version())]
#[command(after_help = format!("Examples:{EXAMPLES}\n\n{EXIT_STATUS}"))]
#[command(after_long_help = format!("Examples:{EXAMPLES}\n\n{EXIT_STATUS}\n\n{KEPT}"))]
#[command(args_override_self = true, max_term_width = 100)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(super) struct Args {
    #[command(flatten)]
    pub look: Look,
    #[command(flatten)]
    pub search: SearchOptions,
    #[command(flatten)]
    pub keys: Keys,
    #[command(flatten)]
    pub shown: Shown,
    #[command(flatten)]
    pub about: About,
}

// The patterns come first.
#[derive(clap::Args)]
#[command(next_display_order = 1, next_help_heading = ABOUT_PATTERNS)]
pub(super) struct Look {
    /// Text to find in the body: a key's last 43 characters
    ///
    /// The body is made of A-Z, a-z, 0-9, + and /. With --in fingerprint, the program searches the fingerprint
    /// instead. It searches for several patterns at the same time, until each has its keys.
    #[arg(value_name = "PATTERN", display_order = 0)]
    pub patterns: Vec<OsString>,

    /// Read patterns from FILE, one per line (- is stdin)
    ///
    /// Blank lines and lines that begin with # are ignored. A line can begin with the kind of its pattern and a
    /// colon: anywhere:, prefix:, suffix:, word: or regex:, as in prefix:abc. The options set the kind for all
    /// other lines. A pattern that occurs more than once is searched for once.
    #[arg(short, long = "patterns", value_name = "FILE", value_parser = paths())]
    pub files: Vec<PathBuf>,

    /// Where to search: key (default) or fingerprint
    ///
    /// key is the body of the public key's text. fingerprint is the 43 characters after SHA256: that ssh-keygen
    /// -l and ssh show. All options below apply to both.
    #[arg(long, value_name = "WHERE", value_parser = named(TARGETS))]
    pub r#in: Option<Target>,

    /// Match the text anywhere in the body (default)
    #[arg(long, group = "kind")]
    pub anywhere: bool,

    /// Match the text at the beginning of the body
    #[arg(long, group = "kind")]
    pub prefix: bool,

    /// Match the text at the end of the body
    #[arg(long, group = "kind")]
    pub suffix: bool,

    /// Match the text with + or / on both sides
    #[arg(long, group = "kind")]
    pub word: bool,

    /// Match PATTERN as a regular expression
    ///
    /// The syntax is that of the Rust regex crate. ^ and $ are the two ends of the body.
    #[arg(long, group = "kind", conflicts_with = "leet")]
    pub regex: bool,

    /// Ignore case (default)
    ///
    /// The last of -i and -s counts.
    #[arg(short, long, overrides_with = "case_sensitive")]
    pub ignore_case: bool,

    /// Match upper and lower case exactly
    #[arg(short = 's', long, overrides_with = "ignore_case")]
    pub case_sensitive: bool,

    /// Let a letter also match its look-alike digit
    ///
    /// The pairs are a4 b8 e3 g9 i1 l1 o0 s5 t7 z2. An expression for --regex has its own way: [a4]lice.
    #[allow(rustdoc::broken_intra_doc_links, reason = "text of the help")]
    #[arg(long)]
    pub leet: bool,
}

#[derive(clap::Args)]
#[command(next_help_heading = "How to search")]
pub(super) struct SearchOptions {
    /// Keys for each pattern [default: 1]
    #[arg(short = 'n', long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = whole(1..=u64::MAX), conflicts_with = "bench")]
    pub count: Option<u64>,

    /// Stop after --count keys in total
    ///
    /// Each of them can match any of the patterns.
    #[arg(long, conflicts_with = "bench")]
    pub any: bool,

    /// End after this time: 90s, 2h, 01:30:00
    ///
    /// DURATION is a number and a unit, such as 90s, 15min, 2h or 1h30m, or it is written as for Slurm: 01:30:00,
    /// 2-12:00:00. A number alone is seconds. The loading of patterns counts.
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    #[arg(conflicts_with = "bench")]
    pub timeout: Option<Duration>,

    /// Search even if it takes more than ten years
    ///
    /// Without this option and --timeout, a pattern is refused if its chance reaches 50% only after more than ten
    /// years on this machine: it will not be found.
    #[arg(long, conflicts_with = "bench")]
    pub however_long: bool,

    /// Worker threads [default: all available]
    ///
    /// N is at most 1024, and at most 32 threads for each CPU are used. In a job of Slurm, PBS, LSF or Grid
    /// Engine, the default is the number of processors that the scheduler gives (SLURM_CPUS_PER_TASK and the
    /// like).
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = whole(NonZeroUsize::MIN..=MOST_THREADS))]
    pub threads: Option<NonZeroUsize>,

    /// Engine to search with [default: auto]
    ///
    /// auto is the fastest engine that works on this machine. gpu uses all GPUs, if the program
    /// was built with support for them. avx512ifma, avx512f, avxifma, avx2, neon and portable derive keys in
    /// batches with these instructions, in variable time. reference is curve25519-dalek, one key at a time, in
    /// constant time.
    #[arg(long, value_name = "NAME", value_parser = values::engines())]
    pub engine: Option<String>,

    /// GPUs to use: 0, or 0,2, or list [default: all]
    ///
    /// list prints all of them with their numbers and exits. Only a program that was built with support for GPUs
    /// uses them.
    #[arg(long, value_name = "NUMBERS", value_parser = values::gpu_devices, allow_hyphen_values = true)]
    pub gpu_device: Option<GpuDevices>,

    /// Time that a GPU works [default: 100%]
    ///
    /// PERCENT is at least 10%. With 50%, a GPU pauses after each batch for as long as it worked, so that other
    /// programs can use it.
    #[arg(long, value_name = "PERCENT", value_parser = values::gpu_load, allow_hyphen_values = true)]
    pub gpu_load: Option<u8>,

    /// Maximum memory for a table [default: 128MiB]
    ///
    /// SIZE is a number and a unit, such as 64KiB or 30MiB. The engines that work in batches have a table, which
    /// all threads share. A search starts with a small table. It tries larger ones up to this size, and keeps
    /// the fastest. Limits of the memory of this process can make the default smaller.
    #[arg(long, value_name = "SIZE", value_parser = values::table_memory, allow_hyphen_values = true)]
    pub table_memory: Option<usize>,
}

#[derive(clap::Args)]
#[command(next_help_heading = ABOUT_KEYS)]
pub(super) struct Keys {
    /// Write the key to PATH and PATH.pub (- is stdout)
    ///
    /// PATH has the private key, and PATH.pub the public line. Without this option and --output-dir, the private
    /// key goes to stdout, which must be open and not the null device. An existing file is never overwritten.
    #[arg(short, long, value_name = "PATH", value_parser = paths())]
    pub output: Option<PathBuf>,

    /// Write a pair of files for each key into DIR
    ///
    /// The files are named after the pattern and the key. DIR is created if it does not exist. A ledger in DIR,
    /// vanity-ed25519.jsonl, lists the keys and their patterns. So the same command, run again, makes only the
    /// keys that are missing.
    #[arg(short = 'd', long, value_name = "DIR", value_parser = paths(), value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with = "output")]
    pub output_dir: Option<PathBuf>,

    /// Keep keys even where others can read them
    ///
    /// File systems without permissions, such as FAT, give all files the same mode. Without this option they are
    /// refused, because ssh rejects such a key, too.
    #[arg(long)]
    pub allow_exposed: bool,

    /// Add the key to the running ssh-agent
    ///
    /// Without --output and --output-dir, no private key is written to disk, and stdout has the public line. With
    /// one of them, the file is written first. The agent is the one that SSH_AUTH_SOCK names; on Windows it is
    /// the agent of OpenSSH. If the agent rejects the key in the end, the key is written to a new file.
    #[arg(long)]
    pub agent: bool,

    /// With --agent: for how long, as in 8h or 30min
    ///
    /// After this time the agent drops the key. Without this option it keeps the key until it ends.
    #[arg(long, value_name = "DURATION", value_parser = values::lifetime, allow_hyphen_values = true)]
    #[arg(requires = "agent")]
    pub lifetime: Option<NonZeroU32>,

    /// With --agent: ask you before each use
    #[arg(long, requires = "agent")]
    pub confirm: bool,

    /// Make ssh_host_ed25519_key for an SSH server
    ///
    /// The two files have the names, the modes and the comment that sshd and ssh-keygen -A give them. They go to
    /// the working directory or to --output-dir. The lines for known_hosts and the SSHFP records are printed, for
    /// the host NAME, or else for this machine. With a port that is not 22, NAME is `[HOST]:PORT`.
    #[arg(long, value_name = "NAME", value_parser = values::host_name, require_equals = true)]
    // clap does not ask for what is excluded, so what needs it is excluded, too.
    #[arg(conflicts_with_all = ["agent", "lifetime", "confirm", "passphrase", "passphrase_file"])]
    pub host_key: Option<Option<HostName>>,

    /// Format of the private key: pkcs8, openssh or ppk
    ///
    /// Without this option, the name of the file decides: PKCS#8 PEM for *.pem, PuTTY's format for *.ppk, and the
    /// OpenSSH format for all others. On stdout it is PKCS#8 PEM, and on a terminal the OpenSSH format. OpenSSH
    /// reads PKCS#8 since version 9.8. PuTTY reads ppk, version 3, since 0.75.
    #[arg(long, value_name = "FORM", value_parser = named(FORMATS))]
    pub format: Option<Format>,

    /// Encrypt the private key: ask for a passphrase
    ///
    /// The program asks twice on the terminal, before the search. All keys get the same passphrase.
    #[arg(long, group = "secret")]
    pub passphrase: bool,

    /// Encrypt with the first line of FILE (- is stdin)
    ///
    /// FILE can be a pipe, as in --passphrase-file <(pass show ssh), or /dev/fd/3.
    #[arg(long, value_name = "FILE", value_parser = paths(), group = "secret")]
    pub passphrase_file: Option<PathBuf>,

    /// With a passphrase: aes256-ctr or aes256-gcm
    ///
    /// This is the cipher of an encrypted key in the OpenSSH format, which calls the second one
    /// aes256-gcm@openssh.com. The first one is the default. The other formats always use AES-256-CBC.
    #[arg(long, value_name = "NAME", value_parser = named(CIPHERS), requires = "secret")]
    pub cipher: Option<Cipher>,

    /// With a passphrase: bcrypt rounds [default: 24]
    ///
    /// N is at most 10000. This applies to an encrypted key in the OpenSSH format. The default is that of
    /// ssh-keygen. With more rounds, guessing the passphrase and opening the key take longer. PKCS#8 always uses
    /// 600,000 iterations of PBKDF2, and ppk 32 passes of Argon2id.
    #[arg(long, value_name = "N", allow_hyphen_values = true, requires = "secret")]
    #[arg(value_parser = whole(NonZeroU32::MIN..=MOST_ROUNDS))]
    pub rounds: Option<NonZeroU32>,

    /// Comment of the key [default: the pattern]
    ///
    /// Control and formatting characters are refused. If the comment is the pattern, _ replaces all but letters,
    /// digits and any of +/._@-, because some programs misread others.
    #[arg(short = 'C', long, value_name = "TEXT", value_parser = values::comment, allow_hyphen_values = true)]
    pub comment: Option<String>,

    /// Run this shell command after each kept key
    ///
    /// The environment has public data: VANITY_PATTERN, VANITY_PUBLIC_KEY, VANITY_FINGERPRINT,
    /// VANITY_PRIVATE_KEY_FILE and VANITY_PUBLIC_KEY_FILE (unset if the key went to stdout), VANITY_ATTEMPTS,
    /// VANITY_SECONDS. The commands run one at a time, in the order of the keys, while the search goes on. If one
    /// fails, the exit status is 1.
    #[arg(long, value_name = "COMMAND", value_parser = values::commands(), value_hint = ValueHint::CommandString)]
    pub exec: Option<OsString>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What is shown")]
pub(super) struct Shown {
    /// Print one JSON object per line to stdout
    #[arg(long)]
    pub json: bool,

    /// Print the odds and exit
    ///
    /// For one pattern, similar patterns that take less time follow. Several patterns are printed as a table, the
    /// most likely one first.
    #[arg(long, conflicts_with = "bench")]
    pub estimate: bool,

    /// With --estimate: what fits into 10min or 1h
    ///
    /// A pattern fits if it has a chance of 50% or more within this time. The program prints the longest
    /// beginning of PATTERN that fits, and the best variants. Of several patterns, it prints how many fit.
    #[arg(long, value_name = "DURATION", value_parser = duration, allow_hyphen_values = true)]
    #[arg(requires = "estimate", conflicts_with = "bench")]
    pub within: Option<Duration>,

    /// Measure every engine side by side and exit
    ///
    /// Each engine runs for DURATION in five rounds [default: 5s]. Before that, each is tuned, for about 2 s. With
    /// several threads, one of them also runs alone, for half of DURATION. With --engine, only that engine is
    /// measured, beside the reference engine. The engines search for PATTERN, or for a six-letter word if no
    /// PATTERN is given.
    #[arg(long, value_name = "DURATION", value_parser = values::bench, allow_negative_numbers = true)]
    #[arg(num_args = 0..=1, default_missing_value = "5s")]
    pub bench: Option<Duration>,

    /// Progress: auto (default), off or json
    ///
    /// auto is a line on a terminal, and elsewhere a line after ten seconds and every minute. off is none. json is
    /// one JSON object per second on stderr, also with --quiet.
    #[arg(long, value_name = "FORM", value_parser = named(PROGRESS_FORMS), conflicts_with = "bench")]
    pub progress: Option<ProgressForm>,

    /// Print only errors to stderr
    #[arg(short, long)]
    pub quiet: bool,

    /// Colors: auto, always or never
    ///
    /// auto means never if NO_COLOR is set, TERM is dumb or not set, or the output is not a terminal.
    #[arg(long, value_name = "WHEN", value_parser = named(COLORS))]
    pub color: Option<ColorChoice>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "About")]
pub(super) struct About {
    /// Print help (-h: short form)
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print the version (-V: short form)
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,

    /// For bash, elvish, fish, powershell or zsh
    ///
    /// Print a completion script for SHELL and exit.
    #[arg(long, value_name = "SHELL", exclusive = true)]
    pub completions: Option<Shell>,

    /// Print the manual page and exit
    #[arg(long, exclusive = true)]
    pub man: bool,
}

/// Returns the description of the command line.
pub(super) fn command() -> Command {
    Args::command().mut_args(|arg| {
        let is_about_keys = arg.get_help_heading() == Some(ABOUT_KEYS);
        let takes_value = arg.get_action().takes_values();
        let hint = match arg.get_value_hint() {
            // Without a hint, shells offer files.
            ValueHint::Unknown if takes_value => ValueHint::Other,
            // With the hint of any path, bash neither goes into directories nor takes names with blanks.
            ValueHint::AnyPath => ValueHint::FilePath,
            hint => hint,
        };
        // The help has the values in its text.
        let arg = arg.hide_possible_values(takes_value).value_hint(hint);
        if is_about_keys { arg.conflicts_with("bench") } else { arg }
    })
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    ///
    /// Returns clap's error, which also stands for `--help` and `--version`.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        Self::from_arg_matches(&command().try_get_matches_from(args)?)
    }

    /// Whether keys are searched for, and not only odds or rates.
    pub fn is_search(&self) -> bool {
        self.shown.bench.is_none() && !self.shown.estimate
    }
}

/// Returns the value of `--color` from a command line that clap may refuse.
pub(super) fn color(args: &[OsString]) -> ColorChoice {
    let args = args.iter().take_while(|arg| *arg != "--").map(|arg| arg.to_string_lossy());
    let args: Vec<_> = args.collect();
    let mut values = args.iter().enumerate().filter_map(|(at, arg)| match arg.strip_prefix("--color")? {
        "" => args.get(at + 1).map(AsRef::as_ref),
        value => value.strip_prefix('='),
    });
    values.next_back().and_then(|name| values::by_name(COLORS, name)).unwrap_or_default()
}

/// Returns the version, the engines of this program, those that cannot run here, and the features of the
/// processor.
fn long_version() -> String {
    let engines = engine::list().filter(|engine| engine.is_built());
    let (run, others): (Vec<_>, Vec<_>) = engines.partition(|engine| engine.check().is_ok());
    let [run, others] =
        [run, others].map(|engines| engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(" "));
    format!(
        "{}\nengines: {run}\nnot on this machine: {others}\nprocessor: {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        ed25519_batch::simd::detected().join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_is_known_before_the_rest() {
        let of = |line: &str| color(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("x --nonsense --color never"), ColorChoice::Never);
        assert_eq!(of("x --color=never --color=always"), ColorChoice::Always);
        assert_eq!(of("x -- --color never"), ColorChoice::Auto);
        assert_eq!(of("x --color"), ColorChoice::Auto);
    }

    #[test]
    fn an_option_is_no_time_for_bench() {
        let time = |words: &[&str]| {
            let args = Args::read(&words.iter().map(OsString::from).collect::<Vec<_>>());
            args.map(|args| (args.shown.bench.map(|time| time.as_millis()), args.shown.json)).ok()
        };
        for (words, expected) in [
            (&["x", "--bench", "--json"][..], (Some(5000), true)),
            (&["x", "--bench", "-q", "--json"], (Some(5000), true)),
            (&["x", "--json", "--bench", "0.5"], (Some(500), true)),
            (&["x", "ab", "--bench"], (Some(5000), false)),
        ] {
            assert_eq!(time(words), Some(expected), "{words:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
