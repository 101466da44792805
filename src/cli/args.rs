//! The command line: its options, and the values that clap reads.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::engine;
use crate::key::{Cipher, Format};
use crate::plan::{ColorChoice, ProgressForm};
use crate::wire::Target;
use clap::builder::{IntoResettable, ValueParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, ValueHint, value_parser};

use super::values::{self, GpuDevices, named};

pub(super) const NAME: &str = "vanity-ed25519";

const ABOUT: &str = "Finds Ed25519 SSH keys whose public key text contains a word you choose";

/// Command lines without the name of the program, and what they do.
pub(super) const EXAMPLES: [(&str, &str); 8] = [
    ("-o ~/.ssh/id_alice alice", "A key, and id_alice.pub beside it"),
    ("--prefix -s ABC -o id_abc", "Begins with ABC, in exact case"),
    ("--suffix xyz -o id_xyz", "Ends with xyz"),
    ("--in fingerprint -o id eve", "In the fingerprint"),
    ("--word bob --estimate", "The odds, without a search"),
    ("-d keys -n 5 ann bob", "Five pairs of files for each name"),
    ("--regex '^A.*99$' --json", "One JSON object per line"),
    ("abc > key.pem", "PKCS#8 PEM on stdout, for OpenSSL"),
];

const EXIT_STATUS: &str = "\
Exit status:
  0 all found, 1 a failure, 2 refused before the search, 3 ended by --timeout,
  128 + n ended by signal n, within a second";

const KEPT: &str = "\
Keys that were found before that are kept. A key that cannot be encrypted within this second is given up \
and reported.";

const LONG_ABOUT: &str = "\
Finds Ed25519 SSH keys whose public key text contains a word you choose.

The public key text is the base64 in `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI...`. Its first 25 characters \
never change. The program searches the other 43, which are the body. It verifies every key twice: before it \
prints or writes a key, ed25519-dalek derives the key again, and the pattern is compared again.";

/// The options that say which keys a search makes, and what becomes of them.
const OF_A_SEARCH: [&str; 19] = [
    "count",
    "any",
    "timeout",
    "however-long",
    "output",
    "output-dir",
    "allow-exposed",
    "agent",
    "lifetime",
    "confirm",
    "host-key",
    "format",
    "passphrase",
    "passphrase-file",
    "cipher",
    "rounds",
    "comment",
    "exec",
    "progress",
];

/// The command line.
pub(super) struct Args {
    pub patterns: Vec<OsString>,
    pub files: Vec<PathBuf>,
    pub target: Option<Target>,
    pub prefix: bool,
    pub suffix: bool,
    pub word: bool,
    pub regex: bool,
    pub case_sensitive: bool,
    pub leet: bool,
    pub count: Option<u64>,
    pub any: bool,
    pub threads: Option<NonZeroUsize>,
    pub engine: Option<String>,
    pub gpu_device: Option<GpuDevices>,
    pub table_memory: Option<usize>,
    pub timeout: Option<Duration>,
    pub however_long: bool,
    pub output: Option<PathBuf>,
    pub output_dir: Option<PathBuf>,
    pub allow_exposed: bool,
    pub agent: bool,
    pub lifetime: Option<NonZeroU32>,
    pub confirm: bool,
    pub host_key: Option<Option<String>>,
    pub format: Option<Format>,
    pub passphrase: bool,
    pub passphrase_file: Option<PathBuf>,
    pub cipher: Option<Cipher>,
    pub rounds: Option<NonZeroU32>,
    pub comment: Option<String>,
    pub exec: Option<OsString>,
    pub json: bool,
    pub estimate: bool,
    pub within: Option<Duration>,
    pub bench: Option<Duration>,
    pub progress: Option<ProgressForm>,
    pub quiet: bool,
    pub color: ColorChoice,
    pub completions: Option<clap_complete::Shell>,
    pub man: bool,
}

