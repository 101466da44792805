//! New files that are complete and durable, or not there at all.
//!
//! # What happens at each step, and why nothing is lost
//!
//! | step | if it fails | if the process or the machine dies here |
//! | --- | --- | --- |
//! | 1. open the directory | nothing was made | nothing was made |
//! | 2. make a file **without a name** in it (`O_TMPFILE`), with its final mode | nothing was made | the kernel drops a file that has no name |
//! | 3. write the content | the file is dropped | the same |
//! | 4. sync the file | the file is dropped | the same |
//! | 5. give it its name, which must be new (`linkat`) | an existing file is never touched; the file is dropped | it has its name and all of its content, or neither |
//! | 6. sync the directory | the file is there; the error says so | after a power cut the name may be missing, but no one was told of it |
//! | 7. report the file | it is on disk | the same |
//!
//! The private file of a pair goes first: its public line can be made again, but a public line alone is worth nothing. So
//! whatever has a final name is whole, and at worst a public file or a line of a ledger is missing, which the next run makes.
//! One file costs two syncs, milliseconds to tens of them; of many files that are synced together, each costs a small part.
//!
//! Some systems cannot do steps 2 and 5 so: no `O_TMPFILE` (macOS, NFS, FAT, some FUSE), no `/proc`, or no hard links. Then the
//! file has a temporary name, `.vanity-ed25519-*.tmp`, and is renamed with a call that replaces nothing. A process that is
//! killed leaves such a file. Whoever made it holds a lock on it while it lives, so [`remove_leftovers`] removes only those
//! whose lock it gets. Without locks (some network file systems) nothing is removed.
//!
//! [`try_directory`] takes the same steps with a file of zeros before the search, so that a directory that refuses one of
//! them costs no key.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use zeroize::Zeroizing;

use super::name::shown;

/// The advice where a directory takes no files.
pub(super) const ANOTHER_DIRECTORY: &str = "choose a directory that you may write to, on a disk with room";

/// What the names of temporary files begin and end with.
const TEMPORARY: [&str; 2] = [".vanity-ed25519-", ".tmp"];

/// How many files are synced at the same time: a file system can make one entry in its journal for all that wait.
const SYNCED_AT_ONCE: usize = 8;

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// The owner alone: mode 0600.
    Owner,
    /// Whoever the umask allows: mode 0644 without its bits, as ssh-keygen has it.
    Everyone,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Everyone => 0o644,
        }
    }
}

/// Writes a new file that is complete, durable and has its final mode, never over an existing name.
///
/// # Errors
///
/// [`FileError`]. Except with [`FileError::Unsynced`] there is then no file, and no temporary one.
pub(super) fn write_new(path: &Path, access: Access, content: &[u8]) -> Result<(), FileError> {
    let failed = |source| FileError::Write(path.to_owned(), source);
    let directory = Directory::open(parent(path)).map_err(failed)?;

    let file = directory.nameless(access, content).map_err(failed)?;
    file.sync().map_err(failed)?;
    file.name(path)?;
    directory.sync().map_err(|source| FileError::Unsynced(path.to_owned(), source))
}

/// A file with its content and its mode, and without its final name. It is removed on drop.
pub(super) enum Nameless {
    /// No directory knows it.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// It has a temporary name, and is locked.
    Temporary(NamedTempFile),
}

impl Nameless {
    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Temporary(file) => file.as_file(),
        }
    }

    /// Makes the content durable.
    fn sync(&self) -> io::Result<()> {
        self.file().sync_all()
    }

    /// Gives the file its name, which must be new. It should have been synced; the directory has to be, afterwards.
    ///
    /// # Errors
    ///
    /// [`FileError`]. There is then no file, and no temporary one.
    pub(super) fn name(self, path: &Path) -> Result<(), FileError> {
        let named = match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => match link(&file, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => rename(copy(&file, path), path),
                result => result,
            },
            Self::Temporary(file) => rename(Ok(file), path),
        };
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.to_owned()),
            _ => FileError::Write(path.to_owned(), error),
        })
    }
}

/// Gives an unnamed file its first name.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd as _;
    let open_file = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open_file, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Gives a temporary file its final name, and removes it if that fails.
fn rename(file: io::Result<NamedTempFile>, path: &Path) -> io::Result<()> {
    file?.persist_noclobber(path).map(drop).map_err(|failure| failure.error)
}

