//! Tests of key files: their modes, names and forms, what the program never overwrites, and what
//! survives the end of a search.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::{program, putty};
use program::{
    LEDGER, check_finds, check_pair, command, comment, endless, executable, mode, names, objects, of_type,
    privates, program, run, succeed, text, whole,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "077", "277", "777"] {
        let directory = TempDir::new().unwrap();
        let keys = directory.path().join("keys");
        let in_shell = |option: &str, path: &Path| {
            let script = format!("umask {umask}; exec \"$0\" -q -n 1 {option} \"$1\" ab");
            succeed(command("sh").arg("-c").arg(script).arg(executable()).arg(path));
        };
        in_shell("-d", &keys);
        assert_eq!(mode(&keys), 0o700, "umask {umask}");
        assert_eq!(mode(&keys.join(program::LEDGER)), 0o600, "umask {umask}");
        in_shell("-o", &keys.join("id_x"));
        in_shell("-o", &keys.join("key.pem"));
        let privates = privates(&keys);
        assert_eq!(privates.len(), 3, "{privates:?}");
        for name in privates {
            // This checks the mode, too.
            check_pair(&keys.join(name));
        }
        assert_eq!(names(&keys).len(), 7);
    }
}

#[test]
fn a_directory_that_exists_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o750)).unwrap();
    succeed(program(&["-q", "ab", "-d"]).arg(directory.path()));
    assert_eq!(mode(directory.path()), 0o750);
}

#[test]
fn existing_files_are_refused_before_the_search_and_stay() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("private"), "old").unwrap();
    fs::write(path("half.pub"), "old").unwrap();
    fs::create_dir(path("directory")).unwrap();
    symlink("nowhere", path("dangling")).unwrap();
    symlink("nowhere", path("other.pub")).unwrap();
    let before = names(directory.path());

    for (option, name, complaint) in [
        ("-o", "private", "/private' already exists"),
        ("-o", "half", "/half.pub' already exists"),
        ("-o", "dangling", "/dangling' already exists"),
        ("-o", "other", "/other.pub' already exists"),
        ("-o", "directory", "/directory' is a directory"),
        ("-o", "missing/key", "/missing' does not exist"),
        ("-o", "private/key", "/private' is not a directory"),
        ("-o", "new/", "does not name a file"),
        ("-o", "new.pub", "/new.pub' is the name of a public key"),
        ("-d", "private", "/private' is not a directory"),
        ("-d", "missing/keys", "/missing' does not exist"),
        ("-d", "dangling", "/dangling' does not exist"),
    ] {
        // If the program did not refuse, this search would not end.
        let ran = run(program(&["abcdefghijabcdefghij", option]).arg(path(name)));
        assert_eq!(ran.status, Some(2), "{name}: {ran:?}");
        let first = ran.stderr.lines().next().unwrap();
        assert!(first.starts_with("error: ") && first.contains(complaint), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("\nhint: "), "{name}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{name}");
    }
    assert_eq!(names(directory.path()), before);
    assert_eq!(fs::read(path("private")).unwrap(), b"old");
    assert_eq!(fs::read(path("half.pub")).unwrap(), b"old");
    assert_eq!(fs::read_link(path("dangling")).unwrap(), Path::new("nowhere"));
    assert_eq!(fs::read_link(path("other.pub")).unwrap(), Path::new("nowhere"));
    assert_eq!(names(&path("directory")), [""; 0]);
}

/// A library that makes every file look as on a file system without modes, such as FAT.
const NO_MODES: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>

int fchmod(int file, mode_t mode) {
    errno = EPERM;
    return -1;
}

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *found) {
    int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
    int failed = real(directory, path, flags, mask, found);
    if (!failed && S_ISREG(found->stx_mode))
        found->stx_mode |= 0777;
    return failed;
}
"#;

