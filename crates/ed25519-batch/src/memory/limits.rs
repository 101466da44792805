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
pub const SPARE: u64 = 8 << 20;

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
pub fn resources() -> Vec<Room> {
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

/// Returns no limit: these systems have none.
#[cfg(not(unix))]
#[must_use]
pub fn resources() -> Vec<Room> {
    Vec::new()
}

/// Returns the bytes of a field of `/proc/self/status`, which is in kibibytes.
#[cfg(unix)]
pub fn used(status: &str, field: &str) -> Option<u64> {
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
pub fn groups(root: &Path) -> Vec<Room> {
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
