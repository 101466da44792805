//! Hostile files, directories, limits and environments make no difference, or the program refuses
//! them with a reason.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::escaped::check_text;
use crate::{program, require};
use program::{
    LEDGER, NEVER, Ran, at_once, check_pair, command, derived, executable, names, objects, of_type, program,
    run, succeed, text,
};
use tempfile::TempDir;

/// Returns a command that runs a shell script. There `$0` is the program and `$1` is `path`.
fn script(text: &str, path: &Path) -> Command {
    let mut shell = command("bash");
    shell.args(["-c", text, executable()]).arg(path).env_remove("RUST_BACKTRACE");
    shell
}

/// Makes a named pipe.
fn pipe(path: &Path) {
    succeed(command("mkfifo").arg(path));
}

/// Checks that every reported key is whole, and that the program did not panic.
fn check_reported(ran: &Ran) {
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    check_found(ran);
}

/// Checks that every reported key is whole.
fn check_found(ran: &Ran) {
    for object in of_type(&objects(&ran.stdout), "found") {
        assert_eq!(check_pair(Path::new(text(object, "private_key_file"))), text(object, "public_key"));
    }
}

/// Checks that no output of a run can control a terminal.
fn check_printable(ran: &Ran) {
    check_text(&ran.stdout);
    check_text(&ran.stderr);
}

#[test]
fn an_endless_pattern_file_is_refused_in_little_memory() {
    let directory = TempDir::new().unwrap();
    let sparse = directory.path().join("sparse");
    File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
    for (name, input) in [
        ("stdin", "yes | tr -d '\\n' | \"$0\" -f -"),
        ("stdin", "yes regex: | \"$0\" -f -"),
        ("stdin", "head -c 1G /dev/zero | tr '\\0' x | \"$0\" -f -"),
        ("'/dev/zero'", "\"$0\" -f /dev/zero"),
        (&format!("'{}'", sparse.display()), "\"$0\" -f \"$1\""),
    ] {
        let ran = run(&mut script(&format!("ulimit -v 300000; {input}"), &sparse));
        assert_eq!(ran.status, Some(2), "{input}: {ran:?}");
        assert_eq!(ran.stderr.lines().next(), Some(&*format!("error: {name} is larger than 64 MiB")));
    }
}

#[test]
fn expressions_that_need_too_much_are_refused() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("patterns");
    let nested = "regex:((((.{0,40}){0,40}){0,40}){0,40})x\n".repeat(20);
    let many: String = (0..1000).map(|number| format!("regex:[a-m].{{9}}x{number}\n")).collect();
    for (lines, complaint) in [
        (nested, "20 patterns cannot be searched for"),
        (many, ": the expressions up to here need more than 256 MiB"),
    ] {
        fs::write(&file, lines).unwrap();
        let ran = run(program(&["-f"]).arg(&file));
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(complaint), "{}", ran.stderr);
    }
}

#[test]
fn an_empty_or_strange_environment_makes_no_difference() {
    for environment in [
        &[][..],
        &[("HOME", ""), ("TMPDIR", "/nowhere"), ("PATH", "")],
        &[("LC_ALL", "xx_YY.nonsense"), ("LANG", "tr_TR.UTF-8"), ("LANGUAGE", "%s%n")],
        &[("TERM", "nonsense"), ("COLUMNS", "0"), ("LINES", "-1"), ("NO_COLOR", "")],
        &[("RAYON_NUM_THREADS", "0"), ("RUST_MIN_STACK", "1"), ("RUST_BACKTRACE", "full")],
        &[("CLICOLOR_FORCE", "1"), ("VANITY_WITHOUT", ",,nonsense,")],
    ] {
        let directory = TempDir::new().unwrap();
        let mut search = program(&["-n", "3", "abc", "-d", "keys"]);
        search.env_clear().envs(environment.iter().copied()).current_dir(&directory);
        let ran = succeed(&mut search);
        check_printable(&ran);
        assert_eq!(names(&directory.path().join("keys")).len(), 7, "{environment:?}");
    }
}

