//! Tests of the command line as scripts see it: exit status, streams, JSON.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::terminal::Typist;
use crate::{program, require};
use program::{
    NEVER, body, check_pair, check_secret, command, comment, derived, executable, names, objects, of_type,
    positive, program, public_line, run, start, succeed, text, whole,
};
use tempfile::TempDir;
use vanity_search::engine::{EngineOptions, Listed, list};

#[test]
fn a_request_that_contradicts_itself_is_refused() {
    let directory = TempDir::new().unwrap();
    for (args, complaint) in [
        (&["--nonsense", "ab"][..], "there is no option --nonsense"),
        (&["--prefix", "--suffix", "ab"], "--prefix cannot be used with --suffix"),
        (&["--leet", "--regex", "ab"], "--leet cannot be used with --regex"),
        (&["-o", "x", "-d", "y", "ab"], "--output cannot be used with --output-dir"),
        (&["-o", "x", "-n", "2", "ab"], "--output names one file, but you asked for 2 keys"),
        (&["-o", "x", "ab", "cd"], "--output names one file, but you asked for 2 keys"),
        (&[], "no pattern was given"),
    ] {
        let ran = run(program(args).current_dir(&directory));
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(complaint), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_timeout_ends_the_search_with_status_3() {
    let began = Instant::now();
    let ran = run(&mut program(&["-t", "1", "--timeout", "1s", "--json", NEVER]));
    let took = began.elapsed();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("time limit reached: 0 of 1 key found"), "{}", ran.stderr);
    let objects = objects(&ran.stdout);
    let summary = objects.last().unwrap();
    assert_eq!(text(summary, "type"), "summary");
    assert_eq!(text(summary, "reason"), "timeout");
    assert_eq!(whole(summary, "found"), 0);
    assert!(whole(summary, "attempts") >= 1);
    // The limit is that of the whole command, and a search is shorter.
    assert!(took >= Duration::from_secs(1) && positive(summary, "seconds") <= took.as_secs_f64(), "{took:?}");
    assert_eq!(of_type(&objects, "found").len(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_stdout_is_reported_as_an_error() {
    for args in [
        &["--estimate", "-t", "1", "--engine", "reference", "ab"][..],
        &["--bench", "0.1", "--engine", "reference", "ab"],
        &["--man"],
        &["--completions", "bash"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = run(program(args).stdout(full));
        assert_eq!(ran.status, Some(1), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("error: cannot write to stdout: "), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn stdout_is_only_the_key_if_no_file_is_named() {
    for args in [&["abc"][..], &["-o", "-", "abc"]] {
        let ran = succeed(&mut program(args));
        // This panics unless stdout is three lines of PEM.
        let key = derived(&ran.stdout);
        let line = public_line(&ran.stderr);
        assert_eq!(line, key.line("abc"));
        assert!(body(line).to_lowercase().contains("abc"), "{line}");
        assert!(ran.stderr.contains(&key.fingerprint()), "{}", ran.stderr);
        assert!(ran.stderr.contains(" keys tried in "), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\x1b') && !ran.stderr.contains('\r'), "{:?}", ran.stderr);
        assert!(!ran.stderr.contains(ran.stdout.lines().nth(1).unwrap()), "{}", ran.stderr);
        assert!(!ran.stderr.contains("PRIVATE KEY"), "{}", ran.stderr);
    }
}

#[test]
fn stdout_is_only_the_public_line_if_the_key_goes_to_a_file() {
    let directory = TempDir::new().unwrap();
    let private = directory.path().join("id_x");
    let ran = succeed(program(&["abc", "-o"]).arg(&private));
    let line = check_pair(&private);
    assert_eq!(ran.stdout, format!("{line}\n"));
    assert!(ran.stderr.contains(" SHA256:"), "{}", ran.stderr);
    assert!(ran.stderr.contains(private.to_str().unwrap()), "{}", ran.stderr);
    check_secret(&ran, &fs::read_to_string(&private).unwrap());
}

/// Such words are searched for all the same.
#[test]
fn a_word_that_looks_like_a_command_gets_a_note() {
    for (args, note) in [
        (&["help"][..], "note: searching for the text 'help'; --help prints the help\n"),
        (
            &["--estimate", "find"],
            "note: searching for the text 'find'; the program has options, but no commands\n",
        ),
        (
            &["--estimate", "version"],
            "note: searching for the text 'version'; --version prints the version\n",
        ),
        (
            &["--estimate", "/tmp/id"],
            "note: searching for the text '/tmp/id'; -o /tmp/id writes the key to that file\n",
        ),
        (
            &["--estimate", "--regex", "/foo/i"],
            "note: the slashes are searched for, too; without them: --regex foo\n",
        ),
        (&["--estimate", "/bob/"], ""),
        (&["--estimate", "--regex", "[/+]bob[/+]"], ""),
    ] {
        let quick: &[&str] =
            if args.contains(&"--estimate") { &["-t", "1", "--engine", "reference"] } else { &[] };
        let ran = succeed(program(args).args(quick));
        let notes: String = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("note:"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(notes, note, "{args:?}");
    }
    let quiet = succeed(&mut program(&["-q", "help"]));
    assert!(
        quiet.stdout.starts_with("-----BEGIN PRIVATE KEY-----\n") && quiet.stderr.is_empty(),
        "{quiet:?}"
    );
}

#[test]
fn quiet_leaves_stderr_empty() {
    let directory = TempDir::new().unwrap();
    assert_eq!(succeed(&mut program(&["-q", "ab"])).stderr, "");
    assert_eq!(succeed(&mut program(&["-q", "--json", "ab"])).stderr, "");
    let ran = succeed(program(&["--quiet", "ab", "-o"]).arg(directory.path().join("id_x")));
    assert_eq!(ran.stderr, "");
    // Errors are printed in spite of `--quiet`.
    let ran = run(program(&["--quiet", "ab", "-o"]).arg(directory.path().join("id_x")));
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("already exists"), "{ran:?}");
}

#[test]
fn json_prints_every_object_in_order() {
    let ran = succeed(&mut program(&["--json", "-n", "3", "-t", "2", "ab", "+a"]));
    let objects = objects(&ran.stdout);
    let order: Vec<&str> = objects.iter().map(|object| text(object, "type")).collect();
    let found = of_type(&objects, "found");
    assert_eq!(order[..3], ["estimate", "estimate", "found"]);
    assert!(order[2..order.len() - 1].iter().all(|name| *name == "found"), "{order:?}");
    assert_eq!(order[order.len() - 1], "summary");

    for (object, pattern) in objects.iter().zip(["ab", "+a"]) {
        assert_eq!(text(object, "pattern"), pattern);
        let probability = positive(object, "probability");
        assert!(probability < 1.0, "{object}");
        assert!((positive(object, "expected_attempts") * probability - 1.0).abs() < 1e-9, "{object}");
        assert!(positive(object, "seconds_50") < positive(object, "seconds_95"), "{object}");
    }
    let summary = objects.last().unwrap();
    for object in &found {
        let private = text(object, "private_key");
        let key = derived(private);
        let line = text(object, "public_key");
        assert_eq!(line, key.line(text(object, "pattern")));
        assert!(body(line).to_lowercase().contains(text(object, "pattern")), "{object}");
        assert_eq!(text(object, "fingerprint"), key.fingerprint());
        assert!((1..=whole(summary, "attempts")).contains(&whole(object, "attempts")), "{object}");
        assert!(positive(object, "seconds") <= positive(summary, "seconds"), "{object}");
        assert!(object.get("private_key_file").is_none(), "{object}");
        let seed = private.lines().nth(1).unwrap();
        assert!(!ran.stderr.contains(seed) && !ran.stderr.contains("PRIVATE KEY"), "{}", ran.stderr);
    }
    assert_eq!(whole(summary, "found"), found.len() as u64);
    assert_eq!(whole(summary, "threads"), 2);
    assert_eq!(text(summary, "reason"), "complete");
    let engine = text(summary, "engine");
    assert!(list().any(|one| one.name() == engine), "{summary}");
    let rate = whole(summary, "attempts") as f64 / positive(summary, "seconds");
    assert!((positive(summary, "keys_per_second") / rate - 1.0).abs() < 0.01, "{summary}");
}

#[test]
fn json_with_a_file_holds_no_secret() {
    let directory = TempDir::new().unwrap();
    for (name, option) in [("id_x", "-o"), ("key.pem", "-o"), ("key.ppk", "-o"), ("keys", "-d")] {
        let path = directory.path().join(name);
        let ran = succeed(program(&["--json", "ab", option]).arg(&path));
        let objects = objects(&ran.stdout);
        let found = of_type(&objects, "found");
        assert_eq!(found.len(), 1, "{}", ran.stdout);
        assert!(found[0].get("private_key").is_none(), "{}", ran.stdout);
        let private = Path::new(text(found[0], "private_key_file"));
        assert!(private == path || private.parent() == Some(&path), "{}", ran.stdout);
        assert_eq!(check_pair(private), text(found[0], "public_key"));
        check_secret(&ran, &fs::read_to_string(private).unwrap());
    }
}

/// A short search has no rate, encryption does not count, and the finds of a batch have no attempts,
/// because they do not come in that order.
#[test]
fn no_number_misleads() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("secret"), "correct horse\n").unwrap();
    let stderr = |args: &[&str]| succeed(program(args).current_dir(&directory)).stderr;
    let tried = |stderr: &str| stderr.lines().find(|line| line.contains(" tried in ")).unwrap().to_owned();
    let short = stderr(&["-o", "one", "ab"]);
    assert!(short.contains("\nfound ab") && !tried(&short).contains("keys/s"), "{short}");
    let rounds = ["--passphrase-file", "secret", "--rounds", "150", "-o", "two", "ab"];
    let encrypted = tried(&stderr(&rounds));
    assert!(!encrypted.contains("keys/s") && encrypted.contains(" ms ("), "{encrypted}");
    let batch = stderr(&["-d", "keys", "-n", "3", "ab"]);
    for line in [" (1 of 3): SHA256:", " (2 of 3): SHA256:", " (3 of 3): SHA256:"] {
        assert!(batch.contains(line), "{batch}");
    }
    let long = run(program(&["-t", "1", "--timeout", "2s", NEVER]).current_dir(&directory)).stderr;
    assert!(tried(&long).contains(" keys/s ("), "{long}");
    assert!(long.contains("\nsearches have no progress to lose; just run it again\n"), "{long}");
}

#[test]
fn an_estimate_searches_nothing() {
    let ran =
        succeed(&mut program(&["--estimate", "-t", "1", "--engine", "reference", "--json", NEVER, "ab"]));
    let objects = objects(&ran.stdout);
    assert_eq!(objects.len(), 2);
    for (object, pattern) in objects.iter().zip([NEVER, "ab"]) {
        assert_eq!((text(object, "type"), text(object, "pattern")), ("estimate", pattern));
    }
    let ran = succeed(&mut program(&["--estimate", "-t", "1", "--engine", "reference", NEVER]));
    assert!(ran.stdout.starts_with(&format!("{NEVER}: 1 in ")), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[test]
fn the_fixed_beginning_needs_no_pattern() {
    let ran = succeed(&mut program(&["--estimate", "-t", "1", "--engine", "reference", "AAAAalice"]));
    let note = "which needs no pattern; `alice` alone is faster to find";
    assert!(ran.stderr.starts_with("note: every key text begins with AAAAC3Nza"), "{}", ran.stderr);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    // Fingerprints have no such beginning.
    for args in [
        &["--estimate", "-t", "1", "--engine", "reference", "alice"][..],
        &["--estimate", "-t", "1", "--engine", "reference", "--in", "fingerprint", "AAAAalice"],
    ] {
        assert_eq!(succeed(&mut program(args)).stderr, "", "{args:?}");
    }
}

#[test]
fn bench_measures_every_engine() {
    let ran =
        succeed(&mut program(&["--bench", "0.1", "--json", "--threads", "1", "--table-memory", "16KiB"]));
    let objects = objects(&ran.stdout);
    let engines: Vec<&str> = objects.iter().map(|object| text(object, "engine")).collect();
    let available = require::engines(EngineOptions::for_attempts(0.0));
    assert_eq!(engines, available.iter().map(|engine| engine.name()).collect::<Vec<_>>());
    for object in &objects {
        assert_eq!(text(object, "type"), "bench");
        assert_eq!(whole(object, "threads"), 1);
        positive(object, "keys_per_second");
        if positive(object, "ratio") != 1.0 {
            assert_ne!(text(object, "engine"), "reference");
        }
    }
    assert!(engines.contains(&"reference"), "{engines:?}");

    // The fastest of the tables that fit is chosen. Smaller ones than the first may win.
    let args = ["--bench", "0.1", "--json", "--engine", "portable", "-t", "1", "--table-memory", "1MiB"];
    let tuning = &program::objects(&succeed(&mut program(&args)).stdout)[0]["tuning"];
    assert!(
        whole(tuning, "windows") >= 24 && (1..=1 << 20).contains(&whole(tuning, "table_bytes")),
        "{tuning}"
    );
    assert!(whole(tuning, "batch_keys") > 0 && whole(tuning, "prefetch_vectors") > 0, "{tuning}");

    let args = ["--bench", "0.1", "--engine", "portable", "-t", "2", "--table-memory", "16KiB"];
    let ran = succeed(&mut program(&args));
    assert_eq!(ran.stderr, "measures 2 engines, about 1 s\n");
    let table: Vec<&str> = ran.stdout.lines().collect();
    let [title, portable, reference, sentence] = table[..] else { panic!("{}", ran.stdout) };
    assert!(table[..3].iter().all(|line| line.len() <= 80), "{}", ran.stdout);
    assert_eq!(title, "engine         keys per second   times reference   in five rounds");
    assert!(portable.starts_with("portable  ") && reference.starts_with("reference  "), "{}", ran.stdout);
    assert!(reference.ends_with(" 1.00   1.00 to 1.00"), "{}", ran.stdout);
    let rate = portable.split_whitespace().nth(1).unwrap();
    assert!(sentence.starts_with("portable is ") && sentence.contains(" times as fast as reference ("));
    assert!(sentence.ends_with(&format!("): {rate} keys/s with 2 threads")), "{}", ran.stdout);

    // Only results remain with --quiet.
    let args = ["-q", "--bench", "0.1", "--engine", "reference", "-t", "1"];
    let ran = succeed(&mut program(&args));
    assert_eq!((ran.stderr.as_str(), ran.stdout.lines().count()), ("", 2));
}

#[test]
fn bench_shows_on_a_terminal_how_far_it_is() {
    let Some(script) = require::tool("script") else { return };
    let directory = TempDir::new().unwrap();
    let line = "$P --bench 0.5 --engine reference -t 1";
    let (status, shown) = Typist::start(&script, directory.path(), line).end();
    assert_eq!(status, Some(0), "{shown}");
    let order = ["measures 1 engine, about 1 s", "measuring reference, round 1 of 5", "engine  "];
    let at: Vec<usize> = order.iter().map(|text| shown.find(text).expect(text)).collect();
    assert!(at.is_sorted(), "{shown}");
}

#[test]
fn a_signal_ends_bench() {
    let mut command_line = program(&["--bench", "30s", "--engine", "reference", "-t", "1"]);
    let mut running = start(command_line.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut begin = [0; 8];
    running.stderr.as_mut().unwrap().read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"measures");
    std::thread::sleep(std::time::Duration::from_millis(300));
    succeed(command("kill").args(["-TERM", &running.id().to_string()]));
    let ran = running.end();
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(143), ""));
}

/// Takes the instruction sets away one after the other. `auto` then chooses the next engine, and
/// that engine finds keys with any memory for its tables.
#[test]
fn every_engine_that_auto_chooses_finds_keys() {
    let ladder = [
        ("avx512ifma", ""),
        ("avx512f", "avx512ifma"),
        ("avxifma", "avx512ifma,avx512f"),
        ("avx2", "avx512ifma,avx512f,avxifma"),
        ("neon", ""),
        ("neon", "sha3"),
        ("portable", "avx512ifma,avx512f,avx2,neon"),
        ("portable", "avx512ifma,avx512f,avx2,bmi2,adx,neon"),
    ];
    let there: Vec<&str> =
        require::engines(EngineOptions::for_attempts(0.0)).iter().map(|engine| engine.name()).collect();
    for (engine, without) in ladder.into_iter().filter(|(engine, _)| there.contains(engine)) {
        for memory in ["16KiB", "64KiB", "1MiB", "30MB"] {
            let args = ["--json", "--table-memory", memory, "-n", "3", "abc"];
            let ran = succeed(program(&args).env("VANITY_WITHOUT", without));
            let objects = objects(&ran.stdout);
            assert_eq!(objects.len(), 5, "{}", ran.stdout);
            let summary = &objects[4];
            assert_eq!(
                (text(summary, "type"), text(summary, "engine")),
                ("summary", engine),
                "without {without}"
            );
        }
        let masked = program(&["--version"]).env("VANITY_WITHOUT", without).output().unwrap();
        let features = String::from_utf8(masked.stdout).unwrap();
        for set in without.split(',').filter(|set| !set.is_empty()) {
            assert!(!features.lines().last().unwrap().split(' ').any(|feature| feature == set), "{features}");
        }
    }
}

#[test]
fn the_version_names_engines_and_processor() {
    let long = succeed(&mut program(&["--version"])).stdout;
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], concat!("vanity-ed25519 ", env!("CARGO_PKG_VERSION")));
    let [run, others] = ["engines:", "not on this machine:"].map(|heading| {
        let line = lines.iter().find_map(|line| line.strip_prefix(heading)).unwrap();
        line.split_whitespace().collect::<Vec<_>>()
    });
    let built: BTreeSet<&str> = list().filter(|engine| engine.is_built()).map(Listed::name).collect();
    assert_eq!(run.iter().chain(&others).copied().collect::<BTreeSet<_>>(), built);
    assert_eq!(built.contains("neon"), cfg!(target_arch = "aarch64"));
    let can_run = run.iter().copied().filter(|name| *name != "gpu");
    let available = require::engines(EngineOptions::for_attempts(0.0));
    let available = available.iter().map(|engine| engine.name()).filter(|name| *name != "gpu");
    assert_eq!(can_run.collect::<Vec<_>>(), available.collect::<Vec<_>>());
    let features = ed25519_batch::simd::detected().join(" ");
    assert_eq!(lines[3].trim_end(), format!("processor: {} {features}", std::env::consts::ARCH).trim_end());
    assert_eq!(lines.len(), 4);
    assert_eq!(succeed(&mut program(&["-V"])).stdout, format!("{}\n", lines[0]));
}

/// Returns every `--option` that begins an entry of the help text.
fn long_options(help: &str) -> Vec<String> {
    let heads = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    let long = |line: &str| {
        let start = line.find("--")?;
        let name = line[start..].split(|c: char| c != '-' && !c.is_ascii_lowercase()).next()?;
        Some(name.to_owned())
    };
    heads.filter_map(long).collect()
}

#[test]
fn help_and_manual_list_every_option() {
    let long = succeed(&mut program(&["--help"]));
    let short = succeed(&mut program(&["-h"]));
    assert_eq!((long.stderr.as_str(), short.stderr.as_str()), ("", ""));
    assert!(short.stdout.len() < long.stdout.len());

    let options = long_options(&long.stdout);
    assert_eq!(options, long_options(&short.stdout));
    assert!(options.len() > 20, "{options:?}");
    for option in ["--patterns", "--output-dir", "--case-sensitive", "--estimate", "--help", "--man"] {
        assert!(options.iter().any(|known| known == option), "{option} is not in {options:?}");
    }

    let manual = succeed(&mut program(&["--man"])).stdout;
    assert!(manual.starts_with(".TH VANITY-ED25519 1 "), "{manual}");
    for section in ["SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"] {
        assert!(manual.contains(&format!("\n.SH {section}\n")), "{manual}");
    }
    if let Some(mandoc) = require::tool("mandoc") {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("vanity-ed25519.1");
        fs::write(&file, &manual).unwrap();
        let found = run(command(mandoc).args(["-T", "lint", "-W", "all"]).arg(&file));
        assert_eq!((found.status, found.stdout.as_str()), (Some(0), ""), "{found:?}");
    }
    let manual = manual.replace("\\-", "-");
    for option in options {
        assert!(manual.contains(&format!("\\fB{option}\\fR")), "{option} is not in the manual");
    }
}

/// docs/platforms.md says where.
#[test]
#[cfg(target_os = "linux")]
fn man_finds_the_page() {
    let Some(man) = require::tool("man") else { return };
    let directory = TempDir::new().unwrap();
    let [bin, pages] = [".local/bin", ".local/share/man/man1"].map(|name| directory.path().join(name));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&pages).unwrap();
    let page = pages.join("vanity-ed25519.1");
    fs::write(&page, succeed(&mut program(&["--man"])).stdout).unwrap();
    let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let found =
        succeed(command(man).args(["-w", "vanity-ed25519"]).env("PATH", path).env("HOME", directory.path()));
    assert_eq!(found.stdout.trim_end(), page.to_str().unwrap());
}

/// A terminal of the usual width breaks no line of the short help.
#[test]
fn the_short_help_fits_80_columns() {
    let Some(script) = require::tool("script") else { return };
    let line = format!("stty cols 80 rows 24; exec '{}' --color never -h", executable());
    let ran = run(command(script).args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/sh"));
    let lines: Vec<&str> = ran.stdout.lines().map(|line| line.trim_end_matches('\r')).collect();
    for line in &lines {
        assert!(line.chars().count() <= 80, "{line}");
        // A line that was broken begins below the text of the one above it.
        let begins = ["", "  -", "      --", "  vanity-ed25519 ", "  [PATTERN]...", "  0 all", "  128"];
        let is_whole = begins
            .iter()
            .any(|begin| line.starts_with(begin) && (!begin.is_empty() || !line.starts_with(' ')));
        assert!(is_whole, "{line}");
    }
    let after = |heading: &str| &lines[lines.iter().position(|line| *line == heading).unwrap() + 1..];
    let pattern = after("What to look for:")[0];
    assert!(pattern.starts_with("  [PATTERN]...") && pattern.contains("the body: "), "{pattern}");
    let examples = after("Examples:");
    assert!(!examples[1].contains(".pem"), "{examples:?}");
    for option in [" --prefix ", " --suffix ", " -s ", " --word ", " --regex "] {
        assert!(examples.iter().any(|line| line.contains(option)), "{option}: {examples:?}");
    }
    // The program accepts every example.
    for example in examples.iter().map_while(|line| line.strip_prefix("  vanity-ed25519 ")) {
        let words = example.split("  ").next().unwrap().replace(" --estimate", "").replace(" > key.pem", "");
        succeed(
            command("sh")
                .args(["-c", &format!("exec '{}' --estimate -t 1 --engine reference {words}", executable())]),
        );
    }
}

#[test]
fn real_shells_accept_the_completions() {
    let directory = TempDir::new().unwrap();
    // Fish has a value per line, and the others have them in one.
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed(&mut program(&["--completions", shell])).stdout;
        assert!(script.replace("\\t''\n", " ").contains("auto gpu avx512ifma "), "{shell}: {script}");
        assert!(!script.contains("@OPTIONS@"), "{shell}: {script}");
        // With these, bash goes into directories, and takes names with blanks.
        assert_eq!(script.matches("compopt -o filenames").count(), if shell == "bash" { 5 } else { 0 });
    }
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = succeed(&mut program(&["--completions", shell]));
        assert!(script.stdout.contains("--output-dir") || script.stdout.contains("output-dir"), "{shell}");
        assert_eq!(script.stderr, "");
        let file = directory.path().join(shell);
        fs::write(&file, script.stdout).unwrap();
        let Some(tool) = require::tool(shell) else { continue };
        let ran = succeed(command(tool).arg(check).arg(&file));
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{shell}");
    }
}

/// What a shell must offer after a command line: options, values, files, directories or nothing.
const OFFERED: [(&str, &str); 15] = [
    ("--output-", "--output-dir"),
    ("--format ", "openssh pkcs8 ppk"),
    ("--in ", "fingerprint key"),
    ("--cipher ", "aes256-ctr aes256-gcm"),
    ("--progress ", "auto json off"),
    ("--color a", "always auto"),
    ("--engine p", "portable"),
    ("--engine=p", "portable"),
    ("--color=a", "always auto"),
    ("--format=", "openssh pkcs8 ppk"),
    ("-o af", "afile"),
    ("--passphrase-file af", "afile"),
    ("-d a", "adir"),
    ("--count a", ""),
    ("--prefix a", ""),
];

const BASH: &str = r#"
    source ./vanity-ed25519
    set -- $(complete -p vanity-ed25519)
    while [ "$1" != -F ]; do shift; done
    function=$2
    compopt() { [ "$2" != plusdirs ] || COMPREPLY=($(compgen -d "$cur")); }
    while IFS= read -r line; do
        # As readline has it, `=` is a word.
        IFS=' ' read -ra COMP_WORDS <<< "vanity-ed25519 ${line/=/ = }|"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        cur=${COMP_WORDS[COMP_CWORD]%|}
        COMP_WORDS[COMP_CWORD]=$cur
        "$function" vanity-ed25519 "$cur" "${COMP_WORDS[COMP_CWORD - 1]}"
        # A shell does not offer what is typed already.
        echo "${COMPREPLY[@]}" | sed "s|^$cur$||"
    done"#;

const FISH: &str = "
    source vanity-ed25519.fish
    while read --delimiter \\n line
        echo (complete -C \"vanity-ed25519 $line\" | string split --fields 1 \\t)
    end";

/// Zsh completes only in a terminal. What it lists comes after the code that clears the rest of it.
const ZSH: &str = r#"
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1='' PROMPT=''; stty cols 200; fpath=($PWD \$fpath); autoload -U compinit && compinit -D -u
        zstyle ':completion:*' verbose false; setopt no_beep; bindkey '^I' list-choices
        listed() { print -n LIS''TED }; zle -N listed; bindkey '^O' listed; echo RE''ADY"
    while zpty -r shell text; do [[ $text != *READY* ]] || break; done
    while IFS= read -r line; do
        zpty -w -n shell $'\x15'"vanity-ed25519 $line"$'\t\x0f'
        listed=""
        until [[ $listed = *LISTED ]]; do zpty -r shell text $'*[\n\r\aD]'; listed+=$text; done
        listed=${${listed%LISTED}##*$'\e[J'}
        print -r -- ${${listed%%$'\e'*}//[^[:print:]]/ }
    done"#;

/// Elvish has its completer only in a terminal, where this file is read first.
const ELVISH: &str = "
    use str
    eval (slurp < vanity-ed25519.elv)
    from-lines < lines | each {|line|
        var words = [(str:split ' ' $line)]
        var seed = $words[-1]
        var offered = [($edit:completion:arg-completer[vanity-ed25519] vanity-ed25519 $@words | each {|one|
            if (eq (kind-of $one) string) { put $one } else { put $one[stem] }
        })]
        echo ':' (str:join ' ' [(each {|one| if (str:has-prefix $one $seed) { put $one } } $offered)])
    }
    exit";

/// Loads the scripts under the names that the shells look for, and lets them complete.
#[test]
fn real_shells_complete_options_values_and_files() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("afile"), "").unwrap();
    fs::create_dir(at("adir")).unwrap();
    let lines: String = OFFERED.iter().map(|(line, _)| format!("{line}\n")).collect();
    fs::write(at("lines"), &lines).unwrap();
    fs::write(at("rc.elv"), ELVISH).unwrap();
    let elvish = "elvish -rc rc.elv";
    for (shell, file, args) in [
        ("bash", "vanity-ed25519", &["--norc", "--noprofile", "-c", BASH][..]),
        ("zsh", "_vanity-ed25519", &["-f", "-c", ZSH]),
        ("fish", "vanity-ed25519.fish", &["--no-config", "-c", FISH]),
        ("elvish", "vanity-ed25519.elv", &["-qec", elvish, "/dev/null"]),
    ] {
        let script = succeed(&mut program(&["--completions", shell])).stdout;
        fs::write(at(file), script).unwrap();
        let Some(mut tool) = require::tool(shell) else { continue };
        if shell == "elvish" {
            let Some(script) = require::tool("script") else { continue };
            tool = script;
        }
        let mut command = command(tool);
        let input = File::open(at("lines")).unwrap();
        let ran = run(command.args(args).current_dir(&directory).env("HOME", directory.path()).stdin(input));
        assert_eq!(ran.status, Some(0), "{shell}: {ran:?}");
        let answers: Vec<String> = ran
            .stdout
            .lines()
            .filter_map(|line| if shell == "elvish" { line.strip_prefix(": ") } else { Some(line) })
            .map(|line| {
                // Some offer the value alone, and some the whole word.
                let value =
                    |word: &str| word.rsplit('=').next().unwrap_or_default().trim_end_matches('/').to_owned();
                let mut words: Vec<String> = line.split_whitespace().map(value).collect();
                words.sort_unstable();
                words.join(" ")
            })
            .collect();
        assert_eq!(answers.len(), OFFERED.len(), "{shell}: {ran:?}");
        for ((line, expected), answer) in OFFERED.iter().zip(&answers) {
            // Elvish cannot be told to offer directories alone, and offers options for patterns.
            let is_expected = match *line {
                "-d a" if shell == "elvish" => answer == "adir afile",
                _ => answer == expected,
            };
            assert!(is_expected, "{shell}: '{line}' is completed by '{answer}', not by '{expected}'");
        }
    }
}

#[test]
fn the_color_option_decides_about_colors() {
    let always = succeed(&mut program(&["--color", "always", "ab"]));
    assert!(always.stderr.contains("\x1b["), "{:?}", always.stderr);
    // Stdout has no colors even then, because other programs read it.
    assert!(!always.stdout.contains('\x1b'), "{:?}", always.stdout);
    let json = succeed(&mut program(&["--color", "always", "--json", "ab"]));
    assert!(!json.stdout.contains('\x1b'), "{:?}", json.stdout);
    for args in [&["ab"][..], &["--color", "never", "ab"]] {
        let ran = succeed(&mut program(args));
        assert!(!ran.stderr.contains('\x1b') && !ran.stdout.contains('\x1b'), "{args:?}: {ran:?}");
    }
}

#[test]
fn closed_streams_cause_no_panic() {
    for (redirection, status) in [("<&-", 0), ("2>&-", 0), ("<&- 2>&-", 0), (">&-", 2), ("<&- >&- 2>&-", 2)] {
        let script = format!("exec \"$0\" ab {redirection}");
        let ran = run(command("sh").arg("-c").arg(script).arg(executable()));
        assert_eq!(ran.status, Some(status), "{redirection}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{redirection}: {ran:?}");
        if status == 0 {
            derived(&ran.stdout);
        }
    }
}

#[test]
fn a_search_whose_key_would_go_nowhere_is_refused() {
    let directory = TempDir::new().unwrap();
    let shell = |args: &str| {
        let script = format!("exec \"$0\" {args}");
        run(command("sh").args(["-c", &script, executable()]).current_dir(&directory))
    };
    for args in ["ab >&-", "ab > /dev/null", "-q --json ab > /dev/null", "-o - ab >&-", "ab 1< /dev/null"] {
        let ran = shell(args);
        assert_eq!(ran.status, Some(2), "{args}: {ran:?}");
        let expected =
            "error: stdout is closed or the null device: the private key would be lost\nhint: --output PATH ";
        assert!(ran.stderr.starts_with(expected), "{args}: {}", ran.stderr);
    }
    // Stdout may go nowhere if the private key goes to a file, or if there is none.
    for args in [
        "ab -o one >&-",
        "--json ab -d keys > /dev/null",
        "--estimate --engine reference ab > /dev/null",
        "--bench 0.1 --engine reference -t 1 >&-",
        "--help >&-",
    ] {
        let ran = shell(args);
        assert_eq!(ran.status, Some(0), "{args}: {ran:?}");
    }
    check_pair(&directory.path().join("one"));
    assert_eq!(names(&directory.path().join("keys")).len(), 3);
}

/// A stdout that takes nothing is refused, whatever the search is, and its command does not run. Nothing else
/// takes a write that failed for a success.
#[test]
#[cfg(target_os = "linux")]
fn a_stdout_that_cannot_be_written_is_never_a_success() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("file"), "old").unwrap();
    let shell = |script: &str| run(command("sh").args(["-c", script, executable()]).current_dir(&directory));
    for (stdout, problem) in [
        ("1< file", "is open for reading only"),
        ("1< .", "is open for reading only"),
        ("> /dev/full", "is a device that is always full"),
        ("> /dev/zero", "is a device that keeps nothing"),
        ("> /dev/urandom", "is a device that keeps nothing"),
    ] {
        let error = format!("error: stdout {problem}: ");
        for args in ["ab", "--json ab", "-q -o - ab", "-n 2 --exec 'touch ran' ab"] {
            let ran = shell(&format!("exec \"$0\" {args} {stdout}"));
            assert_eq!(ran.status, Some(2), "{args} {stdout}: {ran:?}");
            assert!(ran.stderr.starts_with(&error), "{args} {stdout}: {}", ran.stderr);
            assert!(ran.stderr.contains("\nhint: --output PATH "), "{args} {stdout}: {}", ran.stderr);
        }
        for args in ["-d keys ab", "--json -d keys ab", "-o key --exec 'touch ran' ab"] {
            // A full device fails at the first line, as a full disk does.
            if stdout != "> /dev/full" {
                let ran = shell(&format!("exec \"$0\" {args} {stdout}"));
                assert_eq!(ran.status, Some(2), "{args} {stdout}: {ran:?}");
                assert!(ran.stderr.starts_with(&error), "{args} {stdout}: {}", ran.stderr);
                assert!(ran.stderr.contains("\nhint: write > FILE"), "{args} {stdout}: {}", ran.stderr);
            }
        }
    }
    let pipe = shell("mkfifo pipe; exec 3<> pipe; exec \"$0\" ab 1< pipe");
    assert_eq!(pipe.status, Some(2), "{pipe:?}");
    for args in
        ["--help", "--version", "--man", "--completions bash", "--estimate -t 1 --engine reference ab"]
    {
        let ran = shell(&format!("exec \"$0\" {args} 1< file"));
        assert_eq!(ran.status, Some(1), "{args}: {ran:?}");
        assert!(ran.stderr.contains("error: cannot write to stdout: Bad file descriptor"), "{args}: {ran:?}");
    }
    assert_eq!(names(directory.path()), ["file", "pipe"]);
    assert_eq!(fs::read_to_string(directory.path().join("file")).unwrap(), "old");
}

/// File systems of macOS refuse such names.
#[test]
#[cfg(target_os = "linux")]
fn json_refuses_paths_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = TempDir::new().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    for option in ["-o", "-d"] {
        let search = |json: &[&str]| {
            run(program(&["ab", option]).arg(name).args(json).env("LC_ALL", "C").current_dir(&directory))
        };
        let ran = search(&["--json"]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.starts_with("error: --output"), "{}", ran.stderr);
        assert!(ran.stderr.contains(" 'caf\\xe9' is not UTF-8 text\nhint: "), "{}", ran.stderr);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        let ran = search(&[]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        // The path that is printed leads a shell to the same file, in every locale.
        let shown = ran.stderr.lines().find_map(|line| line.strip_prefix("private key in ")).unwrap();
        let shown = shown.split_once(", public key in ").unwrap().0;
        let cat =
            command("bash").args(["-c", &format!("cat {shown}")]).current_dir(&directory).output().unwrap();
        assert_eq!(ran.stdout.trim_end(), derived(&String::from_utf8(cat.stdout).unwrap()).line("ab"));
        let path = directory.path().join(name);
        if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(&path).and_then(|()| {
                fs::remove_file(directory.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.pub")))
            })
        }
        .unwrap();
    }
}

#[test]
fn patterns_can_come_from_stdin() {
    let mut search = program(&["-f", "-", "--json", "-q"]);
    let mut child = program::start(search.stdin(Stdio::piped()).stdout(Stdio::piped()));
    child.stdin.take().unwrap().write_all(b"# two\nab\n\n  +a  \n").unwrap();
    let ran = child.end();
    assert_eq!(ran.status, Some(0));
    let objects = objects(&ran.stdout);
    let patterns: Vec<&str> =
        of_type(&objects, "estimate").iter().map(|object| text(object, "pattern")).collect();
    assert_eq!(patterns, ["ab", "+a"]);
    for object in of_type(&objects, "found") {
        assert_eq!(comment(text(object, "public_key")), text(object, "pattern"));
    }
}

/// sops splits a public line at commas, asyncssh skips what is not ASCII, and paramiko takes the last byte
/// of some comments for padding.
#[test]
fn a_comment_that_troubles_a_program_is_told_once() {
    let directory = TempDir::new().unwrap();
    let directory = directory.path();
    let note = "note: not every program can use this comment: ";
    for (number, (comment, programs)) in [
        ("me@here", &[][..]),
        ("a # \"b\" 'c'", &[]),
        ("me, here", &["sops"]),
        ("gr\u{f6}\u{df}er", &["asyncssh"]),
        ("xxx\u{e9}", &["asyncssh", "paramiko"]),
        ("x,x\u{e9}", &["sops", "asyncssh", "paramiko"]),
    ]
    .into_iter()
    .enumerate()
    {
        let path = directory.join(number.to_string());
        let ran = succeed(program(&["-C", comment, "-n", "2", "ab", "-d"]).arg(&path));
        assert_eq!(ran.stderr.matches(note).count(), usize::from(!programs.is_empty()), "{}", ran.stderr);
        let told = ran.stderr.lines().find(|line| line.starts_with(note)).unwrap_or_default();
        for program in ["sops", "asyncssh", "paramiko"] {
            assert_eq!(told.contains(program), programs.contains(&program), "{comment}: {told}");
        }
        assert!(ran.stdout.lines().all(|line| self::comment(line) == comment), "{}", ran.stdout);
    }
    let ran = succeed(&mut program(&["--regex", "[ab]{1,2}c?", "--format", "openssh"]));
    assert!(ran.stderr.contains(" _ab__1_2_c_\n") && !ran.stderr.contains(note), "{}", ran.stderr);
    let key = ssh_key::PrivateKey::from_openssh(&ran.stdout).unwrap();
    assert_eq!(key.comment().as_bytes(), b"_ab__1_2_c_");
}