/// Copies an unnamed file that the system cannot name into a temporary one beside `path`, synced.
#[cfg(target_os = "linux")]
fn copy(file: &File, path: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
    let metadata = file.metadata()?;
    let mut content = Zeroizing::new(vec![0; metadata.len() as usize]);
    file.read_exact_at(&mut content, 0)?;
    let mut copy = temporary(parent(path), metadata.permissions().mode() & 0o777)?;
    copy.write_all(&content)?;
    copy.as_file().sync_all()?;
    Ok(copy)
}

/// Makes a locked temporary file with this mode, less the bits of the umask.
fn temporary(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode; // Files take the access rules of their directory.
    loop {
        // The crate's error names the temporary file, which means nothing to anyone.
        let file = builder.tempfile_in(directory).map_err(|error| io::Error::from(error.kind()))?;
        if is_ours(&file)? {
            return Ok(file);
        }
    }
}

/// Locks a new temporary file. Returns whether it still has its name: another process may have taken it for a leftover
/// before it was locked.
#[cfg(unix)]
fn is_ours(file: &NamedTempFile) -> io::Result<bool> {
    use std::fs::TryLockError;
    use std::os::unix::fs::MetadataExt as _;
    if let Err(TryLockError::WouldBlock) = file.as_file().try_lock() {
        return Ok(false);
    }
    Ok(file.as_file().metadata()?.nlink() > 0)
}

#[cfg(not(unix))]
fn is_ours(_: &NamedTempFile) -> io::Result<bool> {
    Ok(true)
}

/// Syncs many files at the same time. Gives what became of each, in their order.
pub(super) fn sync_together(files: &[&Nameless]) -> Vec<io::Result<()>> {
    let sync = |file: &&Nameless| file.sync();
    std::thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks(files.len().div_ceil(SYNCED_AT_ONCE).max(1))
            .map(|files| {
                (
                    files,
                    std::thread::Builder::new().spawn_scoped(scope, move || files.iter().map(sync).collect()),
                )
            })
            .collect();
        let results = threads.into_iter().map(|(files, thread)| -> Vec<io::Result<()>> {
            // Without a thread, or if one panics, it takes longer.
            let synced = thread.ok().and_then(|thread| thread.join().ok());
            synced.unwrap_or_else(|| files.iter().map(sync).collect())
        });
        results.flatten().collect()
    })
}

/// The most that a file of a key may have, in bytes: a comment is no longer than an argument can be.
const LARGEST: u64 = 1 << 20;

/// A file of a key, as it was read.
pub(super) struct KeyFile {
    pub(super) content: Zeroizing<Vec<u8>>,
    /// Its mode, if that lets others than its owner at it.
    pub(super) open_to_others: Option<u32>,
}

/// Reads a file of a key. In a directory of keys anything may have the name of one: a pipe is not waited for, and a device or
/// a file that is too large is not read.
///
/// # Errors
///
/// What the operating system answers, or [`io::ErrorKind::InvalidData`] with what the file is instead.
pub(super) fn read_key_file(path: &Path) -> io::Result<KeyFile> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path)?;
    let found = file.metadata()?;
    let other = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    match () {
        () if found.is_dir() => return other("it is a directory"),
        () if !found.is_file() => return other("it is not a regular file"),
        () if found.len() > LARGEST => return other("it is too large for a key"),
        () => {}
    }
    #[cfg(unix)]
    let mode = std::os::unix::fs::MetadataExt::mode(&found) & 0o777;
    #[cfg(not(unix))]
    let mode = Access::Owner.mode();
    // Room for one byte more, so that reading to the end never makes a copy elsewhere.
    let mut content = Zeroizing::new(Vec::with_capacity(found.len() as usize + 1));
    file.take(found.len()).read_to_end(&mut content)?;
    Ok(KeyFile { content, open_to_others: Some(mode).filter(|mode| mode & 0o077 != 0) })
}