#[test]
fn a_small_stack_is_enough() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("secret"), "correct horse\n").unwrap();
    fs::write(directory.path().join("patterns"), "abc\nregex:^((a|b)*[c-f]){3}\nprefix:ab\n").unwrap();
    for arguments in [
        "-n 10 abc -d \"$1/keys\"",
        "-f \"$1/patterns\" -d \"$1/patterns-keys\"",
        "--passphrase-file \"$1/secret\" --rounds 1 abc -o \"$1/one\"",
        "--format pkcs8 abcd -o \"$1/other\"",
        "--passphrase-file \"$1/secret\" abc -o \"$1/one.ppk\"",
    ] {
        // A program that is not optimized has larger frames.
        let kibibytes = if cfg!(debug_assertions) && executable() == program::PROGRAM { 512 } else { 128 };
        succeed(&mut script(&format!("ulimit -s {kibibytes}; exec \"$0\" -q {arguments}"), directory.path()));
    }
    check_pair(&directory.path().join("other"));
}

/// The limit of processes does not bind root, and counts those of a user.
#[test]
fn a_search_goes_on_with_the_threads_that_start() {
    if !program::is_root() {
        return;
    }
    let Some(setpriv) = require::tool("setpriv") else { return };
    let directory = TempDir::new().unwrap();
    fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    fs::write(directory.path().join("secret"), "correct horse\n").unwrap();
    for (user, more) in
        [(61_001, ""), (61_002, "--passphrase-file secret --rounds 1 "), (61_003, "--exec true ")]
    {
        // setpriv still may enter root's directories when it starts the program.
        let line = format!(
            "ulimit -u 12; exec {} --reuid={user} --clear-groups \"$0\" -t 32 --json {more}-o {}/id_{user} abc",
            setpriv.display(),
            directory.path().display()
        );
        let mut search = command("bash");
        let ran = succeed(search.args(["-c", &line, executable()]).current_dir(directory.path()));
        if !more.starts_with("--passphrase") {
            check_found(&ran);
        }
        let summary = objects(&ran.stdout).pop().unwrap();
        let threads = summary["threads"].as_u64().unwrap();
        assert!((1..12).contains(&threads), "{ran:?}");
        let note = format!("note: searching with {threads} of 32 threads");
        assert!(ran.stderr.contains(&note), "{ran:?}");
    }
}

#[test]
fn a_scheduler_gives_the_number_of_threads() {
    for (variables, note) in [
        (
            &[("SLURM_CPUS_PER_TASK", "1")][..],
            "note: using 1 thread, as SLURM_CPUS_PER_TASK says; -t N changes it\n",
        ),
        (&[("NCPUS", "1"), ("PBS_JOBID", "7")], "note: using 1 thread, as NCPUS says; -t N changes it\n"),
        (&[("NCPUS", "1")], ""),
        (&[("NSLOTS", "0")], ""),
        (&[("SLURM_CPUS_PER_TASK", "1000000")], ""),
    ] {
        let ran = succeed(program(&["ab", "--json"]).envs(variables.iter().copied()));
        let said = ran.stderr.lines().find(|line| line.starts_with("note: using "));
        assert_eq!(said.map(|line| format!("{line}\n")).unwrap_or_default(), note, "{variables:?}");
        if !note.is_empty() {
            assert_eq!(objects(&ran.stdout).pop().unwrap()["threads"], 1);
        }
    }
}

/// A kind of limit on memory: a shell command that sets one, with MiB for its number.
const MEMORY_LIMITS: [&str; 2] = ["ulimit -v $((MiB * 1024))", "ulimit -d $((MiB * 1024))"];

