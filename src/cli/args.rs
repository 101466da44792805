//! The command line: its options, and the values that clap reads.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::engine;
use crate::key::{Cipher, Format};
use crate::plan::{ColorChoice, ProgressForm};
use crate::wire::Target;
use clap::{ArgAction, ArgGroup, CommandFactory as _, Parser, ValueHint};

use super::values::{self, GpuDevices, named};

pub(super) const NAME: &str = "vanity-ed25519";

const ABOUT: &str = "Finds Ed25519 SSH keys whose public key text contains a word you choose";

const EXAMPLES: &str = "\
Examples:
  vanity-ed25519 -o ~/.ssh/id_alice alice  ~/.ssh/id_alice and ~/.ssh/id_alice.pub
  vanity-ed25519 abc > key.pem             one key, PKCS#8 PEM on stdout
  vanity-ed25519 --word bob --estimate     the odds, without a search
  vanity-ed25519 -d keys -n 5 ann bob      five pairs of files for each name
  vanity-ed25519 --regex '^A.*99$' --json  one JSON object per line

Exit status: 0 all found; 1 a failure; 2 invalid usage; 3 ended by --timeout;
130, 143 or 129 ended by a signal, within a second. Keys found before that are kept. A key
whose encryption takes much longer is given up and reported.";

const LONG_ABOUT: &str = "\
Finds Ed25519 SSH keys whose public key text contains a word you choose.

The public key text is the base64 in `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI...`. Its first 25 characters \
never change. The program searches the other 43, which are the body. It verifies every key twice: before it \
prints or writes a key, ed25519-dalek derives the key again, and the pattern is compared again.";

/// The command line.
#[derive(Parser)]
#[command(name = NAME, version, about = ABOUT, long_about = LONG_ABOUT, after_help = EXAMPLES)]
#[command(
    args_override_self = true,
    max_term_width = 100,
    disable_help_flag = true,
    disable_version_flag = true
)]
#[command(group(ArgGroup::new("kind").args(["anywhere", "prefix", "suffix", "word", "regex"])))]
pub(super) struct Args {
    /// What to look for
    ///
    /// The program searches 43 characters (see --in), which are A-Z, a-z, 0-9, + and /. It searches
    /// for several patterns at the same time, until each has its keys.
    #[arg(value_name = "PATTERN", help_heading = "What to look for", value_hint = ValueHint::Other)]
    pub patterns: Vec<OsString>,

    /// Read patterns from FILE, one per line (- is stdin)
    ///
    /// Blank lines and lines that begin with # are ignored. A line can begin with the kind of its
    /// pattern and a colon: anywhere:, prefix:, suffix:, word: or regex:, as in prefix:abc. The
    /// options set the kind for all other lines. A pattern that occurs more than once is searched
    /// for once.
    #[arg(short = 'f', long = "patterns", value_name = "FILE", help_heading = "What to look for", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Where to search: key (default) or fingerprint
    ///
    /// key is the body of the public key's text. fingerprint is the 43 characters after SHA256:
    /// that ssh-keygen -l and ssh show. All options below apply to both.
    #[arg(long = "in", value_name = "WHERE", help_heading = "What to look for", value_parser = named(values::TARGETS), hide_possible_values = true)]
    pub target: Option<Target>,

    /// Match the text anywhere in the body (default)
    #[arg(long, help_heading = "What to look for")]
    pub anywhere: bool,

    /// Match the text at the beginning of the body
    #[arg(long, help_heading = "What to look for")]
    pub prefix: bool,

    /// Match the text at the end of the body
    #[arg(long, help_heading = "What to look for")]
    pub suffix: bool,

    /// Match the text with + or / on both sides
    #[arg(long, help_heading = "What to look for")]
    pub word: bool,

    /// Match PATTERN as a regular expression
    ///
    /// The syntax is that of the Rust regex crate. ^ and $ are the two ends of the body.
    #[arg(long, help_heading = "What to look for", conflicts_with = "leet")]
    pub regex: bool,

