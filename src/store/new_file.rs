//! New files that are complete and durable, or do not exist.
//!
//! # What happens at each step, and why nothing is lost
//!
//! | step | if it fails | if the process or the machine dies here |
//! | --- | --- | --- |
//! | 1. open the directory | nothing was made | nothing was made |
//! | 2. make a file **without a name** in it (`O_TMPFILE`), with its final mode | nothing was made | the kernel drops a file that has no name |
//! | 3. write the content | the file is dropped | the kernel drops the file |
//! | 4. sync the file | the file is dropped | the kernel drops the file |
//! | 5. give it its name, which must be new (`linkat`) | an existing file is never touched; the file is dropped | it has its name and all of its content, or neither |
//! | 6. sync the directory | the file exists; the error says so | after a power cut the name may be missing, but the file was not reported |
//! | 7. report the file | it is on disk | it is on disk |
//!
//! The private file of a pair gets its name first: the program can make its public line again, but
//! a public line alone is worth nothing. So every file with a final name is complete. At worst a
//! public file or a line of a ledger is missing, and the next run makes it. One file costs two
//! syncs, which take milliseconds to tens of milliseconds. Many files that are synced together cost
//! far less each.
//!
//! Some systems cannot do steps 2 and 5 in this way: they have no `O_TMPFILE` (macOS, NFS, FAT,
//! some FUSE), no `/proc`, or no hard links, or they forbid them. There the file has a temporary name,
//! `.vanity-ed25519-*.tmp`, and a call that replaces nothing renames it. A process that is killed
//! leaves such a file. A living process holds a lock on its file, so
//! [`remove_leftovers`](super::temporary::remove_leftovers) removes only files whose lock it gets.
//! Without locks (some network file systems) it removes nothing.
//!
//! A few systems have neither such a call nor hard links (rclone, old ZFS). There the last way is to
//! create the file under its last name, which must be new, and to write and sync it then. If that fails,
//! the file is removed. Only there a process that is killed, or a power cut, can leave an incomplete file
//! under its last name. The next run reports it, and never takes it for a key.
//!
//! Before the search, [`super::trial`] takes the same steps with files that hold no key. So no key is
//! lost because the directory refuses one of them.

use std::borrow::Cow;
#[cfg(unix)]
use std::fs::Permissions;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::error::{Exposed, StoreError};
use super::name::parent;
use super::patience::patiently;
use super::temporary::{create, temporary};
use crate::sys::ForeignAccess;

/// How many files are synced at the same time. A file system can write one journal entry for all
/// waiting syncs.
const SYNCED_AT_ONCE: usize = 8;

/// Who can read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the owner: mode 0600, or an access list with one entry.
    Owner,
    /// Everyone whom the umask allows: mode 0644 less its bits, as in ssh-keygen, but the owner
    /// always.
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

/// Gives a new file its mode where the umask or the file system has changed it, and checks that no
/// other user can access a private file, unless it may be exposed. On a file system without modes, all
/// files have the same mode and owner. One without access lists, such as FAT on Windows, has none.
fn set_mode(file: &File, access: Access, allow_exposed: bool) -> io::Result<()> {
    #[cfg(unix)]
    let changed = change_mode(file, access);
    if access == Access::Owner
        && !allow_exposed
        && let Some(others) = ForeignAccess::of(file)?
    {
        return Err(io::Error::other(Exposed(others)));
    }
    #[cfg(unix)]
    changed?;
    Ok(())
}

#[cfg(unix)]
fn change_mode(file: &File, access: Access) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = || Ok::<_, io::Error>(file.metadata()?.permissions().mode() & 0o777);
    let given = mode()?;
    let wanted = if access == Access::Owner { access.mode() } else { given | 0o600 };
    if given == wanted {
        return Ok(());
    }
    let changed = file.set_permissions(Permissions::from_mode(wanted));
    if mode()? & 0o600 == 0o600 { Ok(()) } else { changed }
}

/// Writes a new file that is complete and durable and has its final mode. Never overwrites a file.
///
/// # Errors
///
/// Returns a [`StoreError`]. Then no file remains, not even a temporary one, except with
/// [`StoreError::Unsynced`].
pub(super) fn write_new(path: &Path, access: Access, content: &[u8]) -> Result<(), StoreError> {
    let failed = |source: io::Error| StoreError::Write(path.to_owned(), source.into());
    let directory = Directory::open(parent(path), false).map_err(failed)?;

    let file = directory.temp_file(access, content.into()).map_err(failed)?;
    file.sync().map_err(failed)?;
    file.name(path)?;
    directory.sync().map_err(|source| StoreError::Unsynced(parent(path).to_owned(), source.into()))
}