/// Checks that a search in little memory is refused before it begins, or completes. `arguments` end it
/// with the status `expected`.
fn check_memory(limit: &str, mebibytes: usize, arguments: &str, expected: i32) {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("secret"), "correct horse\n").unwrap();
    let limit = limit.replace("MiB", &mebibytes.to_string());
    let limited = format!("cd \"$1\"; {limit}; ulimit -c 0; exec \"$0\" --json -d \"$1/keys\" {arguments}");
    let ran = run(script(&limited, directory.path()).env("RUST_BACKTRACE", "0"));
    let what = format!("{limit}: {arguments}: {ran:?}");
    if !arguments.contains("secret") {
        check_found(&ran);
    }
    match ran.status {
        Some(2) => {
            assert!(mebibytes < 64 && ran.stderr.contains(" the search needs "), "{what}");
            assert!(!directory.path().join("keys").exists(), "{what}");
        }
        // The loader, or the kernel before it, has no room for the program.
        None | Some(127) => assert!(limit.contains("-v") && mebibytes < 16, "{what}"),
        status => assert_eq!(status, Some(expected), "{what}"),
    }
}

#[test]
fn too_little_memory_is_refused_before_the_search() {
    let cases = [
        (&[4, 12, 16, 20, 24, 64, 200][..], "-t 2 --timeout 300ms -n 20 abcd abcdefghijabcdefghij", 3),
        (&[24, 32, 40], "-t 1 ab --format ppk --passphrase-file secret", 0),
        (&[16, 24], "-t 64 -n 2 ab --rounds 1 --passphrase-file secret", 0),
    ];
    let limits = MEMORY_LIMITS.into_iter().flat_map(|limit| {
        cases.into_iter().flat_map(move |(sizes, arguments, status)| {
            sizes.iter().map(move |mebibytes| (limit, *mebibytes, arguments, status))
        })
    });
    at_once(limits, |(limit, mebibytes, arguments, status)| {
        check_memory(limit, mebibytes, arguments, status)
    });
}

#[test]
fn a_list_that_does_not_fit_into_memory_is_refused() {
    let directory = TempDir::new().unwrap();
    let words: String = (0..150_000).map(|number| format!("{number:06}\n")).collect();
    fs::write(directory.path().join("words"), words).unwrap();
    let expression = |number: usize| format!("regex:a{number:03}.{{2,5}}x[0-9]{{2}}\n");
    fs::write(directory.path().join("expressions"), (0..1000).map(expression).collect::<String>()).unwrap();
    at_once(["words", "expressions"], |list| {
        let limited = format!("cd \"$1\"; ulimit -d 30000; exec \"$0\" -f {list} -d keys");
        let ran = run(&mut script(&limited, directory.path()));
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("error: {list}:")), "{ran:?}");
        assert!(ran.stderr.contains(": with the patterns up to here the search needs "), "{ran:?}");
        assert!(ran.stderr.contains("(RLIMIT_DATA, ulimit -d)"), "{ran:?}");
    });
}