    /// Ignore case (default)
    #[arg(short = 'i', long, help_heading = "What to look for", overrides_with = "case_sensitive")]
    pub ignore_case: bool,

    /// Match upper and lower case exactly
    #[arg(short = 's', long, help_heading = "What to look for", overrides_with = "ignore_case")]
    pub case_sensitive: bool,

    /// Let a letter also match its look-alike digit
    ///
    /// The pairs are a4 b8 e3 g9 i1 l1 o0 s5 t7 z2.
    #[arg(long, help_heading = "What to look for")]
    pub leet: bool,

    /// Keys for each pattern [default: 1]
    #[arg(short = 'n', long, value_name = "N", allow_hyphen_values = true, help_heading = "How to search", value_parser = values::count, value_hint = ValueHint::Other)]
    pub count: Option<u64>,

    /// Stop after --count keys in total, whichever patterns they match
    #[arg(long, help_heading = "How to search")]
    pub any: bool,

    /// Worker threads [default: all available]
    #[arg(short = 't', long, value_name = "N", allow_hyphen_values = true, help_heading = "How to search", value_parser = values::threads, value_hint = ValueHint::Other)]
    pub threads: Option<NonZeroUsize>,

    /// Engine to search with [default: auto]
    ///
    /// auto is the fastest engine that works on this machine. gpu uses all graphics processors, if
    /// the program was built with support for them. avx512ifma, avx512f, avxifma, avx2, neon and
    /// portable derive keys in batches with these instructions, in variable time. reference is
    /// curve25519-dalek, one key at a time, in constant time.
    #[arg(long, value_name = "NAME", help_heading = "How to search", value_parser = values::engines(), hide_possible_values = true)]
    pub engine: Option<String>,

    /// Graphics processors to use: 0, or 0,2, or list [default: all]
    ///
    /// `list` prints all of them with their numbers and exits.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, help_heading = "How to search", value_parser = values::gpu_devices, value_hint = ValueHint::Other)]
    pub gpu_device: Option<GpuDevices>,

    /// Maximum memory for a table: 64KiB, 30MiB [default: 128MiB]
    ///
    /// The engines that work in batches have a table, which all threads share. A search starts with
    /// a small table. It tries larger ones up to this size, and keeps the fastest.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = "How to search", value_parser = values::table_memory, value_hint = ValueHint::Other)]
    pub table_memory: Option<usize>,

