//! Where the files of a key pair go, and their names.
//!
//! [`Destination::prepare`] runs before the search, so that an error that can be found early does
//! not cost a night's search. [`Destination::keep`] runs after a find. The private file gets its
//! name first: the program can make its public line again, but a public line alone is worth
//! nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::StoreError;
use super::group::{Kept, NewPair, keep_together};
use super::name::{file_name, is_ordinary_name, is_windows_name, parent, public_file};
use super::new_file::Directory;
use super::temporary::remove_leftovers;
use super::trial::{try_directory, try_names};
use crate::key::Format;
use crate::notice::Notice;

/// Where key pairs go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destination {
    /// To no file: the caller prints them.
    Stream,
    /// One pair: the private key goes to this file, the public line to the same name with `.pub`
    /// added.
    File(PathBuf),
    /// One pair in this directory: the private key goes to a file of this name.
    FileIn(PathBuf, &'static str),
    /// Many pairs: each key gets a pair of files in this directory.
    Directory(PathBuf),
}

impl Destination {
    /// Returns the format of private keys for this destination: `chosen`, or else the one for its
    /// name (PKCS#8 for a stream and for `*.pem`, PuTTY's for `*.ppk`, OpenSSH's for any other
    /// file).
    #[must_use]
    pub fn format(&self, chosen: Option<Format>) -> Format {
        chosen.unwrap_or_else(|| match self {
            Self::Stream => Format::Pkcs8,
            Self::File(path) => Format::of_file_name(path),
            Self::FileIn(..) | Self::Directory(_) => Format::Openssh,
        })
    }

    /// Fails now if [`keep`](Self::keep) would certainly fail later.
    ///
    /// Creates a missing directory of [`FileIn`](Self::FileIn) and [`Directory`](Self::Directory)
    /// with mode 0700; its parent must exist.
    /// Removes the temporary files that killed processes have left. Changes nothing else on disk, but
    /// returns a warning about each file of the trial that it cannot remove.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the destination.
    pub fn prepare(&self, demands: Demands) -> Result<Vec<Notice>, StoreError> {
        match self {
            Self::Stream => Ok(Vec::new()),
            Self::File(path) => prepare_file(path, demands),
            Self::FileIn(directory, name) => {
                create_missing(directory).and_then(|()| prepare_file(&directory.join(name), demands))
            }
            Self::Directory(path) => {
                create_missing(path)?;
                check_directory(path)?;
                clear(path)?;
                let public_name = demands.name + public_file(Path::new("")).as_os_str().len();
                try_files(path, &demands.with_ledger(), public_name, demands)
            }
        }
    }

    /// Writes key pairs together, and returns when the files are durable. Calls `before_names` before
    /// the first file gets its name. Returns what became of each pair. A [`Stream`](Self::Stream)
    /// keeps none.
    ///
    /// # Errors
    ///
    /// Nothing of a pair with an error remains on disk, unless [`StoreError::is_on_disk`] says so.
    pub fn keep(
        &self,
        pairs: &[NewPair],
        allow_exposed: bool,
        before_names: impl FnOnce(),
    ) -> Vec<Result<Kept, StoreError>> {
        let directory = match self {
            Self::Stream => return Vec::new(),
            Self::File(path) => parent(path),
            Self::FileIn(directory, _) | Self::Directory(directory) => directory,
        };
        let private_file = |pair: &NewPair| match self {
            Self::File(path) => path.clone(),
            Self::FileIn(_, name) => directory.join(name),
            _ => directory.join(file_name(pair.label, pair.public_key, pair.format)),
        };
        let private_files = pairs.iter().map(private_file).collect();
        keep_together(directory, allow_exposed, pairs, private_files, before_names)
    }
}

/// What the files of a destination need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demands {
    /// The bytes of the longest comment or pattern.
    pub text: usize,
    /// The bytes of the longest name of a private file in a directory.
    pub name: usize,
    /// Whether users other than the owner may have access to private files.
    pub allow_exposed: bool,
}

impl Demands {
    /// Returns enough bytes for a private and a public file. Base64 makes a text a third longer.
    fn of_pair(self) -> [usize; 2] {
        [1024 + 2 * self.text, 128 + self.text]
    }

    /// Returns enough bytes for a line in the ledger.
    #[must_use]
    pub fn of_line(self) -> usize {
        1024 + 2 * self.text
    }

    /// Returns enough bytes for a pair and its line in the ledger.
    fn with_ledger(self) -> [usize; 3] {
        let [private, public] = self.of_pair();
        [private, public, self.of_line()]
    }
}

/// Checks that files of these sizes, and names of `name_len` bytes, fit into a directory.
fn try_files(
    directory: &Path,
    sizes: &[usize],
    name_len: usize,
    demands: Demands,
) -> Result<Vec<Notice>, StoreError> {
    try_directory(directory, sizes, name_len, demands.allow_exposed)
        .map(|left| left.into_iter().collect())
        .map_err(|source| StoreError::Unusable(directory.to_owned(), source.into()))
}

