//! What is generated from the list of options: completion scripts and the manual page.

use clap::{Arg, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::{self, EXAMPLES, NAME};
use crate::words::broken;

/// The scripts of the shells for which clap_complete offers options, but no values.
const ELVISH: &str = include_str!("completions.elv");
const POWER_SHELL: &str = include_str!("completions.ps1");

/// The manual page around what clap knows.
const MANUAL: &str = include_str!("vanity-ed25519.1.in");

/// The most bytes of a line of roff.
const ROFF_LINE: usize = 80;

/// Returns the completion script of a shell. It offers files only where an option takes one, and the
/// values of options that have a list of them.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = match shell {
        // Bash takes `=` for a word of its own.
        Shell::Bash => script.replace(" -o bashdefault -o default", "").replacen(
            "    prev=\"$3\"\n",
            "    prev=\"$3\"\n    [[ \"$prev\" != = ]] || prev=\"${COMP_WORDS[COMP_CWORD - 2]}\"\n",
            1,
        ),
        Shell::Fish => format!("complete -c {NAME} -f\n{script}"),
        Shell::PowerShell => POWER_SHELL.replace("@OPTIONS@", &options()),
        Shell::Elvish => ELVISH.replace("@OPTIONS@", &options()),
        _ => script.into_owned(),
    };
    script.into_bytes()
}

/// Returns a line for each name of each option, with its values or `FILE` and its help, between tabs.
fn options() -> String {
    let lines = args::command().get_opts().flat_map(lines).collect::<Vec<_>>();
    lines.join("\n").replace('\'', "\u{2019}")
}

fn lines(option: &Arg) -> Vec<String> {
    let values = match option.get_value_hint() {
        _ if !option.get_action().takes_values() => String::new(),
        ValueHint::FilePath | ValueHint::DirPath => "FILE".to_owned(),
        _ => values(option).join(" "),
    };
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let short = option.get_short().map(|short| format!("-{short}"));
    let names = short.into_iter().chain(option.get_long().map(|long| format!("--{long}")));
    names.map(|name| format!("{name}\t{values}\t{help}")).collect()
}

/// Returns the names of the values of an option, if they have names.
fn values(option: &Arg) -> Vec<String> {
    let values = option.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    values.map(|value| value.get_name().to_owned()).collect()
}

/// Returns the manual page, in roff.
pub(super) fn manual() -> Vec<u8> {
    let man = Man::new(args::command());
    let (mut description, mut options) = (Vec::new(), Vec::new());
    let rendered = man.render_description_section(&mut description);
    rendered.and_then(|()| man.render_options_section(&mut options)).expect("memory takes all bytes");
    let [description, options] = [description, options].map(|roff| folded(&String::from_utf8_lossy(&roff)));
    let examples = EXAMPLES.lines().filter_map(|line| line.trim().split_once("  "));
    let examples = examples.map(|(words, what)| format!(".TP\n.B {words}\n{}.\n", what.trim()));
    let examples = folded(&examples.collect::<String>().replace('-', "\\-").replace('\'', "\\(aq"));
    let page = MANUAL
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@DESCRIPTION@\n", &description)
        .replace("@OPTIONS@\n", &options.replace(".SH", ".SS"))
        .replace("@EXAMPLES@\n", &examples);
    page.into_bytes()
}

/// Returns roff in which a sentence begins a line, and no line is long. clap_mangen writes a text in one line.
/// groff prints some characters as they are only if they are escaped.
fn folded(roff: &str) -> String {
    let roff = roff.replace("\n\n", "\n.IP\n").replace(". ", ".\n");
    let roff = roff.replace('^', "\\(ha").replace('~', "\\(ti").replace('`', "\\(ga");
    broken(&roff, Some(ROFF_LINE))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Returns the row of an option: its names and value, and the text of `--help`.
    fn row(option: &Arg) -> String {
        let long = option.to_string().replace(['<', '>'], "");
        let long = match long.split_once(' ') {
            Some((name, _)) if !values(option).is_empty() => format!("{name} {}", values(option).join("|")),
            _ => long,
        };
        let short = option.get_short().map_or(String::new(), |short| format!("-{short}, "));
        let [first, more] = [option.get_help(), option.get_long_help()]
            .map(|text| text.map_or(String::new(), |text| text.to_string()));
        let more = more.strip_prefix(&*first).unwrap_or_default().trim();
        let (names, text) = (format!("{short}{long}"), format!("{first}. {more}"));
        format!(
            "| `{}` | {} |",
            names.replace('|', "\\|"),
            text.trim().replace('*', "\\*").replace('|', "\\|")
        )
    }

    /// `SNAPSHOTS=overwrite` writes the table. That run fails, too.
    #[test]
    fn the_reference_has_the_options_and_their_help() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
        let document = fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
        let (before, rest) = document.split_once("| option | meaning |\n| --- | --- |\n").unwrap();
        let (table, after) = rest.split_once("\n\n").unwrap();
        let mut command = args::command();
        command.build();
        let rows: Vec<String> = command.get_arguments().map(row).collect();
        let expected = rows.join("\n");
        if table != expected && std::env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
            let head = &document[before.len()..document.len() - rest.len()];
            fs::write(file, format!("{before}{head}{expected}\n\n{after}")).unwrap();
        }
        assert_eq!(table, expected);
    }
}