/// Removes the temporary files that killed processes have left in a directory: those whose lock is free. What cannot be
/// opened, locked or removed stays.
///
/// # Errors
///
/// The directory cannot be read.
pub(super) fn remove_leftovers(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let [start, end] = TEMPORARY.map(str::as_bytes);
        let name = name.as_encoded_bytes();
        if name.starts_with(start) && name.ends_with(end) {
            remove_leftover(&entry.path());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn remove_leftover(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let Ok(file) = File::options().read(true).custom_flags(flags.bits() as i32).open(path) else { return };
    if file.metadata().is_ok_and(|found| found.is_file()) && file.try_lock().is_ok() {
        // Another process may have removed it just before.
        let _ = fs::remove_file(path);
    }
}

/// Elsewhere an open file can be removed, too, so leftovers stay.
#[cfg(not(unix))]
fn remove_leftover(_: &Path) {}

/// Whether [`write_new`] can put files into this directory: takes its steps with a file of zeros, names it, and removes it.
///
/// # Errors
///
/// What the operating system answers to the step that fails.
pub(super) fn try_directory(path: &Path) -> io::Result<()> {
    // Longer than a key with an ordinary comment, so that a full disk is noticed too.
    const CONTENT: [u8; 1024] = [0; 1024];
    let directory = Directory::open(path)?;
    let [start, end] = TEMPORARY;
    for number in 0.. {
        let file = directory.nameless(Access::Owner, &CONTENT)?;
        file.sync()?;
        let trial = path.join(format!("{start}trial-{}-{number}{end}", std::process::id()));
        match file.name(&trial) {
            Ok(()) => {
                match fs::remove_file(&trial) {
                    // Another process took it for a leftover, which it is.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => break,
                }
            }
            Err(FileError::Write(_, source)) => return Err(source),
            // A leftover of another process with the same number, which could not be removed.
            Err(_) => {}
        }
    }
    directory.sync()
}

/// Makes a directory that only its owner can enter (mode 0700), durably. Its parent must exist.
///
/// # Errors
///
/// What the operating system answers; an existing name is [`io::ErrorKind::AlreadyExists`].
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let outer = Directory::open(parent(path))?;
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    outer.sync()
}

/// The directory that holds `path`: `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A directory that is about to get a new name. It is opened first, so that one that cannot be synced
/// fails before anything is in it.
pub(super) struct Directory<'a> {
    path: &'a Path,
    #[cfg(unix)]
    handle: File,
}