/// Returns the description of the command line.
pub(super) fn command() -> Command {
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(format!("{}\n\n{EXIT_STATUS}", examples()))
        .after_long_help(format!("{}\n\n{EXIT_STATUS}\n\n{KEPT}", examples()))
        .args_override_self(true)
        .max_term_width(100)
        .disable_help_flag(true)
        .disable_version_flag(true)
        // The patterns come first.
        .next_display_order(1)
        .next_help_heading("What to look for")
        .args([
            Arg::new("patterns")
                .value_name("PATTERN")
                .help("Text to find in the body: a key's last 43 characters")
                .display_order(0)
                .num_args(1..)
                .value_parser(value_parser!(OsString))
                .value_hint(ValueHint::Other)
                .more(
                    "The body is made of A-Z, a-z, 0-9, + and /. With --in fingerprint, the program searches \
                    the fingerprint instead. It searches for several patterns at the same time, until \
                    each has its keys.",
                ),
            path("files", "FILE", "Read patterns from FILE, one per line (- is stdin)")
                .action(ArgAction::Append)
                .short('f')
                .long("patterns")
                .more(
                    "Blank lines and lines that begin with # are ignored. A line can begin with the \
                    kind of its pattern and a colon: anywhere:, prefix:, suffix:, word: or regex:, \
                    as in prefix:abc. The options set the kind for all other lines. A pattern that \
                    occurs more than once is searched for once.",
                ),
            choice("in", "WHERE", named(values::TARGETS), "Where to search: key (default) or fingerprint")
                .more(
                    "key is the body of the public key's text. fingerprint is the 43 characters after \
                    SHA256: that ssh-keygen -l and ssh show. All options below apply to both.",
                ),
            flag("anywhere", "Match the text anywhere in the body (default)"),
            flag("prefix", "Match the text at the beginning of the body"),
            flag("suffix", "Match the text at the end of the body"),
            flag("word", "Match the text with + or / on both sides"),
            flag("regex", "Match PATTERN as a regular expression").conflicts_with("leet").more(
                "The syntax is that of the Rust regex crate. ^ and $ are the two ends of the \
                body.",
            ),
            flag("ignore-case", "Ignore case (default)").short('i').overrides_with("case-sensitive"),
            flag("case-sensitive", "Match upper and lower case exactly")
                .short('s')
                .overrides_with("ignore-case"),
            flag("leet", "Let a letter also match its look-alike digit")
                .more("The pairs are a4 b8 e3 g9 i1 l1 o0 s5 t7 z2."),
        ])
        .next_help_heading("How to search")
        .args([
            number("count", "N", values::count, "Keys for each pattern [default: 1]").short('n'),
            flag("any", "Stop after --count keys in total")
                .more("Each of them can match any of the patterns."),
            number("threads", "N", values::threads, "Worker threads [default: all available]").short('t').more(
                "In a job of Slurm, PBS, LSF or Grid Engine, the default is the number of processors that \
                the scheduler gives (SLURM_CPUS_PER_TASK and the like).",
            ),
            choice("engine", "NAME", values::engines(), "Engine to search with [default: auto]").more(
                "auto is the fastest engine that works on this machine. gpu uses all graphics \
                processors, if the program was built with support for them. avx512ifma, avx512f, \
                avxifma, avx2, neon and portable derive keys in batches with these instructions, \
                in variable time. reference is curve25519-dalek, one key at a time, in constant \
                time.",
            ),
            number(
                "gpu-device",
                "NUMBERS",
                values::gpu_devices,
                "GPUs to use: 0, or 0,2, or list [default: all]",
            )
            .more("These are graphics processors. `list` prints all of them with their numbers and exits."),
            number(
                "table-memory",
                "SIZE",
                values::table_memory,
                "Maximum memory for a table [default: 128MiB]",
            )
            .more(
                "SIZE is a number and a unit, such as 64KiB or 30MiB. The engines that work in batches have a table, which all threads share. A search \
                starts with a small table. It tries larger ones up to this size, and keeps the \
                fastest.",
            ),
            number(
                "timeout",
                "DURATION",
                |typed: &str| values::duration("--timeout", typed),
                "End after this time: 90s, 2h, 01:30:00",
            ),
            flag("however-long", "Search even if it takes more than ten years").more(
                "Without this option and --timeout, a pattern is refused if its chance reaches 50% only \
                after more than ten years on this machine: it will not be found.",
            ),
        ])
        .next_help_heading("Where the key goes")
        .args([
            path("output", "PATH", "Write the key to PATH and PATH.pub (- is stdout)")
                .short('o')
                .more(
                    "PATH has the private key, and PATH.pub the public line. Without this option and --output-dir, the private key goes to stdout, which must \
                    be open and not the null device. An existing file is never overwritten.",
                ),
            path("output-dir", "DIR", "Write a pair of files for each key into DIR")
                .value_hint(ValueHint::DirPath)
                .short('d')
                .conflicts_with("output")
                .more(
                    "The files are named after the pattern and the key. DIR is created if it does not \
                    exist. A ledger in DIR, vanity-ed25519.jsonl, lists the keys and their patterns. \
                    So the same command, run again, makes only the keys that are missing.",
                ),
            flag("allow-exposed", "Keep keys even where others can read them").more(
                "File systems without permissions, such as FAT, give all files the same mode. \
                Without this option they are refused, because ssh rejects such a key, too.",
            ),
            flag("agent", "Add the key to the running ssh-agent").more(
                "Without --output and --output-dir, no private key is written to disk, and stdout \
                has the public line. With one of them, the file is written first. The agent is \
                the one that SSH_AUTH_SOCK names; on Windows it is the agent of OpenSSH. If the \
                agent rejects the key in the end, the key is written to a new file.",
            ),
            number(
                "lifetime",
                "DURATION",
                values::lifetime,
                "With --agent: for how long, as in 8h or 30min",
            ),
            flag("confirm", "With --agent: ask you before each use"),
            option("host-key", "NAME", "Make ssh_host_ed25519_key for an SSH server")
                .value_hint(ValueHint::Hostname)
                .allow_hyphen_values(true)
                .num_args(0..=1)
                .require_equals(true)
                .more(
                    "The two files have the names, the modes and the comment that sshd and ssh-keygen \
                    -A give them. They go to the working directory or to --output-dir. The lines for \
                    known_hosts and the SSHFP records are printed, for the host NAME, or else for \
                    this machine. With a port that is not 22, NAME is [HOST]:PORT.",
                ),
            choice(
                "format",
                "FORM",
                named(values::FORMATS),
                "Format of the private key: pkcs8, openssh or ppk",
            )
            .more(
                "Without this option, the name of the file decides: PKCS#8 PEM for *.pem, PuTTY's \
                format for *.ppk, and the OpenSSH format for all others. On stdout it is PKCS#8 \
                PEM, and on a terminal the OpenSSH format. OpenSSH reads PKCS#8 since version \
                9.8. PuTTY reads ppk, version 3, since 0.75.",
            ),
            flag("passphrase", "Encrypt the private key: ask for a passphrase")
                .conflicts_with("passphrase-file")
                .more("The program asks twice on the terminal, before the search. All keys get the same passphrase."),
            path(
                "passphrase-file",
                "FILE",
                "Encrypt with the first line of FILE (- is stdin)",
            )
            .more("FILE can be a pipe, as in --passphrase-file <(pass show ssh), or /dev/fd/3."),
            choice(
                "cipher",
                "NAME",
                named(values::CIPHERS),
                "With a passphrase: aes256-ctr or aes256-gcm",
            )
            .more(
                "This is the cipher of an encrypted key in the OpenSSH format, which calls the \
                second one aes256-gcm@openssh.com. The first one is the default. The other formats always use AES-256-CBC.",
            ),
            number("rounds", "N", values::rounds, "With a passphrase: bcrypt rounds [default: 24]").more(
                "This applies to an encrypted key in the OpenSSH format. The default is that of \
                ssh-keygen. With more rounds, guessing the passphrase and opening the key take \
                longer. PKCS#8 always uses 600,000 iterations of PBKDF2, and ppk 32 passes of \
                Argon2id.",
            ),
            option("comment", "TEXT", "Comment of the key [default: the pattern]")
                .value_parser(values::comments())
                .allow_hyphen_values(true)
                .value_hint(ValueHint::Other)
                .short('C')
                .more(
                    "Control and formatting characters are refused. If the comment is the pattern, \
                    _ replaces all but letters, digits and any of +/._@-, because some programs \
                    misread others.",
                ),
            option("exec", "COMMAND", "Run this shell command after each kept key")
                .value_parser(values::commands())
                .value_hint(ValueHint::CommandString)
                .more(
                    "The environment has public data: VANITY_PATTERN, VANITY_PUBLIC_KEY, \
                    VANITY_FINGERPRINT, VANITY_PRIVATE_KEY_FILE and VANITY_PUBLIC_KEY_FILE (unset if \
                    the key went to stdout), VANITY_ATTEMPTS, VANITY_SECONDS. The commands run one \
                    at a time, in the order of the keys, while the search goes on. If one fails, the \
                    exit status is 1.",
                ),
        ])
        .next_help_heading("What is shown")
        .args([
            flag("json", "Print one JSON object per line to stdout"),
            flag("estimate", "Print the odds and exit").conflicts_with("bench").more(
                "For one pattern, similar patterns that take less time follow. Several patterns \
                are printed as a table, the most likely one first.",
            ),
            number(
                "within",
                "DURATION",
                |typed: &str| values::duration("--within", typed),
                "With --estimate: what fits into 10min or 1h",
            )
            .more(
                "A pattern fits if it has a chance of 50% or more within this time. The program \
                prints the longest beginning of PATTERN that fits, and the best variants. Of \
                several patterns, it prints how many fit.",
            ),
            option("bench", "DURATION", "Measure every engine side by side and exit")
                .value_parser(values::bench)
                .value_hint(ValueHint::Other)
                .default_missing_value("5s")
                .num_args(0..=1)
                .allow_negative_numbers(true)
                .conflicts_with_all(OF_A_SEARCH)
                .more(
                    "Each engine runs for DURATION in five rounds [default: 5s]. Before that, each is \
                    tuned, for about 1 s. With several threads, one of them also runs alone, for half \
                    of DURATION. With --engine, only that engine is measured, beside the reference \
                    engine. The engines search for PATTERN, or for a six-letter word if no PATTERN is \
                    given.",
                ),
            choice("progress", "FORM", named(values::PROGRESS_FORMS), "Progress: auto (default), off or json")
                .more(
                    "auto is a line on a terminal, and elsewhere a line after ten seconds and every \
                    minute. off is none. json is one JSON object per second on stderr, also with \
                    --quiet.",
                ),
            flag("quiet", "Print only errors to stderr").short('q'),
            choice("color", "WHEN", named(values::COLORS), "Colors: auto, always or never").more(
                "auto means never if NO_COLOR is set, TERM is dumb or not set, or the output is \
                not a terminal.",
            ),
        ])
        .next_help_heading("About")
        .args([
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help("Print help (-h: short form)"),
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help("Print the version (-V: short form)"),
            choice(
                "completions",
                "SHELL",
                value_parser!(clap_complete::Shell),
                "For bash, elvish, fish, powershell or zsh",
            )
            .more("Print a completion script for SHELL and exit.")
                .exclusive(true),
            flag("man", "Print the manual page and exit").exclusive(true),
        ])
        .group(ArgGroup::new("kind").args(["anywhere", "prefix", "suffix", "word", "regex"]))
}

