use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ed25519_batch::internals::groups;
#[cfg(unix)]
use ed25519_batch::internals::used;
#[cfg(target_os = "linux")]
use ed25519_batch::internals::{SPARE, resources};
#[cfg(target_os = "linux")]
use ed25519_batch::memory::{keep_free, room, spare_room};

#[test]
#[cfg(unix)]
fn the_memory_that_is_used_is_read() {
    let status = "Name:\tx\nVmSize:\t    8192 kB\nVmData:\t 100 kB\nThreads:\t1\n";
    assert_eq!(used(status, "VmSize:"), Some(8 << 20));
    assert_eq!(used(status, "VmData:"), Some(100 << 10));
    assert_eq!([used(status, "Threads:"), used("", "VmSize:")], [None, None]);
}

/// Returns the limits below a directory with these files.
fn groups_of(files: &[(&str, &str)]) -> Vec<(u64, u64, String)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("limits-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
    let root = std::env::temp_dir().join(name);
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let rooms = groups(&root).into_iter().map(|room| {
        let of = Path::new(&room.of).strip_prefix(&root).unwrap().display().to_string();
        (room.left, room.limit, of)
    });
    let rooms = rooms.collect();
    fs::remove_dir_all(root).unwrap();
    rooms
}

const MOUNT_V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

#[test]
fn a_group_of_version_2_has_the_limits_of_all_above_it() {
    let rooms = groups_of(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", MOUNT_V2),
        ("sys/fs/cgroup/a/memory.max", "1000\n"),
        ("sys/fs/cgroup/a/memory.high", "max\n"),
        ("sys/fs/cgroup/a/memory.current", "700\n"),
        ("sys/fs/cgroup/a/memory.stat", "anon 9\ninactive_file 100\nactive_file 200\n"),
        ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ("sys/fs/cgroup/a/b/memory.high", "500\n"),
        ("sys/fs/cgroup/a/b/memory.current", "50\n"),
        ("sys/fs/cgroup/a/c/memory.max", "1\n"),
    ]);
    let at = |name: &str| format!("sys/fs/cgroup/{name}");
    assert_eq!(rooms, [(450, 500, at("a/b/memory.high")), (600, 1000, at("a/memory.max"))]);
}

#[test]
fn a_group_of_version_1_is_found_among_other_hierarchies() {
    let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        35 31 0:32 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let file = |name: &str| format!("sys/fs/cgroup/mem ory/{name}");
    let files = [
        ("proc/self/cgroup", "8:cpu:/y\n4:hugetlb,memory:/x\n0::/\n"),
        ("proc/self/mountinfo", mounts),
        (&file("x/memory.limit_in_bytes"), "134217728\n"),
        (&file("x/memory.usage_in_bytes"), "34217728\n"),
        (&file("x/memory.stat"), "cache 5\ninactive_file 7\ntotal_inactive_file 1\ntotal_active_file 2\n"),
        (&file("memory.limit_in_bytes"), "9223372036854771712\n"),
        (&file("memory.usage_in_bytes"), "5\n"),
    ];
    assert_eq!(groups_of(&files), [(100_000_003, 134_217_728, file("x/memory.limit_in_bytes"))]);
}

/// Inside of a container the mount shows only a part of the hierarchy.
#[test]
fn in_a_container_the_mount_is_the_group() {
    for (own, shown) in [
        ("/docker/1234", "/docker/1234"),
        ("/", "/"),
        ("/", "/docker/1234"),
        ("/docker/1234", "/other"),
        ("/../../other", "/"),
        ("/", "/.."),
        ("/../other", "/../.."),
    ] {
        let mounts = MOUNT_V2.replace("0:26 /", &format!("0:26 {shown}"));
        let rooms = groups_of(&[
            ("proc/self/cgroup", &format!("0::{own}\n")),
            ("proc/self/mountinfo", &mounts),
            ("sys/fs/cgroup/memory.max", "1000\n"),
            ("sys/fs/cgroup/memory.current", "1\n"),
        ]);
        assert_eq!(rooms, [(999, 1000, "sys/fs/cgroup/memory.max".to_owned())], "{own} {shown}");
    }
    assert_eq!(groups_of(&[("proc/self/cgroup", "")]), []);
}

/// The test runs itself with limits above the address space that AddressSanitizer reserves.
#[test]
#[cfg(target_os = "linux")]
fn the_limits_of_the_process_are_its_own() {
    const INNER: &str = "MEMORY_IS_LIMITED";
    if std::env::var_os(INNER).is_some() {
        let [all, data] = &resources()[..] else { panic!("not two limits") };
        assert_eq!([all.limit, data.limit], [100_000_000_000 << 10, 90_000_000_000 << 10]);
        assert!(all.left < all.limit && data.left < data.limit && all.limit - all.left > 1 << 20);
        let left = room().unwrap().left;
        keep_free(1 << 30);
        assert!(spare_room().unwrap().abs_diff(left - SPARE - (1 << 30)) < 1 << 20);
        return;
    }
    let script = "ulimit -v 100000000000; ulimit -d 90000000000; exec \"$0\" --exact \"$1\"";
    let test = "memory::limits::the_limits_of_the_process_are_its_own";
    let inner = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(INNER, "")
        .output()
        .unwrap();
    assert!(inner.status.success(), "{inner:?}");
    assert!(String::from_utf8_lossy(&inner.stdout).contains("1 passed"));
}