/// A file with its content and its mode, but without its final name. It is removed on drop.
pub(super) struct TempKeyFile<'a> {
    file: Temp,
    access: Access,
    /// The content again, for a file system that cannot name the file.
    content: Cow<'a, [u8]>,
}

enum Temp {
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// A locked file with a temporary name.
    Temporary(NamedTempFile),
}

impl Temp {
    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Temporary(file) => file.as_file(),
        }
    }
}

impl TempKeyFile<'_> {
    /// Makes the content durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        sync(self.file.file())
    }

    /// Gives the file its name, which must be new. The caller syncs the file before and the
    /// directory afterwards.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`]. Then no file remains, not even a temporary one, except with
    /// [`StoreError::Unsynced`].
    pub(super) fn name(self, path: &Path) -> Result<(), StoreError> {
        let Self { file, access, content } = self;
        let named = match file {
            #[cfg(target_os = "linux")]
            Temp::Unnamed(file) => match link(&file, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    copy(&file, access, &content, path).and_then(|copy| rename(copy, path))
                }
                result => result.map(|()| file),
            },
            Temp::Temporary(file) => rename(file, path),
        };
        let named = match named {
            Err(error) if cannot_name(&error) => write_under_last_name(path, access, &content)
                .map_err(|last| if cannot_name(&last) { error } else { last }),
            named => named,
        };
        let file = named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
            _ => StoreError::Write(path.to_owned(), error.into()),
        })?;
        // No call syncs a directory of Windows. NTFS keeps names and files in one journal, and a
        // sync of the file writes the journal up to its last change, which is its name.
        if cfg!(windows) {
            file.sync_all().map_err(|source| StoreError::Unsynced(parent(path).to_owned(), source.into()))?;
        }
        Ok(())
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

/// Gives a temporary file its final name. Removes the file if that fails.
fn rename(file: NamedTempFile, path: &Path) -> io::Result<File> {
    let renamed =
        patiently(file, |file| file.persist_noclobber(path).map_err(|failure| (failure.error, failure.file)));
    renamed.or_else(|(error, file)| {
        if !cannot_name(&error) {
            return Err(error);
        }
        // The system may know hard links all the same.
        fs::hard_link(file.path(), path)?;
        let (file, _removed) = file.into_parts();
        Ok(file)
    })
}

/// Whether an error says that a system cannot name a file in this way, or forbids it.
#[cfg(unix)]
fn cannot_name(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [
        Errno::INVAL,
        Errno::NOSYS,
        Errno::NOTSUP,
        Errno::OPNOTSUPP,
        Errno::PERM,
        Errno::ACCESS,
        Errno::MLINK,
    ];
    Errno::from_io_error(error).is_some_and(|error| missing.contains(&error))
}

/// Returns false: Windows can rename every file without replacing another.
#[cfg(not(unix))]
fn cannot_name(_: &io::Error) -> bool {
    false
}

/// Copies an unnamed file that the system cannot name to a temporary file beside `path`, and syncs
/// it.
#[cfg(target_os = "linux")]
fn copy(file: &File, access: Access, content: &[u8], path: &Path) -> io::Result<NamedTempFile> {
    let mut copy = temporary(parent(path), access.mode())?;
    copy_mode(file, copy.as_file())?;
    copy.write_all(content)?;
    sync(copy.as_file())?;
    Ok(copy)
}

#[cfg(target_os = "linux")]
fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    let wanted = from.metadata()?.permissions();
    if to.metadata()?.permissions() == wanted { Ok(()) } else { to.set_permissions(wanted) }
}

/// Creates a file under its last name, which must be new, and writes and syncs it. Removes it if that
/// fails.
fn write_under_last_name(path: &Path, access: Access, content: &[u8]) -> io::Result<File> {
    let mut file = create(path, access.mode())?;
    // The directory has shown with the temporary file whether others can read it.
    let written =
        set_mode(&file, access, true).and_then(|()| file.write_all(content)).and_then(|()| sync(&file));
    match written {
        Ok(()) => Ok(file),
        Err(error) => {
            let _ = fs::remove_file(path);
            Err(error)
        }
    }
}

/// Makes the content of a file, or the names in a directory, durable.
///
/// On macOS `fsync` leaves the content in the drive's own cache, where a power cut loses it
/// (fsync(2)). The standard library asks the drive to empty its cache (`F_FULLFSYNC`). Not every
/// file system there can do that: a share of Windows or Samba answers `ENOTSUP`, and others answer
/// `ENOTTY` or `EINVAL`. For these the plain `fsync` is the strongest call that exists, and their
/// server or driver decides what it means. SQLite, libuv and Go do the same (golang/go#64215).
pub(super) fn sync(file: &File) -> io::Result<()> {
    let synced = file.sync_all();
    #[cfg(target_vendor = "apple")]
    if synced.as_ref().is_err_and(has_no_full_sync) {
        return Ok(rustix::fs::fsync(file)?);
    }
    synced
}