fn prepare_file(path: &Path, demands: Demands) -> Result<Vec<Notice>, StoreError> {
    let path = path.to_owned();
    if fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
        return Err(StoreError::IsDirectory(path));
    }
    // `file_name` overlooks a trailing `/` or `/.`; the text of the path does not.
    let spelled = path.as_os_str().as_encoded_bytes();
    let Some(name) = path.file_name().filter(|name| spelled.ends_with(name.as_encoded_bytes())) else {
        return Err(StoreError::NoFileName(path));
    };
    if cfg!(windows) && !is_windows_name(&name.to_string_lossy()) {
        return Err(StoreError::NoFileName(path));
    }
    if name.to_ascii_lowercase().as_encoded_bytes().ends_with(b".pub") {
        return Err(StoreError::PublicName(path));
    }
    let directory = parent(&path);
    check_directory(directory)?;
    clear(directory)?;
    let names = [path.clone(), public_file(&path)];
    for path in names.clone() {
        // Links are not followed, because a dangling link is also a name that exists.
        match fs::symlink_metadata(&path) {
            Ok(_) => return Err(StoreError::Exists(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Write(path, source.into())),
        }
    }
    let public_name = names[1].file_name().map_or(0, OsStr::len);
    let mut left = try_files(directory, &demands.of_pair(), public_name, demands)?;
    if !is_ordinary_name(&name.to_string_lossy()) {
        left.extend(try_names(directory, &names, demands.allow_exposed).map_err(|error| match error {
            StoreError::Write(path, source) => StoreError::RefusedName(path, source),
            error => error,
        })?);
    }
    Ok(left)
}

/// Creates a directory if it does not exist.
fn create_missing(path: &Path) -> Result<(), StoreError> {
    let missing = fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if !missing || path == Path::new("") {
        return Ok(());
    }
    check_directory(parent(path))?;
    match create_directory(path) {
        // Another process was faster, or this is a dangling link. A later check decides.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result.map_err(|source| StoreError::Unusable(path.to_owned(), source.into())),
    }
}

/// Creates a directory that only its owner can enter (mode 0700, or its access list), and syncs its
/// parent.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let outer = Directory::open(parent(path), false)?;
    #[cfg(unix)]
    {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        // The umask may have taken the owner's own permissions.
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .or_else(|_| fs::metadata(path).map(drop))?;
    }
    #[cfg(windows)]
    crate::sys::windows::create_private_directory(path)?;
    outer.sync()
}

fn check_directory(path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    match fs::metadata(&path) {
        #[cfg(unix)]
        Ok(found) if found.is_dir() && is_write_only(&path) => Err(StoreError::Unreadable(path)),
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(StoreError::NotADirectory(path)),
        Err(source) => Err(match source.kind() {
            io::ErrorKind::NotFound => StoreError::NoDirectory(path),
            io::ErrorKind::NotADirectory => StoreError::NotADirectory(path),
            _ => StoreError::Unusable(path, source.into()),
        }),
    }
}

/// Removes what killed processes and failed trials left in a directory.
fn clear(path: &Path) -> Result<(), StoreError> {
    remove_leftovers(path).map_err(|source| StoreError::Unusable(path.to_owned(), source.into()))
}