/// Checks searches whose working directory is on a file system without modes. `search` returns such a
/// search for a key.
#[cfg(target_os = "linux")]
fn check_without_modes(search: impl Fn(&[&str]) -> std::process::Command) {
    for option in ["-o", "-d"] {
        // If the program did not refuse, this search would find nothing and end by its timeout.
        let ran = run(&mut search(&["--timeout", "20s", "abcdefghijabcdefghij", option, "new"]));
        assert_eq!(ran.status, Some(2), "{option}: {ran:?}");
        assert!(ran.stderr.contains("others can read every file there (mode 0777)"), "{ran:?}");
        assert!(
            ran.stderr.contains("\nhint: choose a directory of a file system with permissions"),
            "{ran:?}"
        );
        assert!(ran.stderr.contains("--allow-exposed"), "{ran:?}");
    }
    // Who wants such files gets them, and they count.
    let allowed = |args: &[&str]| search(&[&["-q", "--allow-exposed", "ab"], args].concat());
    let lines = |args: &[&str]| succeed(&mut allowed(args)).stdout.lines().count();
    assert_eq!(lines(&["-o", "id_x"]), 1);
    assert_eq!(run(&mut allowed(&["-o", "id_x"])).status, Some(2));
    assert_eq!(lines(&["-d", "new", "-n", "2"]), 2);
    assert_eq!(lines(&["-d", "new", "-n", "2"]), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_without_modes_is_refused_before_the_search() {
    let Some(cc) = crate::require::tool("cc") else { return };
    let directory = TempDir::new().unwrap();
    let [source, library] = ["no_modes.c", "no_modes.so"].map(|name| directory.path().join(name));
    fs::write(&source, NO_MODES).unwrap();
    succeed(command(cc).args(["-shared", "-fPIC", "-o"]).args([&library, &source]));
    check_without_modes(|args| {
        let mut search = program(args);
        search.current_dir(&directory).env("LD_PRELOAD", &library);
        search
    });
    let private = fs::read_to_string(directory.path().join("id_x")).unwrap();
    let public = fs::read_to_string(directory.path().join("id_x.pub")).unwrap();
    assert_eq!(public, program::derived(&private).line("ab") + "\n");
}

/// The same on NTFS, which ntfs-3g mounts without modes. Only root can mount it from a file.
#[test]
#[cfg(target_os = "linux")]
fn a_file_system_of_windows_is_refused_before_the_search() {
    let tools = ["unshare", "mkntfs", "ntfs-3g"].map(crate::require::tool);
    let [Some(unshare), Some(mkntfs), Some(ntfs)] = tools else { return };
    let outer = TempDir::new().unwrap();
    let [disk, image] = ["disk", "image"].map(|name| outer.path().join(name));
    fs::create_dir(&disk).unwrap();
    fs::File::create(&image).unwrap().set_len(4 << 20).unwrap();
    succeed(command(mkntfs).args(["-F", "-q"]).arg(&image));
    let mounted = |script: &str, args: &[&str]| {
        let script = format!(
            "\"$1\" -o windows_names \"$2\" \"$3\" 2> \"$2.log\" || exit 99\ncd \"$3\"; disk=$3; shift 3\n\
             {script}\nstatus=$?; cd /; umount \"$disk\"; exit $status"
        );
        let mut command = command(&unshare);
        command.args(["-m", "sh", "-c", &script, executable()]).args([&ntfs, &image, &disk]).args(args);
        command
    };
    if run(&mut mounted("true", &[])).status != Some(0) {
        crate::require::missing("ntfs-3g");
        return;
    }
    check_without_modes(|args| mounted("\"$0\" \"$@\"", args));
    for name in ["q?", "con", "key."] {
        let complaint = refused(&mut mounted("\"$0\" \"$@\"", &["--allow-exposed", "-o", name]));
        assert!(
            complaint.starts_with(&format!("error: cannot write '{name}': Invalid argument")),
            "{complaint}"
        );
    }
}

/// A new name in a directory becomes durable by a sync, and that needs the right to read.
#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_can_be_written_and_not_read_is_named() {
    let Some(setpriv) = crate::require::tool("setpriv") else { return };
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    fs::create_dir(&keys).unwrap();
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    for (path, mode) in [(directory.path(), 0o711), (&keys, 0o333), (&closed, 0o500)] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    let is_root = rustix::process::geteuid().is_root();
    for args in [["-o", "id_x"], ["-d", "."], ["-d", "../closed"]] {
        let mut search = command(&setpriv);
        if is_root {
            search.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        }
        let ran = run(search.args([executable(), "abcdefghijabcdefghij"]).args(args).current_dir(&keys));
        if ran.status == Some(127) || ran.stderr.starts_with("setpriv: ") {
            crate::require::missing("setpriv");
            return;
        }
        assert_eq!(ran.status, Some(2), "{ran:?}");
        let is_closed = args[1] == "../closed";
        assert_eq!(ran.stderr.contains("can be written but not read"), !is_closed, "{ran:?}");
        assert_eq!(ran.stderr.contains("\nhint: run chmod u+r "), !is_closed, "{ran:?}");
    }
    // Who is not root cannot remove what cannot be listed.
    fs::set_permissions(&keys, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

/// Not even root can create a file in these directories.
#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_takes_no_files_is_refused_before_the_search() {
    for args in [["-o", "/proc/key"], ["-d", "/proc"], ["-d", "/proc/none"], ["-o", "/sys/key"]] {
        let ran = run(program(&["abcdefghijabcdefghij"]).args(args));
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: cannot create files in '/"), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(" (os error "), "{args:?}: {}", ran.stderr);
        let hint = "\nhint: choose a directory that you can write to, on a disk with free space\n";
        assert!(ran.stderr.ends_with(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_file_size_limit_is_refused_before_the_search() {
    let directory = TempDir::new().unwrap();
    let script = "ulimit -f 0; exec \"$0\" abcdefghijabcdefghij -o \"$1\"";
    let ran = run(command("sh").args(["-c", script, executable()]).arg(directory.path().join("id_x")));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.starts_with("error: cannot create files in "), "{}", ran.stderr);
    assert_eq!(names(directory.path()), [""; 0]);
}

/// Runs a search that would not end, and checks that it is refused. Returns the complaint.
fn refused(command: &mut std::process::Command) -> String {
    let ran = run(command.args(["-t", "1", "--however-long", program::NEVER]));
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    ran.stderr
}

#[test]
fn names_that_are_too_long_are_refused_before_the_search() {
    let directory = TempDir::new().unwrap();
    for (len, end) in
        [(251, None), (252, Some(".pub")), (255, Some(".pub")), (256, Some("")), (5000, Some(""))]
    {
        let name = "x".repeat(len);
        let Some(end) = end else {
            succeed(program(&["-q", "ab", "-o", &name]).current_dir(&directory));
            check_pair(&directory.path().join(&name));
            continue;
        };
        let complaint = refused(program(&["-o", &name]).current_dir(&directory));
        assert!(complaint.starts_with(&format!("error: cannot write '{name}{end}': ")), "{complaint}");
        assert!(complaint.contains("\nhint: choose a shorter name or path"), "{complaint}");
    }
    let complaint = refused(program(&["-d", &"x".repeat(256)]).current_dir(&directory));
    assert!(complaint.contains("\nhint: choose a shorter name or path"), "{complaint}");

    // The name of a public file is the longest in a directory, and its path has an end, too.
    let mut path = directory.path().to_owned();
    while path.as_os_str().len() < 3800 {
        path.push("directory".repeat(20));
        fs::create_dir(&path).unwrap();
    }
    for len in (4020..4096).step_by(5) {
        let keys = path.join("y".repeat(len - path.as_os_str().len() - 1));
        let ran = run(program(&["-q", "--timeout", "20s", "abc", "-d"]).arg(&keys));
        let fits = len + "/abc-0123456789abcdef.pub".len() < 4096;
        assert_eq!(ran.status, Some(if fits { 0 } else { 2 }), "{len}: {ran:?}");
        assert!(fits || ran.stderr.contains("\nhint: choose a shorter name or path"), "{ran:?}");
        if keys.exists() {
            assert_eq!(names(&keys).len(), if fits { 3 } else { 0 }, "{len}");
        }
    }
}

/// Only the name itself shows whether a file system takes it.
#[test]
#[cfg(target_os = "linux")]
fn a_name_that_the_file_system_refuses_is_refused_before_the_search() {
    if !program::is_root() {
        return;
    }
    let Some(strace) = program::strace() else { return };
    let directory = TempDir::new().unwrap();
    for name in ["q?", "con", "con.txt", "key.", "größe"] {
        // The names of a trial are others.
        let mut traced = command(&strace);
        traced.args(["-f", "-qq", "-o", "/dev/null", "-P", name]);
        traced.args(["-e", "inject=openat,linkat,link,renameat2:error=EINVAL", executable(), "-o", name]);
        let complaint = refused(traced.current_dir(&directory));
        assert!(
            complaint.starts_with(&format!("error: cannot write '{name}': Invalid argument")),
            "{complaint}"
        );
        assert!(complaint.contains("\nhint: choose another name: this file system"), "{complaint}");
        assert_eq!(names(directory.path()), [""; 0]);
        succeed(program(&["-q", "ab", "-o", name]).current_dir(&directory));
        check_pair(&directory.path().join(name));
        names(directory.path()).iter().for_each(|name| fs::remove_file(directory.path().join(name)).unwrap());
    }
}

/// Where only the last way to name a file is left, a killed process can leave a part of it. The next
/// search touches it no more than any other file.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_was_cut_off_under_its_last_name_is_no_key() {
    if !program::is_root() {
        return;
    }
    let Some(strace) = program::strace() else { return };
    let directory = TempDir::new().unwrap();
    let traced = |fault: &str| {
        let mut traced = command(&strace);
        // A call has the name, or an open file.
        let path = directory.path().canonicalize().unwrap().join("id_x");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-P", "id_x", "-P"]).arg(path);
        traced.args(["-e", "inject=linkat,link,renameat2:error=EPERM", "-e", fault]);
        traced.args([executable(), "-q", "-o", "id_x", "ab"]).current_dir(&directory);
        traced
    };
    // A failure removes it, and the key goes elsewhere.
    let ran = run(&mut traced("inject=write:error=EIO"));
    assert!(ran.status == Some(1) && ran.stderr.contains("the key is kept in ./ab-"), "{ran:?}");
    assert_eq!(names(directory.path()).len(), 2);
    assert_ne!(run(&mut traced("inject=write:signal=KILL")).status, Some(0));
    let private = directory.path().join("id_x");
    assert_eq!((fs::read(&private).unwrap().len(), mode(&private)), (0, 0o600));
    let complaint = refused(program(&["-o", "id_x"]).current_dir(&directory));
    assert!(complaint.starts_with("error: 'id_x' already exists\n"), "{complaint}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_trial_that_meets_taken_names_ends() {
    let Some(strace) = program::strace() else { return };
    let directory = TempDir::new().unwrap();
    let mut traced = command(&strace);
    let inject = "inject=linkat,link,renameat2:error=EEXIST";
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", inject, executable(), "-d", "keys"]);
    let complaint = refused(traced.current_dir(&directory));
    assert!(complaint.starts_with("error: cannot create files in 'keys': "), "{complaint}");
    assert_eq!(names(&directory.path().join("keys")), [""; 0]);
}

/// Nothing can be removed from such a directory, so what a trial leaves is named.
#[test]
#[cfg(target_os = "linux")]
fn what_a_trial_leaves_is_named() {
    let Some(chattr) = crate::require::tool("chattr") else { return };
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    fs::create_dir(&keys).unwrap();
    if run(command(&chattr).arg("+a").arg(&keys)).status != Some(0) {
        crate::require::missing("append-only directories");
        return;
    }
    let ran = run(program(&["ab", "-d", "keys"]).current_dir(&directory));
    succeed(command(&chattr).arg("-a").arg(&keys));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let left: Vec<String> = names(&keys).into_iter().filter(|name| name.ends_with(".tmp")).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    for name in &left {
        let warning =
            format!("warning: a trial of the directory left 'keys/{name}', which cannot be removed: ");
        assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    }
    // The next search removes it, where it can.
    succeed(program(&["-n", "2", "ab", "-d", "keys"]).current_dir(&directory));
    assert!(!names(&keys).iter().any(|name| name.ends_with(".tmp")));
}

#[test]
fn a_ledger_at_its_limit_is_refused_before_the_search() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    succeed(program(&["-q", "-n", "10", "ab", "-d"]).arg(&keys));
    // The limit is above the size of a key file, and near that of the ledger.
    let script = "ulimit -f 3; exec \"$0\" \"$@\"";
    let limited = || {
        let mut command = command("bash");
        command.args(["-c", script, executable(), "-n", "100", "-d"]).arg(&keys);
        command
    };
    let complaint = refused(&mut limited());
    let expected = format!("error: cannot use the ledger '{}': ", keys.join(LEDGER).display());
    assert!(complaint.starts_with(&expected), "{complaint}");
    assert!(complaint.contains("\nhint: raise the limit of the size of files"), "{complaint}");
    assert_eq!(names(&keys).len(), 21);
    // If nothing is missing, it does not matter.
    let script = "ulimit -f 3; exec \"$0\" -n 10 ab -d \"$1\"";
    succeed(command("bash").args(["-c", script, executable()]).arg(&keys));
}

/// The disk of the directory has room, but not the one of the ledger.
#[test]
#[cfg(target_os = "linux")]
fn a_ledger_on_a_full_disk_is_refused_before_the_search() {
    let Some(unshare) = program::unshare() else { return };
    for (fill, is_refused) in [("cat /dev/zero > small/fill 2> /dev/null", true), (":", false)] {
        let outer = TempDir::new().unwrap();
        let keys = outer.path().join("keys");
        succeed(program(&["-q", "ab", "-d"]).arg(&keys));
        // The line of the ledger ends where a page does, so the next one needs another page.
        let ledger = fs::read_to_string(keys.join(LEDGER)).unwrap();
        fs::write(keys.join(LEDGER), "\n".repeat(4096 - ledger.len()) + &ledger).unwrap();
        let script = format!(
            "mkdir small && mount -t tmpfs -o size=64k tmpfs small && cp keys/{LEDGER} small/ || exit 99
             {fill}; mount --bind small/{LEDGER} keys/{LEDGER} || exit 99
             \"$0\" -n 2 ab -d keys; status=$?; cp small/{LEDGER} seen; exit $status"
        );
        let mut command = command(&unshare);
        let ran = run(command.args(["-rm", "sh", "-c", &script, executable()]).current_dir(&outer));
        let lines = fs::read_to_string(outer.path().join("seen")).unwrap();
        if is_refused {
            assert_eq!(ran.status, Some(2), "{ran:?}");
            let expected = format!("error: cannot use the ledger 'keys/{LEDGER}': No space left on device ");
            assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
            assert!(ran.stderr.contains("\nhint: free some space where it lies, or "), "{}", ran.stderr);
            assert_eq!((lines.len(), names(&keys).len()), (4096, 3));
        } else {
            assert_eq!((ran.status, lines.trim_start().lines().count()), (Some(0), 2), "{ran:?}");
            assert_eq!(names(&keys).len(), 5);
        }
    }
}

#[test]
fn the_name_of_a_public_file_or_a_directory_is_refused() {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    let complaint = |name: &str| refused(program(&["-o", name]).current_dir(&directory));
    for name in ["id_bob.pub", "id_bob.PUB", "id_bob.Pub"] {
        let said = complaint(name);
        assert!(said.starts_with(&format!("error: '{name}' is the name of a public key")), "{said}");
        assert!(said.contains("\nhint: with -o id_bob the private key goes to id_bob, "), "{said}");
    }
    for name in [".pub", "sub/.PUB"] {
        let said = complaint(name);
        assert!(said.starts_with(&format!("error: '{name}' is the name of a public key")), "{said}");
        assert!(said.contains("\nhint: give the name of a new file\n"), "{said}");
    }
    for (name, example) in [
        ("sub", "sub/id_ed25519"),
        ("sub/", "sub/id_ed25519"),
        ("sub/.", "sub/id_ed25519"),
        ("sub/..", "sub/../id_ed25519"),
        ("..", "../id_ed25519"),
        (".", "./id_ed25519"),
    ] {
        let said = complaint(name);
        assert!(said.starts_with(&format!("error: '{name}' is a directory\n")), "{said}");
        let hint = format!("\nhint: give the name of a new file, such as {example}; -d writes pairs");
        assert!(said.contains(&hint), "{said}");
    }
    let said = complaint("new/");
    assert!(said.starts_with("error: 'new/' does not name a file\n"), "{said}");
    assert!(
        said.contains("\nhint: leave out what follows the name: -o new; or make a directory: -d new\n"),
        "{said}"
    );
    assert_eq!(names(directory.path()), ["sub"]);
}

#[test]
fn the_name_or_the_option_decides_the_form() {
    let directory = TempDir::new().unwrap();
    let (pkcs8, openssh) = ("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    let ppk = putty::PPK;
    for (name, format, head) in [
        ("id_x", None, openssh),
        ("key.pem", None, pkcs8),
        ("key.pem.old", None, openssh),
        ("id_y", Some("pkcs8"), pkcs8),
        ("other.pem", Some("openssh"), openssh),
        ("key.ppk", None, ppk),
        ("key.PPK", None, ppk),
        ("id_z", Some("ppk"), ppk),
        ("other.ppk", Some("openssh"), openssh),
    ] {
        let path = directory.path().join(name);
        let format: Vec<&str> = format.map_or(vec![], |format| vec!["--format", format]);
        succeed(program(&["-q", "ab", "-o"]).arg(&path).args(format));
        let private = fs::read_to_string(&path).unwrap();
        assert!(private.starts_with(head), "{name}");
        assert_eq!(comment(&check_pair(&path)), "ab");
    }
    for (format, head) in [("pkcs8", pkcs8), ("openssh", openssh), ("ppk", ppk)] {
        let ran = succeed(&mut program(&["-q", "ab", "--format", format]));
        assert!(ran.stdout.starts_with(head), "{format}");
    }
}

#[test]
fn the_comment_is_the_pattern_or_the_one_given() {
    let directory = TempDir::new().unwrap();
    for (name, args, expected) in [
        ("a", &["ab"][..], "ab"),
        ("b", &["ab", "-C", "me@here, at home"], "me@here, at home"),
        ("c", &["ab", "--comment", ""], ""),
        ("d", &["ab", "-C", "-n größer"], "-n größer"),
    ] {
        let path = directory.path().join(name);
        succeed(program(&["-q", "-o"]).arg(&path).args(args));
        assert_eq!(comment(&check_pair(&path)), expected);
        let private = fs::read_to_string(&path).unwrap();
        let private = ssh_key::PrivateKey::from_openssh(private).unwrap();
        assert_eq!(private.comment().as_str_lossy(), expected);
        let path = directory.path().join(format!("{name}.ppk"));
        succeed(program(&["-q", "-o"]).arg(&path).args(args));
        assert_eq!(comment(&check_pair(&path)), expected);
        assert_eq!(putty::open(&fs::read_to_string(&path).unwrap(), "").unwrap().comment, expected);
    }
}

#[test]
fn a_signal_ends_the_search_and_keeps_what_was_found() {
    // Some are sent twice, as timeout(1) does.
    let sent = [
        (Signal::INT, 1, 130),
        (Signal::TERM, 1, 143),
        (Signal::HUP, 1, 129),
        (Signal::INT, 2, 130),
        (Signal::TERM, 2, 143),
    ];
    for (signal, times, status) in sent {
        program::within_a_second(|| signalled(signal, times, status));
    }
}

/// Sends a signal to a search, `times` times, and checks what the search leaves. Returns how long
/// it went on.
fn signalled(signal: Signal, times: usize, status: i32) -> Duration {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (mut child, mut stdout, mut lines, stderr) = endless("abc", &keys, 5);
    (0..times).for_each(|_| kill_process(Pid::from_child(&child), signal).unwrap());
    let sent = Instant::now();
    stdout.read_to_string(&mut lines).unwrap();
    let ended = child.wait().unwrap();
    let took = sent.elapsed();
    assert_eq!(ended.code(), Some(status));

    let objects = objects(&lines);
    let found = of_type(&objects, "found");
    let summary = objects.last().unwrap();
    assert_eq!((text(summary, "type"), text(summary, "reason")), ("summary", "signal"));
    assert_eq!(whole(summary, "found"), found.len() as u64);
    check_finds(&found, &keys);
    let stderr = stderr.join().unwrap();
    let message = format!("interrupted: {} of 1,000,000 keys found", found.len());
    assert!(stderr.contains(&message), "{stderr}");
    took
}

/// `nohup` starts programs with this signal ignored.
#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_is_ignored_stays_ignored() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let script = "trap '' HUP; exec \"$0\" --json -q -t 1 -n 1000000 abcd -d \"$1\"";
    let mut search = command("sh");
    search.args(["-c", script, executable()]).arg(&keys).stdout(Stdio::piped());
    let mut child = program::start(&mut search);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for _ in 0..2 {
        assert!(lines.by_ref().any(|line| line.contains("\"found\"")));
        kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    }
    // A search that did not ignore the signal would end within a second.
    let goes_on = Instant::now() + Duration::from_millis(1200);
    while Instant::now() < goes_on {
        assert!(lines.next().unwrap().contains("\"found\""));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert!(lines.any(|line| line.contains("\"reason\":\"signal\"")));
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_killed_search_leaves_every_reported_key_whole() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (mut child, mut stdout, mut lines, _) = endless("abc", &keys, 5);
    child.kill().unwrap();
    stdout.read_to_string(&mut lines).unwrap();
    child.wait().unwrap();
    let objects = objects(&lines);
    let found = of_type(&objects, "found");
    assert!(found.len() >= 5);
    for object in &found {
        assert_eq!(check_pair(Path::new(text(object, "private_key_file"))), text(object, "public_key"));
    }
    // Every other file with a final name is whole, too. Only a public file may be missing.
    for private in names(&keys).iter().filter(|name| !name.ends_with(".pub")) {
        assert!(!private.ends_with(".tmp"), "{private}");
        if private != LEDGER && keys.join(format!("{private}.pub")).exists() {
            check_pair(&keys.join(private));
        }
    }
}

#[test]
fn a_reader_that_leaves_ends_the_search_and_keeps_what_was_found() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (child, stdout, lines, stderr) = endless("abc", &keys, 5);
    drop(stdout);
    let ended = child.end();
    let stderr = stderr.join().unwrap();
    assert_eq!(ended.status, Some(1), "{stderr}");
    assert!(stderr.contains("error: cannot write to stdout: "), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    for object in of_type(&objects(&lines), "found") {
        check_pair(Path::new(text(object, "private_key_file")));
    }
}

#[test]
fn a_directory_that_vanishes_ends_the_search_with_an_error() {
    let directory = TempDir::new().unwrap();
    let keys = directory.path().join("keys");
    let (child, stdout, _, stderr) = endless("abc", &keys, 5);
    // Renaming the directory cannot fail because of a file that is being written; removing it can.
    fs::rename(&keys, directory.path().join("moved")).unwrap();
    drop(stdout.lines().last());
    let ended = child.end();
    let stderr = stderr.join().unwrap();
    assert_eq!(ended.status, Some(1), "{stderr}");
    assert!(stderr.contains("error: ") && stderr.contains(&*keys.to_string_lossy()), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("keys tried"), "{stderr}");
    let first = stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert_eq!(stderr.matches(first).count(), 1, "{stderr}");
    assert_eq!(names(directory.path()), ["moved"]);
}