/// Whether an error says that the file system has no `F_FULLFSYNC`.
#[cfg(unix)]
#[cfg(any(test, target_vendor = "apple"))]
fn has_no_full_sync(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL];
    Errno::from_io_error(error).is_some_and(|error| missing.contains(&error))
}

/// Syncs many files at the same time. Returns the result for each file, in their order.
pub(super) fn sync_together(files: &[&TempKeyFile]) -> Vec<io::Result<()>> {
    let sync = |file: &&TempKeyFile| file.sync();
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
            // If a thread does not start or panics, its files are synced here, which takes longer.
            let synced = thread.ok().and_then(|thread| thread.join().ok());
            synced.unwrap_or_else(|| files.iter().map(sync).collect())
        });
        results.flatten().collect()
    })
}

/// A directory that will get new files. It is opened first, so that a directory that cannot be
/// opened for a sync fails before it gets a file.
pub(super) struct Directory<'a> {
    path: &'a Path,
    /// Whether users other than the owner may have access to private files.
    allow_exposed: bool,
    #[cfg(unix)]
    handle: File,
}

impl<'a> Directory<'a> {
    pub(super) fn open(path: &'a Path, allow_exposed: bool) -> io::Result<Self> {
        #[cfg(unix)]
        {
            Ok(Self { path, allow_exposed, handle: File::open(path)? })
        }
        #[cfg(not(unix))]
        Ok(Self { path, allow_exposed })
    }

