//! What is generated from the list of options: completion scripts and the manual page.

use clap::{Arg, Command, ValueHint};
use clap_complete::Shell;

use super::args::{EXAMPLES, NAME};

/// Returns the completion script of a shell. It offers files only where an option takes one, and the
/// values of options that have a list of them.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    let mut command = super::args::command();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = match shell {
        // Bash takes `=` for a word of its own.
        Shell::Bash => script.replace(" -o bashdefault -o default", "").replacen(
            "    prev=\"$3\"\n",
            "    prev=\"$3\"\n    [[ \"$prev\" != = ]] || prev=\"${COMP_WORDS[COMP_CWORD - 2]}\"\n",
            1,
        ),
        Shell::Fish => format!("complete -c {NAME} -f\n{script}"),
        Shell::PowerShell => script.replacen("    $commandElements = ", &power_shell(&command), 1),
        Shell::Elvish => script.replacen("    $completions[$command]\n", &elvish(&command), 1),
        _ => script.into_owned(),
    };
    script.into_bytes()
}

/// Returns the options of a command whose values have this property, with their names.
fn options(command: &Command, has: impl Fn(&Arg) -> bool) -> impl Iterator<Item = (Vec<String>, &Arg)> {
    let options = command.get_opts().filter(move |option| has(option));
    options.map(|option| {
        let long = option.get_long().map(|long| format!("--{long}"));
        let short = option.get_short().map(|short| format!("-{short}"));
        (short.into_iter().chain(long).collect(), option)
    })
}

/// Returns the names of the options that take a file or a directory.
fn options_with_files(command: &Command) -> Vec<String> {
    let takes_file =
        |option: &Arg| matches!(option.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath);
    options(command, takes_file).flat_map(|(names, _)| names).collect()
}

/// Returns the options that have a list of values, with their values.
fn options_with_values(command: &Command) -> Vec<(String, Vec<String>)> {
    let values = |option: &Arg| {
        let values = option.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        values.map(|value| value.get_name().to_owned()).collect::<Vec<_>>()
    };
    let has_values = |option: &Arg| option.get_action().takes_values() && !values(option).is_empty();
    let named = options(command, has_values);
    named.flat_map(|(names, option)| names.into_iter().map(move |name| (name, values(option)))).collect()
}

/// Returns the part of PowerShell's script about the values of options. Without an answer, PowerShell
/// offers files.
fn power_shell(command: &Command) -> String {
    let quoted =
        |words: &[String]| words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    let values = options_with_values(command);
    let values: Vec<String> =
        values.iter().map(|(name, values)| format!("        '{name}' = @({})\n", quoted(values))).collect();
    format!(
        r#"    $before = "$($commandAst.CommandElements.Where{{ $_.Extent.EndOffset -lt $cursorPosition }} | Select-Object -Last 1)"
    $values = @{{
{}    }}
    $name, $start = '', $wordToComplete
    if ($wordToComplete -match '^(--[a-z-]+)=(.*)$') {{
        $before, $name, $start = $Matches[1], "$($Matches[1])=", $Matches[2]
    }}
    if ($values.ContainsKey($before)) {{
        return $values[$before].Where{{ $_ -like "$start*" }}.ForEach{{
            [CompletionResult]::new("$name$_", $_, [CompletionResultType]::ParameterValue, $_)
        }}
    }}
    if (@({}) -ccontains $before) {{
        return
    }}

    $commandElements = "#,
        values.concat(),
        quoted(&options_with_files(command))
    )
}

/// Returns the end of Elvish's script.
fn elvish(command: &Command) -> String {
    let values: Vec<String> = options_with_values(command)
        .iter()
        .map(|(name, values)| format!("&{name}=[{}]", values.join(" ")))
        .collect();
    format!(
        r"    var values = [{}]
    var files = [{}]
    var before = $words[-2]
    var name = ''
    if (and (str:has-prefix $words[-1] '--') (str:contains $words[-1] '=')) {{
        set before = $words[-1][0..(str:index $words[-1] '=')]
        set name = $before'='
    }}
    if (has-key $values $before) {{
        for value $values[$before] {{ put $name$value }}
    }} elif (has-value $files $before) {{
        edit:complete-filename $@words
    }} else {{
        $completions[$command]
    }}
",
        values.join(" "),
        options_with_files(command).join(" ")
    )
}

/// The day of the last change of the manual page.
const DATE: &str = "2026-11-28";

/// The sections of the manual page around its options, in roff.
const BEFORE_OPTIONS: &str = r"
.SH NAME
vanity\-ed25519 \- find SSH keys that contain a word you choose
.SH SYNOPSIS
.B vanity\-ed25519
.RI [ OPTIONS ]
.IR PATTERN ...
.br
.B vanity\-ed25519
.RI [ OPTIONS ]
.B \-f
.I FILE
.br
.B vanity\-ed25519 \-\-estimate
.RB [ \-\-within
.IR DURATION ]
.IR PATTERN ...
.br
.B vanity\-ed25519 \-\-bench
.RI [ DURATION ]
.br
.B vanity\-ed25519 \-\-completions
.I SHELL
.br
.B vanity\-ed25519 \-\-man
.SH DESCRIPTION
";