impl<'a> Directory<'a> {
    pub(super) fn open(path: &'a Path) -> io::Result<Self> {
        #[cfg(unix)]
        {
            Ok(Self { path, handle: File::open(path)? })
        }
        #[cfg(not(unix))]
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Writes a file that has no final name yet, and does not sync it.
    pub(super) fn nameless(&self, access: Access, content: &[u8]) -> io::Result<Nameless> {
        let file = self.empty(access.mode())?;
        within_size_limit(content)?;
        file.file().write_all(content)?;
        Ok(file)
    }

    #[cfg(target_os = "linux")]
    fn empty(&self, mode: u32) -> io::Result<Nameless> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        use rustix::io::Errno;
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(CWD, self.path, flags, Mode::from_raw_mode(mode)) {
            Ok(file) => Ok(Nameless::Unnamed(file.into())),
            // The file system has no unnamed files (the second one: nor has the kernel).
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {
                temporary(self.path, mode).map(Nameless::Temporary)
            }
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn empty(&self, mode: u32) -> io::Result<Nameless> {
        temporary(self.path, mode).map(Nameless::Temporary)
    }

    /// Makes the names in the directory durable.
    #[cfg(unix)]
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.handle.sync_all() {
            // A file system that does not offer it says so, and nothing better can be done there.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            result => result,
        }
    }

    /// Windows has no sync of a directory; its file systems journal the names themselves.
    #[cfg(not(unix))]
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Writing beyond `RLIMIT_FSIZE` would end the process with a signal and leave the temporary file.
fn within_size_limit(content: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let limit = getrlimit(Resource::Fsize).current;
        if limit.is_some_and(|limit| limit < content.len() as u64) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
    }
    #[cfg(not(unix))]
    let _ = content;
    Ok(())
}

/// Why a file was not written.
#[derive(Debug)]
pub enum FileError {
    /// The name is taken; what is there was not touched.
    Exists(PathBuf),
    /// There is no file; what the operating system answered.
    Write(PathBuf, io::Error),
    /// The file is complete and has its name, but its directory could not be synced; what the
    /// operating system answered.
    Unsynced(PathBuf, io::Error),
    /// The same of several new files in this directory.
    UnsyncedDirectory(PathBuf, io::Error),
}

impl FileError {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Exists(_) => {
                "choose another name, or move the existing file away; keys are never overwritten".to_owned()
            }
            Self::Write(..) => ANOTHER_DIRECTORY.to_owned(),
            Self::Unsynced(path, _) => {
                format!(
                    "'{}' is complete, but copy it to another disk before you trust this one",
                    shown(path)
                )
            }
            Self::UnsyncedDirectory(..) => {
                "its newest files are complete, but copy them to another disk before you trust this one"
                    .to_owned()
            }
        })
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(path) => write!(f, "'{}' already exists", shown(path)),
            Self::Write(path, source) => write!(f, "cannot write '{}': {source}", shown(path)),
            Self::Unsynced(path, source) => {
                write!(f, "cannot sync the directory of '{}': {source}", shown(path))
            }
            Self::UnsyncedDirectory(path, source) => {
                write!(f, "cannot sync the directory '{}': {source}", shown(path))
            }
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Exists(_) => None,
            Self::Write(_, source) | Self::Unsynced(_, source) | Self::UnsyncedDirectory(_, source) => {
                Some(source)
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;
    use crate::sys::again::inner;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_private_file_is_0600_from_the_start_under_any_umask() {
        for umask in ["000", "022", "077"] {
            let outer = TempDir::new().unwrap();
            let test = "key::file::tests::a_private_file_is_0600_from_the_start_under_any_umask";
            if !inner(test, &format!("umask {umask}"), outer.path()) {
                assert_eq!(mode(&outer.path().join("private")), 0o600, "umask {umask}");
                assert_eq!(mode(&outer.path().join("new")), 0o700, "umask {umask}");
                let umask = u32::from_str_radix(umask, 8).unwrap();
                assert_eq!(mode(&outer.path().join("public")), 0o644 & !umask, "umask {umask:o}");
                continue;
            }
            let here = Directory::open(Path::new(".")).unwrap();
            let file = here.nameless(Access::Owner, b"").unwrap();
            assert_eq!(file.file().metadata().unwrap().mode() & 0o7777, 0o600);
            let file = temporary(Path::new("."), 0o600).unwrap();
            assert_eq!(mode(file.path()), 0o600);
            let name = file.path().file_name().unwrap().to_str().unwrap().to_owned();
            assert!(name.starts_with(".vanity-ed25519-") && name.ends_with(".tmp"), "{name}");

            write_new(Path::new("private"), Access::Owner, b"secret").unwrap();
            write_new(Path::new("public"), Access::Everyone, b"line").unwrap();
            create_directory(Path::new("new")).unwrap();
            return;
        }
    }

    #[test]
    fn a_size_limit_is_an_error_and_leaves_nothing() {
        let outer = TempDir::new().unwrap();
        if !inner(
            "key::file::tests::a_size_limit_is_an_error_and_leaves_nothing",
            "ulimit -f 0",
            outer.path(),
        ) {
            assert_eq!(names(outer.path()), [""; 0]);
            return;
        }
        let error = write_new(Path::new("key"), Access::Owner, b"secret").unwrap_err();
        assert!(matches!(error, FileError::Write(..)), "{error}");
        assert_eq!(try_directory(Path::new(".")).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        within_size_limit(b"").unwrap();
    }

    #[test]
    fn a_new_file_is_all_there_is() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        write_new(&path, Access::Owner, b"secret").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        try_directory(directory.path()).unwrap();
        assert_eq!(names(directory.path()), ["key"]);
    }

    #[test]
    fn what_is_no_file_of_a_key_is_not_read() {
        let directory = TempDir::new().unwrap();
        let path = |name| directory.path().join(name);
        fs::write(path("key"), "secret").unwrap();
        fs::write(path("empty"), "").unwrap();
        symlink("key", path("link")).unwrap();
        let read = |name| read_key_file(&path(name)).unwrap().content;
        assert_eq!(**read("key"), *b"secret");
        assert_eq!(**read("link"), *b"secret");
        assert_eq!(**read("empty"), *b"");

        fs::File::create(path("largest")).unwrap().set_len(LARGEST).unwrap();
        assert_eq!(read("largest").len() as u64, LARGEST);

        fs::File::create(path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for name in ["large", "endless", "pipe", ".", "gone"] {
            assert!(read_key_file(&path(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn files_that_are_synced_together_are_all_there() {
        let directory = TempDir::new().unwrap();
        let here = Directory::open(directory.path()).unwrap();
        for count in [0, 1, 8, 9, 100] {
            let contents: Vec<String> = (0..count).map(|number| format!("{count}-{number}")).collect();
            let files: Vec<Nameless> = contents
                .iter()
                .map(|content| here.nameless(Access::Owner, content.as_bytes()).unwrap())
                .collect();
            let synced = sync_together(&files.iter().collect::<Vec<_>>());
            assert_eq!(synced.iter().filter(|result| result.is_ok()).count(), count);
            for (file, content) in files.into_iter().zip(&contents) {
                file.name(&directory.path().join(content)).unwrap();
                assert_eq!(fs::read_to_string(directory.path().join(content)).unwrap(), *content);
            }
        }
        assert_eq!(names(directory.path()).len(), 118);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_has_no_name_before_its_last() {
        let directory = TempDir::new().unwrap();
        let here = Directory::open(directory.path()).unwrap();
        let file = here.nameless(Access::Owner, b"secret").unwrap();
        assert!(matches!(file, Nameless::Unnamed(_)), "the disk of this test has no unnamed files");
        assert_eq!(names(directory.path()), [""; 0]);
        file.name(&directory.path().join("key")).unwrap();
        assert_eq!(names(directory.path()), ["key"]);
    }

    /// As where there is no /proc.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_cannot_be_named_is_copied_into_one_that_can() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        let here = Directory::open(directory.path()).unwrap();
        for (access, expected) in [(Access::Owner, 0o600), (Access::Everyone, 0o600)] {
            let Nameless::Unnamed(file) = here.nameless(access, b"secret").unwrap() else {
                panic!("it has a name")
            };
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(expected)).unwrap();
            rename(copy(&file, &path), &path).unwrap();
            assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"secret"[..], expected));
            let again = rename(copy(&file, &path), &path).unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(names(directory.path()), ["key"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn leftovers_are_removed_but_nothing_that_is_in_use() {
        let directory = TempDir::new().unwrap();
        let others = [".vanity-ed25519-x", "x.tmp", "key", "vanity-ed25519.tmp"];
        others.iter().for_each(|name| fs::write(directory.path().join(name), "").unwrap());
        symlink("key", directory.path().join(".vanity-ed25519-link.tmp")).unwrap();
        fs::create_dir(directory.path().join(".vanity-ed25519-dir.tmp")).unwrap();
        let leave = || fs::write(directory.path().join(".vanity-ed25519-aB3xyz.tmp"), "secret").unwrap();
        leave();
        let file = temporary(directory.path(), 0o600).unwrap();
        remove_leftovers(directory.path()).unwrap();
        let left = [
            ".vanity-ed25519-dir.tmp",
            ".vanity-ed25519-link.tmp",
            ".vanity-ed25519-x",
            "key",
            "vanity-ed25519.tmp",
            "x.tmp",
        ];
        let mut expected = left.map(str::to_owned).to_vec();
        expected.push(file.path().file_name().unwrap().to_str().unwrap().to_owned());
        expected.sort();
        assert_eq!(names(directory.path()), expected);
        Nameless::Temporary(file).name(&directory.path().join("new")).unwrap();
        assert!(directory.path().join("new").exists());
    }

    /// Two processes at once: one makes files, the other takes whatever it can for leftovers.
    #[test]
    fn no_process_takes_what_another_is_writing() {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        remove_leftovers(path).unwrap();
                    }
                });
            }
            for number in 0..500 {
                let file = temporary(path, 0o600).unwrap();
                Nameless::Temporary(file).name(&path.join(number.to_string())).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(names(path).len(), 500);
    }

    #[test]
    fn a_taken_name_is_refused_and_left_as_it_was() {
        let directory = TempDir::new().unwrap();
        let path = |name| directory.path().join(name);
        fs::write(path("file"), "old").unwrap();
        symlink("file", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        fs::create_dir(path("directory")).unwrap();

        for name in ["file", "link", "dangling", "directory"] {
            let error = write_new(&path(name), Access::Owner, b"new").unwrap_err();
            assert!(matches!(&error, FileError::Exists(taken) if *taken == path(name)), "{error}");
            assert!(error.hint().unwrap().contains("never overwritten"));
        }
        assert_eq!(fs::read(path("file")).unwrap(), b"old");
        assert_eq!(fs::read_link(path("dangling")).unwrap(), Path::new("nowhere"));
        assert_eq!(names(directory.path()), ["dangling", "directory", "file", "link"]);
    }

    #[test]
    fn a_directory_that_is_gone_is_an_error() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("gone/key");
        let error = write_new(&path, Access::Owner, b"new").unwrap_err();
        assert!(matches!(error, FileError::Write(..)), "{error}");
        assert!(error.to_string().starts_with(&format!("cannot write '{}'", path.display())), "{error}");
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        assert_eq!(parent(Path::new("key")), Path::new("."));
        assert_eq!(parent(Path::new("a/key")), Path::new("a"));
        assert_eq!(parent(Path::new("/key")), Path::new("/"));
    }
}