/// Returns the examples in lines of at most 80 columns.
fn examples() -> String {
    let lines = EXAMPLES.map(|(words, what)| format!("\n  {NAME} {words:<28} {what}"));
    format!("Examples:{}", lines.concat())
}

/// Further lines of an option's help, which its long form has.
trait More {
    fn more(self, text: &str) -> Self;
}

impl More for Arg {
    fn more(self, text: &str) -> Self {
        let first = self.get_help().map(ToString::to_string).unwrap_or_default();
        self.long_help(format!("{first}\n\n{text}"))
    }
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    option(name, value, help).value_parser(values::paths()).value_hint(ValueHint::FilePath)
}

/// Returns an option with one of some names. The help has them in its text.
fn choice(
    name: &'static str,
    value: &'static str,
    parser: impl IntoResettable<ValueParser>,
    help: &'static str,
) -> Arg {
    option(name, value, help).value_parser(parser).hide_possible_values(true)
}

/// Returns an option with a number, or numbers and units. A wrong one can begin with a hyphen.
fn number(
    name: &'static str,
    value: &'static str,
    parser: impl IntoResettable<ValueParser>,
    help: &'static str,
) -> Arg {
    option(name, value, help).value_parser(parser).allow_hyphen_values(true).value_hint(ValueHint::Other)
}