const AFTER_OPTIONS: &str = r#"
.SH ENVIRONMENT
.TP
.B SSH_AUTH_SOCK
The socket of the agent that
.B \-\-agent
uses.
.TP
.B NO_COLOR
If it is set and not empty,
.B \-\-color auto
means
.BR never .
So does a
.B TERM
that is dumb or not set.
.TP
.B VANITY_WITHOUT
Instruction sets that the engines must not use, separated by commas.
.SH FILES
.TP
.IR PATH ", " PATH .pub
The private key, with mode 0600, and the public line, of
.BR \-\-output .
.TP
.IR DIR /vanity\-ed25519.jsonl
The ledger of
.BR \-\-output\-dir .
It lists the keys in the directory and their patterns, one JSON object per line.
.SH EXIT STATUS
.TP
.B 0
All keys were found, or what was asked for was printed.
.TP
.B 1
A failure: of input or output, of an agent that did not take a key, of an
engine that computed a wrong key, or of a command of
.BR \-\-exec .
.TP
.B 2
Refused before the search: the command line is invalid, or a file, directory,
disk, agent, passphrase or engine cannot be used.
.TP
.B 3
.B \-\-timeout
ended the search.
.TP
.BR 130 ", " 143 ", " 129 ", ..."
A signal ended the search, within a second: 128 and its number.
.PP
Keys that were found before are kept in every case.
A key whose encryption takes much longer is given up and reported.
"#;

const SEE_ALSO: &str = r"
.SH SEE ALSO
.BR ssh (1),
.BR ssh\-add (1),
.BR ssh\-copy\-id (1),
.BR ssh\-keygen (1),
.BR sshd (8)
";

/// Returns the manual page, in roff.
pub(super) fn manual() -> Vec<u8> {
    let command = super::args::command();
    let name = NAME.to_uppercase();
    let mut page = format!(
        ".TH {name} 1 {DATE} \"{NAME} {}\" \"User Commands\"\n.ad l\n.nh{BEFORE_OPTIONS}",
        env!("CARGO_PKG_VERSION")
    );
    let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    page += &paragraphs(&about, ".PP");
    page += ".SH OPTIONS\n";
    let mut heading = None;
    for option in command.get_arguments() {
        if option.get_help_heading() != heading {
            heading = option.get_help_heading();
            page += &format!(".SS {}\n", heading.unwrap_or_default());
        }
        page += &format!(".TP\n{}\n", names(option));
        let help = option.get_long_help().or(option.get_help()).map(ToString::to_string);
        page += &paragraphs(&help.unwrap_or_default(), ".IP");
    }
    page += AFTER_OPTIONS.trim_start();
    page += ".SH EXAMPLES\n";
    for (words, what) in EXAMPLES {
        let words: Vec<String> = words.split(' ').map(escaped_roff).collect();
        page += &format!(".TP\n.B {} {}\n{}.\n", escaped_roff(NAME), words.join(" "), escaped_roff(what));
    }
    page += SEE_ALSO.trim_start();
    page.into_bytes()
}

/// Returns the names of an option and of its value, in bold and in italics.
fn names(option: &Arg) -> String {
    let [short, long] = [
        option.get_short().map(|short| format!("-{short}")),
        option.get_long().map(|long| format!("--{long}")),
    ];
    let names: Vec<_> =
        short.into_iter().chain(long).map(|name| format!("\\fB{}\\fR", escaped_roff(&name))).collect();
    let value =
        option.get_value_names().filter(|_| option.is_positional() || option.get_action().takes_values());
    let value = value.map(|names| format!("\\fI{}\\fR", names.join(" "))).unwrap_or_default();
    let is_optional = option.get_num_args().is_some_and(|number| number.min_values() == 0);
    match (names.is_empty(), value.is_empty(), is_optional) {
        (true, ..) => value,
        (_, true, _) => names.join(", "),
        (_, _, true) if option.is_require_equals_set() => format!("{}[={value}]", names.join(", ")),
        (_, _, true) => format!("{} [{value}]", names.join(", ")),
        (_, _, false) => format!("{} {value}", names.join(", ")),
    }
}

/// The most bytes of a line of roff.
const ROFF_LINE: usize = 80;

/// Returns paragraphs in roff, with `between` between two. A sentence begins a line, and no line is
/// long.
fn paragraphs(text: &str, between: &str) -> String {
    let mut lines = String::new();
    for (number, paragraph) in text.split("\n\n").enumerate() {
        if number > 0 {
            lines += &format!("{between}\n");
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let word = escaped_roff(word);
            let is_new = line.ends_with(['.', '?']) || line.ends_with(".)");
            if !line.is_empty() && (is_new || line.len() + 1 + word.len() > ROFF_LINE) {
                lines += &format!("{line}\n");
                line.clear();
            }
            line = if line.is_empty() { word } else { format!("{line} {word}") };
        }
        lines += &format!("{line}\n");
    }
    lines
}

/// Returns a word that roff prints as it is.
fn escaped_roff(word: &str) -> String {
    let word = word.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
    let word = word.replace('^', "\\(ha").replace('~', "\\(ti");
    if word.starts_with('.') { format!("\\&{word}") } else { word }
}
