//! The memory that limits leave to this process: those of the process itself (`getrlimit(2)`) and
//! those of its control group and of all above it (the kernel's documents "Control Group v2" and
//! "Memory Resource Controller"). A process that exceeds a group's limit is killed without a word, so
//! what is large asks here first.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A limit of memory, and what is left below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    /// The bytes that the process can still take.
    pub left: u64,
    /// The limit, in bytes.
    pub limit: u64,
    /// What sets the limit: the name of a resource, or the path of a file.
    pub of: String,
}

/// The memory that stays free in any case, beside [`keep_free`]: for stacks that grow, results and files.
const SPARE: u64 = 8 << 20;

/// The bytes of [`keep_free`].
static KEPT_FREE: AtomicU64 = AtomicU64::new(0);

/// Keeps this many bytes free of what only makes a search faster: tables and united expressions.
pub fn keep_free(bytes: u64) {
    KEPT_FREE.store(bytes, Relaxed);
}

/// Returns what is left below the tightest limit. `None` without a limit.
#[must_use]
pub fn room() -> Option<Room> {
    let own = resources();
    let groups = if cfg!(target_os = "linux") { groups(Path::new("/")) } else { Vec::new() };
    own.into_iter().chain(groups).min_by_key(|room| room.left)
}

/// Returns the bytes that can still be taken by what only makes a search faster. `None` without a limit.
#[must_use]
pub fn spare_room() -> Option<u64> {
    room().map(|room| room.left.saturating_sub(SPARE + KEPT_FREE.load(Relaxed)))
}

/// Returns the limits of the process itself.
#[cfg(unix)]
fn resources() -> Vec<Room> {
    use rustix::process::{Resource, getrlimit};
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let room = |(resource, of, field): (_, &str, &str)| {
        let limit = getrlimit(resource).current?;
        // Without /proc, half of the limit counts as used.
        let used = used(&status, field).unwrap_or(limit / 2);
        Some(Room { left: limit.saturating_sub(used), limit, of: of.to_owned() })
    };
    let each = [
        (Resource::As, "RLIMIT_AS, ulimit -v", "VmSize:"),
        (Resource::Data, "RLIMIT_DATA, ulimit -d", "VmData:"),
    ];
    each.into_iter().filter_map(room).collect()
}

#[cfg(not(unix))]
fn resources() -> Vec<Room> {
    Vec::new()
}

/// Returns the bytes of a field of `/proc/self/status`, which is in kibibytes.
#[cfg(unix)]
fn used(status: &str, field: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A version of control groups: its files of limits, the file of what is used, and the fields of
/// `memory.stat` that are files in memory, which the kernel takes back first.
struct Version {
    limits: &'static [&'static str],
    used: &'static str,
    reclaimable: [&'static str; 2],
}

const V1: Version = Version {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file ", "total_active_file "],
};

const V2: Version = Version {
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    reclaimable: ["inactive_file ", "active_file "],
};

/// Without a limit, the file of version 1 has the largest number of pages that the kernel counts.
const NO_LIMIT: u64 = 1 << 60;

/// Returns the limits of the process's control group and of all above it that are visible. `root` is
/// the directory of all paths.
fn groups(root: &Path) -> Vec<Room> {
    let read = |name: &str| fs::read_to_string(root.join("proc/self").join(name)).unwrap_or_default();
    let (memberships, mounts) = (read("cgroup"), read("mountinfo"));
    let mut rooms = Vec::new();
    for (version, top, below) in mounts.lines().filter_map(|mount| hierarchy(mount, &memberships)) {
        let top = root.join(top.strip_prefix("/").unwrap_or(&top));
        let own = top.join(below);
        for group in own.ancestors().take_while(|group| group.starts_with(&top)) {
            rooms.extend(version.limits.iter().filter_map(|limit| version.room(group, limit)));
        }
    }
    rooms
}

/// Returns the version of the hierarchy with memory that a line of `mountinfo` mounts, the place where
/// it is mounted, and the path of the process's group below that. `None` for another line.
fn hierarchy(mount: &str, memberships: &str) -> Option<(Version, PathBuf, PathBuf)> {
    let (fields, system) = mount.split_once(" - ")?;
    let mut fields = fields.split(' ').skip(3).map(unescaped);
    let (shown, place) = (fields.next()?, fields.next()?);
    let mut system = system.split(' ');
    let version = match (system.next()?, system.nth(1)?) {
        ("cgroup2", _) => V2,
        ("cgroup", options) if options.split(',').any(|option| option == "memory") => V1,
        _ => return None,
    };
    let own = memberships.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_it = match version.limits.len() {
            1 => controllers.split(',').any(|controller| controller == "memory"),
            _ => controllers.is_empty(),
        };
        is_it.then_some(path)
    })?;
    // In a container the mount can show a part of the hierarchy that the path is not in, or that it
    // reaches only by "..". Then the mount is the process's group, or contains it.
    let below = Path::new(own).strip_prefix(&shown).unwrap_or(Path::new(""));
    let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
    Some((version, place.into(), if is_plain { below.into() } else { PathBuf::new() }))
}

/// Returns a path of `mountinfo`, which writes some characters as a backslash and octal digits.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(path.to_owned(), |path, (code, character)| path.replace(code, character))
}

impl Version {
    /// Returns what is left below one limit of a group.
    fn room(&self, group: &Path, limit: &str) -> Option<Room> {
        let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        let of = group.join(limit).display().to_string();
        let limit = number(limit).filter(|limit| *limit < NO_LIMIT)?;
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let field = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
        let reclaimable: u64 = self.reclaimable.iter().filter_map(|name| field(name)).sum();
        let used = number(self.used).unwrap_or(limit / 2).saturating_sub(reclaimable);
        Some(Room { left: limit.saturating_sub(used), limit, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (
                &file("x/memory.stat"),
                "cache 5\ninactive_file 7\ntotal_inactive_file 1\ntotal_active_file 2\n",
            ),
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
        let test = "memory::limits::tests::the_limits_of_the_process_are_its_own";
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
}