/// Returns the script that makes a control group below this hierarchy's directory with a limit, and
/// joins it.
fn joined(directory: &str, limit: &str, mebibytes: usize) -> String {
    format!(
        "set -e; group={directory}/vanity-ed25519-$$; mkdir $group; trap 'rmdir $group' EXIT
        echo {mebibytes}M > $group/{limit}
        (echo 0 > $group/cgroup.procs; exec \"$0\" \"$@\") || status=$?
        i=0; until rmdir $group; do sleep 0.1; i=$((i + 1)); test $i -lt 50; done 2> /dev/null
        trap - EXIT; exit ${{status:-0}}"
    )
}

#[test]
fn the_memory_limit_of_a_control_group_is_kept() {
    let hierarchies = [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")];
    let in_group = |(directory, limit): (&str, &str), mebibytes, arguments: &[&str]| {
        let script = joined(directory, limit, mebibytes);
        run(command("sh").args(["-c", &script, executable()]).args(arguments))
    };
    let is_there = |kind: &(&str, &str)| in_group(*kind, 500, &["--version"]).status == Some(0);
    let Some(kind) = hierarchies.into_iter().find(is_there) else {
        require::missing("a control group that limits memory");
        return;
    };
    at_once([8, 24, 64, 128], |mebibytes| {
        let ran = in_group(kind, mebibytes, &["-q", "-t", "2", "--timeout", "300ms", NEVER]);
        let expected = if mebibytes == 8 { 2 } else { 3 };
        assert_eq!(ran.status, Some(expected), "{mebibytes} MiB: {ran:?}");
        assert_eq!(ran.stderr.contains(kind.1), expected == 2, "{ran:?}");
    });
}

#[test]
fn neither_proc_nor_sys_nor_a_writable_tmp_is_needed() {
    let Some(unshare) = program::unshare() else { return };
    let text = "set -e; mount -t tmpfs tmpfs /mnt; mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp
        mount -t tmpfs -o ro tmpfs /sys; mount -t tmpfs -o ro tmpfs /proc
        ! touch /tmp/x 2> /mnt/error; test ! -e /proc/self; test ! -e /sys/devices
        \"$0\" -q -n 5 abc -d /mnt/keys > /mnt/lines; \"$0\" -q abcd -o /mnt/key >> /mnt/lines
        cat /mnt/lines; ls /mnt/keys";
    let ran = succeed(command(unshare).args(["-rm", "bash", "-c", text, executable()]));
    assert_eq!(ran.stdout.matches("ssh-ed25519 ").count(), 6, "{ran:?}");
    assert_eq!(ran.stdout.lines().count(), 6 + 11, "{ran:?}");
}

#[test]
fn a_directory_may_be_a_symbolic_link() {
    let outer = TempDir::new().unwrap();
    let path = |name: &str| outer.path().join(name);
    fs::create_dir(path("real")).unwrap();
    symlink("real", path("link")).unwrap();
    succeed(program(&["-q", "-n", "2", "abc", "-d"]).arg(path("link")));
    succeed(program(&["-q", "abc", "-o"]).arg(path("link/key")));
    assert_eq!(names(&path("real")).len(), 2 * 3 + 1);
    assert!(path("link").is_symlink());
}

#[test]
fn a_ledger_that_is_a_link_or_a_pipe_is_refused_and_nothing_is_written_through_it() {
    let outer = TempDir::new().unwrap();
    let path = |name: &str| outer.path().join(name);
    fs::create_dir(path("keys")).unwrap();
    let ledger = path("keys").join(LEDGER);
    fs::write(path("foreign"), "mine\n").unwrap();
    let makers: [(&str, &dyn Fn()); 5] = [
        ("it is not a regular file", &|| symlink("../foreign", &ledger).unwrap()),
        ("it is not a regular file", &|| symlink("../new", &ledger).unwrap()),
        ("it is not a regular file", &|| symlink("/dev/zero", &ledger).unwrap()),
        ("it has other names (hard links)", &|| fs::hard_link(path("foreign"), &ledger).unwrap()),
        ("it is not a regular file", &|| pipe(&ledger)),
    ];
    for (complaint, make) in makers {
        make();
        let ran = run(program(&["abc", "-d"]).arg(path("keys")));
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.starts_with("error: cannot use the ledger '"), "{}", ran.stderr);
        assert!(ran.stderr.contains(complaint), "{}", ran.stderr);
        assert_eq!(names(&path("keys")), [LEDGER]);
        fs::remove_file(&ledger).unwrap();
    }
    assert_eq!(fs::read_to_string(path("foreign")).unwrap(), "mine\n");
    assert_eq!(names(outer.path()), ["foreign", "keys"]);
}

#[test]
fn files_that_only_have_the_name_of_a_key_are_left_alone() {
    let outer = TempDir::new().unwrap();
    let keys = outer.path().join("keys");
    succeed(program(&["-q", "-n", "2", "abc", "-d"]).arg(&keys));
    let private = names(&keys).into_iter().find(|name| name.starts_with("abc-")).unwrap();
    fs::remove_file(keys.join(LEDGER)).unwrap();
    fs::remove_file(keys.join(format!("{private}.pub"))).unwrap();
    pipe(&keys.join(format!("{private}.pub")));
    pipe(&keys.join("abc-0000000000000001"));
    symlink("/dev/zero", keys.join("abc-0000000000000002")).unwrap();
    fs::create_dir(keys.join("abc-0000000000000003")).unwrap();
    File::create(keys.join("abc-0000000000000004")).unwrap().set_len(1 << 40).unwrap();
    symlink("nowhere", keys.join(".vanity-ed25519-000000.tmp")).unwrap();
    let before = names(&keys);
    // The key whose public file is a pipe does not count.
    let ran = succeed(script("ulimit -v 300000; exec \"$0\" -n 2 abc -d \"$1\"", &keys).env("LC_ALL", "C"));
    assert!(ran.stderr.contains("'abc' already has 1 of 2 keys"), "{}", ran.stderr);
    let after = names(&keys);
    assert_eq!(after.len(), before.len() + 3);
    assert!(before.iter().all(|name| after.contains(name)));
    assert!(fs::metadata(keys.join(format!("{private}.pub"))).unwrap().file_type().is_fifo());
}

#[test]
fn hostile_lines_of_a_ledger_are_left_out_and_not_shown() {
    let outer = TempDir::new().unwrap();
    let keys = outer.path().join("keys");
    succeed(program(&["-q", "-n", "2", "abc", "-d"]).arg(&keys));
    let good = fs::read_to_string(keys.join(LEDGER)).unwrap();
    let line = good.lines().next().unwrap();
    let file = line.split("\"file\":\"").nth(1).unwrap().split('"').next().unwrap();
    fs::write(outer.path().join("foreign"), "").unwrap();
    let elsewhere = |to: &str| line.replace(file, to);
    let hostile = [
        "x".repeat(8 << 20),
        "[".repeat(100_000),
        "\x1b]0;title\x07\x1b[2J\x1b[31m".to_owned(),
        "{\"pattern\":\"\\u001b[2J\"}".to_owned(),
        elsewhere("../foreign"),
        elsewhere("/etc/passwd"),
        elsewhere("abc-0000000000000000"),
        elsewhere("\\u001b[2J"),
        line.replace("ssh-ed25519 ", "ssh-ed25519 \\u001b[2J"),
        line.replace("\"attempts\":", "\"attempts\":1e999,\"x\":"),
        "\0\u{feff}\r".to_owned(),
    ];
    fs::write(keys.join(LEDGER), hostile.join("\n") + "\n" + &good).unwrap();
    let ran = succeed(program(&["-n", "2", "abc", "-d"]).arg(&keys));
    check_printable(&ran);
    assert!(ran.stderr.contains("'abc' already has 2 of 2 keys"), "{}", ran.stderr);
    assert!(ran.stderr.contains("are not valid and are ignored"), "{}", ran.stderr);
    assert_eq!(names(outer.path()), ["foreign", "keys"]);
    assert_eq!(names(&keys).len(), 5);
}

#[test]
fn a_ledger_with_a_line_of_half_a_gibibyte_is_read_in_little_memory() {
    let outer = TempDir::new().unwrap();
    let keys = outer.path().join("keys");
    succeed(program(&["-q", "-n", "2", "abc", "-d"]).arg(&keys));
    let ledger = File::options().append(true).open(keys.join(LEDGER)).unwrap();
    ledger.set_len(1 << 29).unwrap();
    writeln!(&ledger).unwrap();
    let ran = succeed(script("ulimit -v 500000; exec \"$0\" -n 2 abc -d \"$1\"", &keys).env("LC_ALL", "C"));
    assert!(ran.stderr.contains("1 line of"), "{}", ran.stderr);
    assert!(ran.stderr.contains("'abc' already has 2 of 2 keys"), "{}", ran.stderr);
}

#[test]
fn a_path_cannot_control_a_terminal() {
    let outer = TempDir::new().unwrap();
    let name = "a\x1b[2J\n\x07'b";
    let arguments = |arguments: &[&str]| {
        let mut command = program(arguments);
        command.current_dir(&outer);
        command
    };
    let below = format!("{name}/x");
    for arguments in [
        arguments(&["abc", "-o", &below]),
        arguments(&["abc", "-d", &below]),
        arguments(&["-f", name]),
        arguments(&["--passphrase-file", name, "abc"]),
    ]
    .iter_mut()
    {
        let ran = run(arguments);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("a\\u{1b}[2J\\n"), "{}", ran.stderr);
        check_printable(&ran);
    }
    fs::create_dir(outer.path().join(name)).unwrap();
    fs::write(outer.path().join(name).join("list"), "a=b\n").unwrap();
    check_printable(&run(&mut arguments(&["-f", &format!("{name}/list")])));
    let ran = succeed(&mut arguments(&["abc", "-d", name]));
    check_printable(&ran);
    check_printable(&succeed(&mut arguments(&["abc", "-d", name])));
    // The path that is printed leads a shell to the same file.
    let line = ran.stderr.lines().find_map(|line| line.strip_prefix("private key in ")).unwrap();
    let (shown, _) = line.split_once(", public key in ").unwrap();
    let cat = command("bash")
        .args(["-c", &format!("cat {shown}")])
        .env("LC_ALL", "C.UTF-8")
        .current_dir(&outer)
        .output();
    let private = String::from_utf8(cat.unwrap().stdout).unwrap();
    assert_eq!(ran.stdout.trim_end(), derived(&private).line("abc"));
}