    /// Stop after this time: 90s, 15min, 2h
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, help_heading = "How to search", value_parser = |typed: &str| values::duration("--timeout", typed), value_hint = ValueHint::Other)]
    pub timeout: Option<Duration>,

    /// Write the key to PATH and its public line to PATH.pub (- is stdout)
    ///
    /// Without this option and --output-dir, the private key goes to stdout, which must be open and
    /// not the null device. An existing file is never overwritten.
    #[arg(short = 'o', long, value_name = "PATH", help_heading = "Where the key goes", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Write a pair of files for each key into DIR
    ///
    /// The files are named after the pattern and the key. DIR is created if it does not exist. A
    /// ledger in DIR, vanity-ed25519.jsonl, lists the keys and their patterns. So the same command,
    /// run again, makes only the keys that are missing.
    #[arg(short = 'd',
        long,
        value_name = "DIR",
        help_heading = "Where the key goes",
        conflicts_with = "output", value_hint = ValueHint::DirPath)]
    pub output_dir: Option<PathBuf>,

    /// Keep private keys even where others can read them
    ///
    /// File systems without permissions, such as FAT, give all files the same mode. Without this
    /// option they are refused, because ssh rejects such a key, too.
    #[arg(long, help_heading = "Where the key goes")]
    pub allow_exposed: bool,

    /// Add the key to the running ssh-agent
    ///
    /// Without --output and --output-dir, no private key is written to disk, and stdout has the
    /// public line. With one of them, the file is written first. The agent is the one that
    /// SSH_AUTH_SOCK names; on Windows it is the agent of OpenSSH. If the agent rejects the key
    /// in the end, the key is written to a new file.
    #[arg(long, help_heading = "Where the key goes")]
    pub agent: bool,

    /// With --agent: the agent drops the key after this time: 8h, 30min
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, help_heading = "Where the key goes", value_parser = values::lifetime, value_hint = ValueHint::Other)]
    pub lifetime: Option<NonZeroU32>,

    /// With --agent: the agent asks you before each use of the key
    #[arg(long, help_heading = "Where the key goes")]
    pub confirm: bool,

    /// Make a key for an SSH server: ssh_host_ed25519_key
    ///
    /// The two files have the names, the modes and the comment that sshd and ssh-keygen -A give
    /// them. They go to the working directory or to --output-dir. The lines for known_hosts and the
    /// SSHFP records are printed, for the host NAME, or else for this machine.
    #[arg(long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        allow_hyphen_values = true,
        help_heading = "Where the key goes", value_hint = ValueHint::Hostname)]
    pub host_key: Option<Option<String>>,

    /// Format of the private key: pkcs8, openssh or ppk
    ///
    /// Without this option, the name of the file decides: PKCS#8 PEM for *.pem, PuTTY's format for
    /// *.ppk, and the OpenSSH format for all others. On stdout it is PKCS#8 PEM, and on a terminal the
    /// OpenSSH format. OpenSSH reads PKCS#8 since version 9.8. PuTTY reads ppk, version 3, since 0.75.
    #[arg(long, value_name = "FORM", help_heading = "Where the key goes", value_parser = named(values::FORMATS), hide_possible_values = true)]
    pub format: Option<Format>,

    /// Encrypt the private key: ask for a passphrase on the terminal
    ///
    /// The program asks twice, before the search. All keys get the same passphrase.
    #[arg(long, help_heading = "Where the key goes", conflicts_with = "passphrase_file")]
    pub passphrase: bool,

    /// Encrypt the private key: the passphrase is the first line of FILE (- is stdin)
    ///
    /// FILE can be a pipe, as in --passphrase-file <(pass show ssh), or /dev/fd/3.
    #[arg(long, value_name = "FILE", help_heading = "Where the key goes", value_hint = ValueHint::FilePath)]
    pub passphrase_file: Option<PathBuf>,

    /// With a passphrase: aes256-ctr (default) or aes256-gcm
    ///
    /// This is the cipher of an encrypted key in the OpenSSH format, which calls the second one
    /// aes256-gcm@openssh.com. The other formats always use AES-256-CBC.
    #[arg(long, value_name = "NAME", help_heading = "Where the key goes", value_parser = named(values::CIPHERS), hide_possible_values = true)]
    pub cipher: Option<Cipher>,

    /// With a passphrase: rounds of bcrypt [default: 24]
    ///
    /// This applies to an encrypted key in the OpenSSH format. The default is that of ssh-keygen.
    /// With more rounds, guessing the passphrase and opening the key take longer. PKCS#8 always uses
    /// 600,000 iterations of PBKDF2, and ppk 32 passes of Argon2id.
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Where the key goes", value_parser = values::rounds, value_hint = ValueHint::Other)]
    pub rounds: Option<NonZeroU32>,

    /// Comment on the public line [default: the pattern]
    ///
    /// Control and formatting characters are refused. If the comment is the pattern, they become
    /// spaces.
    #[arg(short = 'C',
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        help_heading = "Where the key goes", value_parser = values::comments(), value_hint = ValueHint::Other)]
    pub comment: Option<String>,

    /// Run the shell command COMMAND after each key that is kept
    ///
    /// The environment has public data: VANITY_PATTERN, VANITY_PUBLIC_KEY, VANITY_FINGERPRINT,
    /// VANITY_PRIVATE_KEY_FILE and VANITY_PUBLIC_KEY_FILE (unset if the key went to stdout),
    /// VANITY_ATTEMPTS, VANITY_SECONDS. The commands run one at a time, in the order of the keys,
    /// while the search goes on. If one fails, the exit status is 1.
    #[arg(long, value_name = "COMMAND", help_heading = "Where the key goes", value_parser = values::commands(), value_hint = ValueHint::CommandString)]
    pub exec: Option<OsString>,

    /// Print one JSON object per line to stdout
    #[arg(long, help_heading = "What is shown")]
    pub json: bool,

    /// Print the odds and exit
    ///
    /// For one pattern, similar patterns that take less time follow. Several patterns are printed as
    /// a table, the most likely one first.
    #[arg(long, help_heading = "What is shown", conflicts_with = "bench")]
    pub estimate: bool,

    /// With --estimate: print what fits into this time: 10min, 1h
    ///
    /// A pattern fits if it has a chance of 50% or more within this time. The program prints the
    /// longest beginning of PATTERN that fits, and the best variants. Of several patterns, it prints
    /// how many fit.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, help_heading = "What is shown", value_parser = |typed: &str| values::duration("--within", typed), value_hint = ValueHint::Other)]
    pub within: Option<Duration>,

    /// Measure every engine side by side and exit
    ///
    /// Each engine runs for SECONDS in five rounds [default: 5]. With --engine, only that one is
    /// measured, beside the reference engine. The engines search for PATTERN, or for a six-letter
    /// word if no PATTERN is given.
    #[arg(long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "5",
        allow_hyphen_values = true,
        help_heading = "What is shown", value_parser = values::bench, value_hint = ValueHint::Other)]
    pub bench: Option<Duration>,

    /// Progress: auto (default) or json
    ///
    /// auto is a line on a terminal, and elsewhere a line after ten seconds and every minute. json
    /// is one JSON object per second on stderr, also with --quiet.
    #[arg(long, value_name = "FORM", help_heading = "What is shown", value_parser = named(values::PROGRESS_FORMS), hide_possible_values = true)]
    pub progress: Option<ProgressForm>,

    /// Print only errors to stderr
    #[arg(short = 'q', long, help_heading = "What is shown")]
    pub quiet: bool,

    /// Colors: auto, always or never
    ///
    /// auto means never if NO_COLOR is set, TERM is dumb, or the output is not a terminal.
    #[arg(long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "What is shown", value_parser = named(values::COLORS))]
    pub color: ColorChoice,

    /// Print help (-h: short form)
    #[arg(short = 'h', long, action = ArgAction::Help, help_heading = "About")]
    help: Option<bool>,

    /// Print the version (-V: short form)
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = "About")]
    version: Option<bool>,

    /// Print a completion script for SHELL and exit
    #[arg(long, value_name = "SHELL", exclusive = true, help_heading = "About")]
    pub completions: Option<clap_complete::Shell>,

    /// Print the manual page and exit
    #[arg(long, exclusive = true, help_heading = "About", action = ArgAction::SetTrue)]
    pub man: bool,
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    ///
    /// Returns clap's error, which also stands for `--help` and `--version`.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        use clap::FromArgMatches as _;
        // Without this name, clap shows the name by which the program was called.
        let command = Self::command().long_version(long_version()).bin_name(NAME);
        Self::from_arg_matches(&command.try_get_matches_from(args)?)
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
    let value = values.next_back().and_then(|value| values::COLORS.iter().find(|(name, _)| *name == value));
    value.map_or(ColorChoice::Auto, |(_, choice)| *choice)
}

/// Returns the version, the engines of this program, and the features of the processor. An engine in
/// parentheses cannot run on this processor.
fn long_version() -> String {
    let features = ed25519_batch::simd::detected();
    let mark = |name: &str| if engine::check(name).is_ok() { name.to_owned() } else { format!("({name})") };
    let engines: Vec<String> = engine::names().filter(|name| engine::is_built(name)).map(mark).collect();
    format!(
        "{}\nengines: {}\nprocessor: {} {}",
        env!("CARGO_PKG_VERSION"),
        engines.join(" "),
        std::env::consts::ARCH,
        features.join(" ")
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
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