    /// Writes a file without its final name. Does not sync it.
    pub(super) fn temp_file<'b>(
        &self,
        access: Access,
        content: Cow<'b, [u8]>,
    ) -> io::Result<TempKeyFile<'b>> {
        let file = self.empty(access.mode())?;
        set_mode(file.file(), access, self.allow_exposed)?;
        within_size_limit(content.len() as u64)?;
        file.file().write_all(&content)?;
        Ok(TempKeyFile { file, access, content })
    }

    fn empty(&self, mode: u32) -> io::Result<Temp> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, OFlags, openat};
            let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
            if let Ok(file) = openat(CWD, self.path, flags, Mode::from_raw_mode(mode)) {
                return Ok(Temp::Unnamed(file.into()));
            }
        }
        // The system has no unnamed files, or forbids them. Or the directory takes no files, which
        // this finds out, too.
        temporary(self.path, mode).map(Temp::Temporary)
    }

    /// Makes the names in the directory durable.
    #[cfg(unix)]
    pub(super) fn sync(&self) -> io::Result<()> {
        match sync(&self.handle) {
            // The file system does not offer a sync of directories, so there is nothing to do.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            result => result,
        }
    }

    /// Does nothing. Windows has no sync of a directory; see [`TempKeyFile::name`].
    #[cfg(not(unix))]
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails if a file of `len` bytes is larger than `RLIMIT_FSIZE`. The write would end the process with a
/// signal and leave the temporary file.
pub(super) fn within_size_limit(len: u64) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let limit = getrlimit(Resource::Fsize).current;
        if limit.is_some_and(|limit| limit < len) {
            return Err(rustix::io::Errno::FBIG.into());
        }
    }
    #[cfg(not(unix))]
    let _ = len;
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::process::Command;

    use rustix::io::Errno;
    use tempfile::TempDir;

    use super::super::destination::create_directory;
    use super::super::tests::names;
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    /// Runs the test with the full name `test` again, in a new process. The shell commands `setup`
    /// run first, because umask and limits belong to the whole process. Returns true in the new
    /// process and false in the outer one.
    fn inner(test: &str, setup: &str, directory: &Path) -> bool {
        const MARK: &str = "VANITY_ED25519_INNER_TEST";
        if std::env::var_os(MARK).is_some() {
            return true;
        }
        let output = Command::new("sh")
            .args(["-c", &format!("{setup}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(MARK, setup)
            .current_dir(directory)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{setup}: {text}");
        false
    }

    #[test]
    fn a_private_file_is_0600_from_the_start_under_any_umask() {
        for umask in ["000", "022", "077", "277", "777"] {
            let outer = TempDir::new().unwrap();
            let test = "store::new_file::tests::a_private_file_is_0600_from_the_start_under_any_umask";
            if !inner(test, &format!("umask {umask}"), outer.path()) {
                assert_eq!(mode(&outer.path().join("private")), 0o600, "umask {umask}");
                assert_eq!(mode(&outer.path().join("new")), 0o700, "umask {umask}");
                let umask = u32::from_str_radix(umask, 8).unwrap();
                assert_eq!(mode(&outer.path().join("public")), 0o644 & !umask | 0o600, "umask {umask:o}");
                continue;
            }
            let here = Directory::open(Path::new("."), false).unwrap();
            let file = here.temp_file(Access::Owner, b"".into()).unwrap().file;
            assert_eq!(file.file().metadata().unwrap().mode() & 0o7777, 0o600);
            #[cfg(target_os = "linux")]
            let file = copy(file.file(), Access::Owner, b"", Path::new("private")).unwrap();
            #[cfg(not(target_os = "linux"))]
            let file = temporary(Path::new("."), 0o600).unwrap();
            set_mode(file.as_file(), Access::Owner, false).unwrap();
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
            "store::new_file::tests::a_size_limit_is_an_error_and_leaves_nothing",
            "ulimit -f 0",
            outer.path(),
        ) {
            assert_eq!(names(outer.path()), [""; 0]);
            return;
        }
        let error = write_new(Path::new("key"), Access::Owner, b"secret").unwrap_err();
        assert!(matches!(error, StoreError::Write(..)), "{error}");
        assert_eq!(within_size_limit(1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        within_size_limit(0).unwrap();
    }

    #[test]
    fn a_new_file_is_the_only_file() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        write_new(&path, Access::Owner, b"secret").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        assert_eq!(names(directory.path()), ["key"]);
    }

    #[test]
    fn files_that_are_synced_together_all_exist() {
        let directory = TempDir::new().unwrap();
        let here = Directory::open(directory.path(), false).unwrap();
        for count in [0, 1, 8, 9, 100] {
            let contents: Vec<String> = (0..count).map(|number| format!("{count}-{number}")).collect();
            let files: Vec<TempKeyFile> = contents
                .iter()
                .map(|content| here.temp_file(Access::Owner, content.as_bytes().into()).unwrap())
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
        let here = Directory::open(directory.path(), false).unwrap();
        let file = here.temp_file(Access::Owner, b"secret".into()).unwrap();
        assert!(matches!(file.file, Temp::Unnamed(_)), "the disk of this test has no unnamed files");
        assert_eq!(names(directory.path()), [""; 0]);
        file.name(&directory.path().join("key")).unwrap();
        assert_eq!(names(directory.path()), ["key"]);
    }

    /// This happens on a system without /proc.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_cannot_be_named_is_copied_into_one_that_can() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        let here = Directory::open(directory.path(), false).unwrap();
        // The usual umask takes away a part of the last mode.
        for (access, expected) in [(Access::Owner, 0o600), (Access::Everyone, 0o666)] {
            let Temp::Unnamed(file) = here.temp_file(access, b"".into()).unwrap().file else {
                panic!("it has a name")
            };
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(expected)).unwrap();
            let copy = || copy(&file, access, b"secret", &path).unwrap();
            rename(copy(), &path).unwrap();
            assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (&b"secret"[..], expected));
            let again = rename(copy(), &path).unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(names(directory.path()), ["key"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_written_under_its_last_name_is_whole_and_replaces_nothing() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        for (access, expected) in [(Access::Owner, 0o600), (Access::Everyone, 0o644)] {
            write_under_last_name(&path, access, b"secret").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"secret");
            assert_eq!(mode(&path) & 0o700, expected & 0o700);
            let again = write_under_last_name(&path, access, b"other").unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).unwrap(), b"secret");
            fs::remove_file(&path).unwrap();
        }
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
            assert!(matches!(&error, StoreError::Exists(taken) if *taken == path(name)), "{error}");
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
        assert!(matches!(error, StoreError::Write(..)), "{error}");
        assert!(error.to_string().starts_with(&format!("cannot write '{}'", path.display())), "{error}");
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn only_a_missing_full_sync_is_replaced() {
        for missing in [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL] {
            assert!(has_no_full_sync(&missing.into()), "{missing}");
        }
        for failure in [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::BADF, Errno::INTR, Errno::ROFS] {
            assert!(!has_no_full_sync(&failure.into()), "{failure}");
        }
        assert!(!has_no_full_sync(&io::Error::other("no number")));
    }

    #[test]
    fn files_and_directories_are_synced() {
        let directory = TempDir::new().unwrap();
        sync(&File::create(directory.path().join("file")).unwrap()).unwrap();
        sync(&File::open(directory.path()).unwrap()).unwrap();
    }
}
