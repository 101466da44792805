//! New files that are complete and durable, or not there at all.
//!
//! The order is: an exclusive temporary file in the same directory, with its final mode from the
//! start; write; fsync; a rename that replaces nothing; fsync of the directory, because until then a
//! power cut may take the name away again. Only then is the file reported. On the way out of any
//! failure the temporary file is removed. One file costs two fsyncs, milliseconds to tens of them;
//! of many files that are synced together, each costs a small part of that.
//!
//! A process that is killed leaves its temporary files. [`remove_leftovers`] takes them away when nobody is about
//! to name one: everyone who has a temporary file holds a shared lock on its directory.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use tempfile::{Builder, NamedTempFile};
use zeroize::Zeroizing;

#[cfg(unix)]
use super::lock::patiently;
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

/// Writes a new file that is complete, durable and has its final mode, never over an existing name.
///
/// # Errors
///
/// [`FileError`]. Except with [`FileError::Unsynced`] there is then no file, and no temporary one.
pub(super) fn write_new(path: &Path, access: Access, content: &[u8]) -> Result<(), FileError> {
    let failed = |source| FileError::Write(path.to_owned(), source);
    let directory = Directory::open(parent(path)).map_err(failed)?;

    let file = directory.nameless(access, content).map_err(failed)?;
    file.0.as_file().sync_all().map_err(failed)?;
    file.name(path)?;
    directory.sync().map_err(|source| FileError::Unsynced(path.to_owned(), source))
}

/// A file with its content and its mode, under a temporary name. It is removed on drop.
pub(super) struct Nameless(NamedTempFile);

impl Nameless {
    /// Gives the file its name, which must be new. It should have been synced; the directory has to be, afterwards.
    ///
    /// # Errors
    ///
    /// [`FileError`]. There is then no file, and no temporary one.
    pub(super) fn name(self, path: &Path) -> Result<(), FileError> {
        // A failed rename hands the temporary file back, and dropping that removes it.
        let named = self.0.persist_noclobber(path).map_err(|failure| match failure.error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists(path.to_owned()),
            _ => FileError::Write(path.to_owned(), failure.error),
        });
        named.map(drop)
    }
}