impl Args {
    /// Reads the command line.
    ///
    /// # Errors
    ///
    /// Returns clap's error, which also stands for `--help` and `--version`.
    pub fn read(args: &[OsString]) -> Result<Self, clap::Error> {
        // Without this name, clap shows the name by which the program was called.
        let command = command().long_version(long_version()).bin_name(NAME);
        Ok(Self::of(&mut command.try_get_matches_from(args)?))
    }

    fn of(matches: &mut ArgMatches) -> Self {
        Self {
            patterns: matches.remove_many("patterns").into_iter().flatten().collect(),
            files: matches.remove_many("files").into_iter().flatten().collect(),
            target: matches.remove_one("in"),
            prefix: matches.get_flag("prefix"),
            suffix: matches.get_flag("suffix"),
            word: matches.get_flag("word"),
            regex: matches.get_flag("regex"),
            case_sensitive: matches.get_flag("case-sensitive"),
            leet: matches.get_flag("leet"),
            count: matches.remove_one("count"),
            any: matches.get_flag("any"),
            threads: matches.remove_one("threads"),
            engine: matches.remove_one("engine"),
            gpu_device: matches.remove_one("gpu-device"),
            table_memory: matches.remove_one("table-memory"),
            timeout: matches.remove_one("timeout"),
            however_long: matches.get_flag("however-long"),
            output: matches.remove_one("output"),
            output_dir: matches.remove_one("output-dir"),
            allow_exposed: matches.get_flag("allow-exposed"),
            agent: matches.get_flag("agent"),
            lifetime: matches.remove_one("lifetime"),
            confirm: matches.get_flag("confirm"),
            // Its value can be missing.
            host_key: matches.contains_id("host-key").then(|| matches.remove_one("host-key")),
            format: matches.remove_one("format"),
            passphrase: matches.get_flag("passphrase"),
            passphrase_file: matches.remove_one("passphrase-file"),
            cipher: matches.remove_one("cipher"),
            rounds: matches.remove_one("rounds"),
            comment: matches.remove_one("comment"),
            exec: matches.remove_one("exec"),
            json: matches.get_flag("json"),
            estimate: matches.get_flag("estimate"),
            within: matches.remove_one("within"),
            bench: matches.remove_one("bench"),
            progress: matches.remove_one("progress"),
            quiet: matches.get_flag("quiet"),
            color: matches.remove_one("color").unwrap_or(ColorChoice::Auto),
            completions: matches.remove_one("completions"),
            man: matches.get_flag("man"),
        }
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
    fn an_option_is_no_time_for_bench() {
        let time = |words: &[&str]| {
            let args = Args::read(&words.iter().map(OsString::from).collect::<Vec<_>>());
            args.map(|args| (args.bench.map(|time| time.as_millis()), args.json)).ok()
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