#[test]
fn a_key_file_of_any_date_can_enter_the_ledger() {
    let directory = TempDir::new().unwrap();
    succeed(program(&["-q", "-n", "2", "abc", "-d"]).arg(directory.path()));
    let private = |name: &String| name.starts_with("abc-") && !name.ends_with(".pub");
    let epoch = SystemTime::UNIX_EPOCH;
    for time in [epoch - Duration::from_secs(1 << 30), epoch + Duration::from_secs(1 << 38)] {
        fs::remove_file(directory.path().join(LEDGER)).unwrap();
        for name in names(directory.path()).iter().filter(|name| private(name)) {
            File::open(directory.path().join(name)).unwrap().set_modified(time).unwrap();
        }
        let ran = succeed(program(&["-n", "2", "abc", "-d"]).arg(directory.path()));
        assert!(ran.stderr.contains("'abc' already has 2 of 2 keys"), "{}", ran.stderr);
    }
}

/// The program reads the clock of the day only for the ledger. The clock may show any time, and may
/// go backwards.
#[test]
fn the_clock_of_the_day_may_be_wrong() {
    let Some(faketime) = require::tool("faketime") else { return };
    let times = ["@1960-01-01 00:00:00", "@2000-01-01 00:00:00 x-1000", "@2000-01-01 00:00:00 x1000"];
    at_once(times, |time| {
        let directory = TempDir::new().unwrap();
        let mut search = command(&faketime);
        search.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").args(["-f", time, executable(), "--json", "-n", "5"]);
        let ran =
            run(search.args(["-t", "1", "--timeout", "500ms", "abc", NEVER, "-d"]).arg(directory.path()));
        assert_eq!(ran.status, Some(3), "{time}: {ran:?}");
        check_reported(&ran);
        let objects = objects(&ran.stdout);
        assert_eq!(of_type(&objects, "found").len(), 5);
        // The limit is that of the whole command, and a search is shorter.
        let seconds = program::positive(objects.last().unwrap(), "seconds");
        assert!((0.1..60.0).contains(&seconds), "{time}: {seconds}");
        let ledger = fs::read_to_string(directory.path().join(LEDGER)).unwrap();
        let year = if time.starts_with("@1960") { "\"time\":\"1970-" } else { "\"time\":\"" };
        assert_eq!(ledger.matches(year).count(), 5, "{ledger}");
    });
}