/// Syncs many files at the same time. Gives what became of each, in their order.
pub(super) fn sync_together(files: &[&Nameless]) -> Vec<io::Result<()>> {
    let sync = |file: &&Nameless| file.0.as_file().sync_all();
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

/// Reads a file of a key. In a directory of keys anything may have the name of one: a pipe is not waited for, and a device or
/// a file that is too large is not read.
///
/// # Errors
///
/// What the operating system answers, or that it is no such file.
pub fn read_key_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut options = fs::File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Room for one byte more, so that reading to the end never makes a copy elsewhere.
    let mut bytes = Zeroizing::new(Vec::with_capacity(found.len() as usize + 1));
    file.take(found.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Removes the temporary files that killed processes have left in a directory. Leaves all of them where another
/// process is just writing files, and where the file system has no locks.
pub(super) fn remove_leftovers(path: &Path) -> io::Result<()> {
    // Windows has no locks of directories.
    #[cfg(unix)]
    {
        let handle = fs::File::open(path)?;
        if handle.try_lock().is_err() {
            return Ok(());
        }
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            let [start, end] = TEMPORARY.map(str::as_bytes);
            let name = name.as_encoded_bytes();
            if name.starts_with(start) && name.ends_with(end) && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Whether `write_new` can put files into this directory: tries it, and leaves nothing there.
///
/// # Errors
///
/// What the operating system answers to the step that fails.
pub(super) fn try_directory(path: &Path) -> io::Result<()> {
    // Longer than a key with an ordinary comment, so that a full disk is noticed too.
    const CONTENT: [u8; 1024] = [0; 1024];
    let directory = Directory::open(path)?;
    let file = directory.nameless(Access::Owner, &CONTENT)?;
    file.0.as_file().sync_all()?;
    file.0.close()?;
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
/// fails before anything is in it. While it is open, no other process takes its temporary files for leftovers.
pub(super) struct Directory<'a> {
    path: &'a Path,
    #[cfg(unix)]
    handle: fs::File,
}

impl<'a> Directory<'a> {
    pub(super) fn open(path: &'a Path) -> io::Result<Self> {
        #[cfg(unix)]
        {
            let handle = fs::File::open(path)?;
            patiently(|| handle.try_lock_shared());
            Ok(Self { path, handle })
        }
        #[cfg(not(unix))]
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Writes a file that has no name yet, and does not sync it.
    pub(super) fn nameless(&self, access: Access, content: &[u8]) -> io::Result<Nameless> {
        let mut file = self.temporary(access)?;
        within_size_limit(content)?;
        file.as_file_mut().write_all(content)?;
        Ok(Nameless(file))
    }

    fn temporary(&self, access: Access) -> io::Result<NamedTempFile> {
        let mut builder = Builder::new();
        builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(match access {
                Access::Owner => 0o600,
                Access::Everyone => 0o644,
            }));
        }
        #[cfg(not(unix))]
        let _ = access; // Files take the access rules of their directory.
        // The crate's error names the temporary file, which means nothing to anyone.
        builder.tempfile_in(self.path).map_err(|error| error.kind().into())
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

    use super::super::again::inner;
    use super::*;

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
            let test = "file::tests::a_private_file_is_0600_from_the_start_under_any_umask";
            if !inner(test, &format!("umask {umask}"), outer.path()) {
                assert_eq!(mode(&outer.path().join("private")), 0o600, "umask {umask}");
                assert_eq!(mode(&outer.path().join("new")), 0o700, "umask {umask}");
                let umask = u32::from_str_radix(umask, 8).unwrap();
                assert_eq!(mode(&outer.path().join("public")), 0o644 & !umask, "umask {umask:o}");
                continue;
            }
            let here = Directory::open(Path::new(".")).unwrap();
            let temporary = here.temporary(Access::Owner).unwrap();
            assert_eq!(mode(temporary.path()), 0o600);
            let name = temporary.path().file_name().unwrap().to_str().unwrap().to_owned();
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
        if !inner("file::tests::a_size_limit_is_an_error_and_leaves_nothing", "ulimit -f 0", outer.path()) {
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
        assert_eq!(**read_key_file(&path("key")).unwrap(), *b"secret");
        assert_eq!(**read_key_file(&path("link")).unwrap(), *b"secret");
        assert_eq!(**read_key_file(&path("empty")).unwrap(), *b"");

        fs::File::create(path("largest")).unwrap().set_len(LARGEST).unwrap();
        assert_eq!(read_key_file(&path("largest")).unwrap().len() as u64, LARGEST);

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
    fn leftovers_are_removed_but_nothing_that_is_in_use() {
        let directory = TempDir::new().unwrap();
        let others = [".vanity-ed25519-x", "x.tmp", "key", "vanity-ed25519.tmp"];
        others.iter().for_each(|name| fs::write(directory.path().join(name), "").unwrap());
        symlink("key", directory.path().join(".vanity-ed25519-link.tmp")).unwrap();
        let leave = || fs::write(directory.path().join(".vanity-ed25519-aB3xyz.tmp"), "secret").unwrap();
        leave();
        let here = Directory::open(directory.path()).unwrap();
        let file = here.nameless(Access::Owner, b"mine").unwrap();
        remove_leftovers(directory.path()).unwrap();
        assert_eq!(names(directory.path()).len(), 7);
        file.name(&directory.path().join("new")).unwrap();
        drop(here);
        remove_leftovers(directory.path()).unwrap();
        let left =
            [".vanity-ed25519-link.tmp", ".vanity-ed25519-x", "key", "new", "vanity-ed25519.tmp", "x.tmp"];
        assert_eq!(names(directory.path()), left);
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