/// Whether files can be created in a directory that cannot be read.
#[cfg(unix)]
fn is_write_only(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok() && access(path, Access::READ_OK).is_err()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use tempfile::TempDir;

    use super::*;
    use crate::key::{PublicKey, Seed};

    #[test]
    fn errors_have_their_causes() {
        use std::error::Error as _;
        let path = || PathBuf::from("key");
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let unwritten = || StoreError::Write(path(), denied().into());
        let public_file = StoreError::PublicFile {
            private_file: path(),
            line: "ssh-ed25519 AAAA".into(),
            source: unwritten().into(),
        };
        let file = "cannot write 'key': permission denied";
        for (error, cause) in [
            (StoreError::Unusable(path(), denied().into()), Some("permission denied")),
            (public_file, Some(file)),
            (unwritten(), Some("permission denied")),
            (StoreError::Exists(path()), None),
            (StoreError::NoDirectory(path()), None),
        ] {
            assert_eq!(error.source().map(ToString::to_string).as_deref(), cause, "{error}");
        }
    }

    /// Calls `keep` with fewer words.
    fn keep(
        destination: &Destination,
        (seed, public_key): (&Seed, &PublicKey),
        [label, comment, private_text]: [&str; 3],
        format: Option<Format>,
    ) -> Result<Kept, StoreError> {
        let format = destination.format(format);
        let pair = NewPair { seed, public_key, label, comment, format, private_text };
        destination.keep(&[pair], false, || ()).remove(0)
    }

    fn key() -> (Seed, PublicKey) {
        let seed = Seed::new([7; 32]);
        let public = seed.public_key();
        (seed, public)
    }

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_pair_goes_into_a_file_and_its_pub() {
        let directory = TempDir::new().unwrap();
        let (seed, public) = key();
        for (name, chosen, format) in [
            ("id_x", None, Format::Openssh),
            ("id_x.pem", None, Format::Pkcs8),
            ("id_y", Some(Format::Pkcs8), Format::Pkcs8),
            ("id_y.pem", Some(Format::Openssh), Format::Openssh),
            ("id_x.ppk", None, Format::Ppk),
            ("id_z", Some(Format::Ppk), Format::Ppk),
        ] {
            let path = directory.path().join(name);
            let destination = Destination::File(path.clone());
            destination.prepare(Demands::default()).unwrap();
            let text = seed.private_text(format, "me", None).unwrap();
            let kept = keep(&destination, (&seed, &public), ["label", "me", &text], chosen).unwrap();
            let public_file = directory.path().join(format!("{name}.pub"));
            assert_eq!(kept, Kept { private_file: path.clone(), public_file: public_file.clone(), format });
            assert_eq!(fs::read_to_string(&path).unwrap(), *text);
            assert_eq!(fs::read_to_string(&public_file).unwrap(), format!("{}\n", public.line("me")));
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
            assert_eq!(fs::metadata(&public_file).unwrap().mode() & 0o033, 0);
        }
        assert_eq!(count(directory.path()), 12);
    }

    #[test]
    fn a_directory_is_tried_with_enough_bytes_for_a_pair() {
        let (seed, public) = key();
        for text in [0, 1, 100, 10_000] {
            let comment = "x".repeat(text);
            let demands = Demands { text, ..Demands::default() };
            let [private, public_line, ledger_line] = demands.with_ledger();
            assert_eq!(demands.of_pair(), [private, public_line]);
            assert!(public.line(&comment).len() < public_line);
            // It has the pattern, and the names of both files.
            assert!(ledger_line > 2 * text);
            for format in [Format::Openssh, Format::Pkcs8, Format::Ppk] {
                let written = seed.private_text(format, &comment, None).unwrap().len();
                // An encrypted key has a salt and the parameters of its cipher, too.
                assert!(written + 256 < private, "{format:?}, {text} bytes: {written} bytes");
            }
        }
    }

    #[test]
    fn a_stream_keeps_nothing() {
        let (seed, public) = key();
        Destination::Stream.prepare(Demands::default()).unwrap();
        let (label, comment, private_text, format) = ("", "", "text", Format::Pkcs8);
        let pair = NewPair { seed: &seed, public_key: &public, label, comment, format, private_text };
        assert!(Destination::Stream.keep(&[pair], false, || ()).is_empty());
        assert_eq!(Destination::Stream.format(None), Format::Pkcs8);
    }

    #[test]
    fn unusable_files_are_refused_beforehand_and_nothing_changes() {
        let directory = TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("file"), "old").unwrap();
        fs::write(path("half.pub"), "old").unwrap();
        fs::create_dir(path("directory")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        symlink("nowhere", path("other.pub")).unwrap();
        let long = "x".repeat(253);
        let before = count(directory.path());

        let refusal =
            |path: PathBuf| Destination::File(path).prepare(Demands::default()).unwrap_err().to_string();
        for name in ["", "new/", "new/.", "new/..", "file/", "file/."] {
            let path = if name.is_empty() { PathBuf::new() } else { path(name) };
            assert!(refusal(path).ends_with("does not name a file"), "{name}");
        }
        for name in ["directory", "directory/", "directory/.", "..", "."] {
            assert!(refusal(path(name)).ends_with(&format!("/{name}' is a directory")), "{name}");
        }
        for name in ["a.pub", "a.PUB", ".pub", ".Pub", "a.b.pUb"] {
            assert!(refusal(path(name)).contains(&format!("/{name}' is the name of a public key")), "{name}");
        }
        for (name, taken) in
            [("file", "file"), ("half", "half.pub"), ("dangling", "dangling"), ("other", "other.pub")]
        {
            assert!(refusal(path(name)).ends_with(&format!("/{taken}' already exists")), "{name}");
        }
        assert!(refusal(path("gone/key")).ends_with("/gone' does not exist"));
        assert!(refusal(path("file/key")).ends_with("/file' is not a directory"));
        assert!(refusal(path("file/a/key")).ends_with("/file/a' is not a directory"));
        assert!(refusal(path(&long)).starts_with("cannot write"));

        assert_eq!(count(directory.path()), before);
        assert_eq!(fs::read(path("file")).unwrap(), b"old");
        assert_eq!(fs::read(path("half.pub")).unwrap(), b"old");
    }

    /// Not even root can create a file in /proc.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_that_takes_no_files_is_refused_beforehand() {
        let error = Destination::File("/proc/key".into()).prepare(Demands::default()).unwrap_err();
        assert!(error.to_string().starts_with("cannot create files in '/proc': "), "{error}");
        let error = Destination::Directory("/proc".into()).prepare(Demands::default()).unwrap_err();
        assert!(error.to_string().starts_with("cannot create files in '/proc': "), "{error}");
    }

    #[test]
    fn a_missing_directory_of_ssh_is_made_for_the_owner_alone() {
        let of_ssh = std::env::home_dir().unwrap().join(".ssh");
        let hint = StoreError::NoDirectory(of_ssh).hint().unwrap();
        assert!(hint.starts_with("create it first: mkdir -m 700 "), "{hint}");
    }

    #[test]
    fn a_broken_link_is_named_as_one() {
        let outer = TempDir::new().unwrap();
        let link = outer.path().join("link");
        symlink("gone", &link).unwrap();
        let hint = StoreError::NoDirectory(link).hint().unwrap();
        assert!(hint.starts_with("it is a broken link: "), "{hint}");
    }

    #[test]
    fn a_directory_is_made_for_the_owner_alone_but_its_parents_are_not() {
        let directory = TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["keys", "with_slash/"] {
            Destination::Directory(path(name)).prepare(Demands::default()).unwrap();
            assert_eq!(fs::metadata(path(name)).unwrap().mode() & 0o7777, 0o700);
            assert_eq!(count(&path(name)), 0);
            Destination::Directory(path(name)).prepare(Demands::default()).unwrap();
        }
        fs::write(path("file"), "old").unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        for (name, end) in [
            ("a/b", "/a' does not exist"),
            ("dangling", "/dangling' does not exist"),
            ("file", "/file' is not a directory"),
            ("file/keys", "/file/keys' is not a directory"),
        ] {
            let error =
                Destination::Directory(path(name)).prepare(Demands::default()).unwrap_err().to_string();
            assert!(error.ends_with(end), "{error}");
        }
        assert!(Destination::Directory(PathBuf::new()).prepare(Demands::default()).is_err());
        assert_eq!(count(directory.path()), 4);
    }

    #[test]
    fn a_directory_holds_many_pairs_and_none_twice() {
        let directory = TempDir::new().unwrap();
        let destination = Destination::Directory(directory.path().to_owned());
        for byte in 0..5 {
            let seed = Seed::new([byte; 32]);
            let kept = keep(&destination, (&seed, &seed.public_key()), ["../x", "", "text"], None).unwrap();
            assert_eq!(kept.private_file.parent(), Some(directory.path()));
            assert_eq!(kept.format, Format::Openssh);
        }
        assert_eq!(count(directory.path()), 10);
        let seed = Seed::new([0; 32]);
        let error = keep(&destination, (&seed, &seed.public_key()), ["../x", "", "text"], None).unwrap_err();
        assert!(matches!(error, StoreError::Exists(_)), "{error}");
        assert_eq!(count(directory.path()), 10);
    }

    #[test]
    fn a_lost_public_file_does_not_lose_the_key() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("key");
        let (seed, public) = key();
        fs::write(directory.path().join("key.pub"), "old").unwrap();
        let error =
            keep(&Destination::File(path.clone()), (&seed, &public), ["", "me", "text"], None).unwrap_err();
        assert!(error.to_string().ends_with(&format!("the private key is kept in '{}'", path.display())));
        assert!(error.hint().unwrap().ends_with(&public.line("me")));
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(fs::read(directory.path().join("key.pub")).unwrap(), b"old");
        assert_eq!(count(directory.path()), 2);
    }

    #[test]
    fn a_directory_that_vanishes_is_an_error() {
        let directory = TempDir::new().unwrap();
        let (seed, public) = key();
        let destination = Destination::Directory(directory.path().join("keys"));
        destination.prepare(Demands::default()).unwrap();
        fs::remove_dir(directory.path().join("keys")).unwrap();
        let error = keep(&destination, (&seed, &public), ["x", "", "text"], None).unwrap_err();
        assert!(matches!(error, StoreError::Write(..)), "{error}");
        assert_eq!(count(directory.path()), 0);
    }

    #[test]
    fn a_key_of_another_seed_is_never_kept() {
        let directory = TempDir::new().unwrap();
        let destination = Destination::File(directory.path().join("key"));
        let (seed, mut public) = key();
        public.0[31] ^= 0x80;
        let error = keep(&destination, (&seed, &public), ["", "", "text"], None).unwrap_err();
        assert!(matches!(error, StoreError::WrongKey(_)), "{error}");
        assert_eq!(count(directory.path()), 0);
    }
}
