//! Writes pairs of files together.
//!
//! All files are written without names, and synced at the same time. Then each file gets its name,
//! the private file of a pair first, and the directory is synced once. So each pair of many costs
//! far less than a single pair.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::StoreError;
use super::name::public_file;
use super::new_file::{Access, Directory, TempKeyFile, sync_together};
use super::stored_pair::public_line_in;
use crate::key::{Format, PublicKey, Seed};

/// The number of open files that a group leaves for the rest of the process.
#[cfg(unix)]
const SPARE_FILES: u64 = 64;

/// The files of a key pair that was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    pub private_file: PathBuf,
    pub public_file: PathBuf,
    pub format: Format,
}

/// A key pair to keep.
#[derive(Clone, Copy)]
pub struct NewPair<'a> {
    pub seed: &'a Seed,
    /// Its public key.
    pub public_key: &'a PublicKey,
    /// The pattern from which the files get their names in a directory. It can have any characters.
    pub label: &'a str,
    pub comment: &'a str,
    pub format: Format,
    /// The text that [`Seed::private_text`] made from the seed and the comment in that format.
    pub private_text: &'a str,
}

/// A pair of files without names.
struct Unnamed<'a> {
    private: TempKeyFile<'a>,
    public: TempKeyFile<'a>,
    /// The names that the files will get.
    kept: Kept,
    public_key: PublicKey,
    /// The public line, without a line ending.
    line: String,
}

/// Returns the most pairs that can be kept together before the process has too many open files. This
/// is at least 1.
#[must_use]
pub fn most_together() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        usize::try_from(files.saturating_sub(SPARE_FILES) / 2).unwrap_or(usize::MAX).max(1)
    }
    #[cfg(not(unix))]
    usize::MAX
}

/// Writes pairs to files of a directory, whose private files get the names in `private_files`. Calls
/// `before_names` when the files are durable and before the first one gets its name, unless there is
/// none. Returns what became of each pair.
pub(super) fn keep_together(
    directory: &Path,
    allow_exposed: bool,
    pairs: &[NewPair],
    private_files: Vec<PathBuf>,
    before_names: impl FnOnce(),
) -> Vec<Result<Kept, StoreError>> {
    let opened = match Directory::open(directory, allow_exposed) {
        Ok(opened) => opened,
        Err(source) => {
            let source = Arc::new(source);
            let error = |file| Err(StoreError::Write(file, Arc::clone(&source)));
            return private_files.into_iter().map(error).collect();
        }
    };
    let write = |(pair, private_file)| Unnamed::write(&opened, pair, private_file);
    let mut unnamed: Vec<_> = pairs.iter().zip(private_files).map(write).collect();
    sync(&mut unnamed);
    if unnamed.iter().any(Result::is_ok) {
        before_names();
    }
    let kept: Vec<_> = unnamed.into_iter().map(|unnamed| unnamed.and_then(Unnamed::name)).collect();
    match opened.sync() {
        Ok(()) => kept,
        Err(source) => {
            let error = StoreError::Unsynced(directory.to_owned(), source.into());
            kept.into_iter().map(|kept| kept.and(Err(error.clone()))).collect()
        }
    }
}

fn sync(unnamed: &mut [Result<Unnamed, StoreError>]) {
    let written = unnamed.iter().flatten();
    let files: Vec<&TempKeyFile> = written.flat_map(|pair| [&pair.private, &pair.public]).collect();
    let results = sync_together(&files);
    let mut results = results.into_iter();
    for one in unnamed.iter_mut().filter(|one| one.is_ok()) {
        let both: std::io::Result<()> = results.by_ref().take(2).collect();
        if let (Err(source), Ok(pair)) = (both, &one) {
            *one = Err(StoreError::Write(pair.kept.private_file.clone(), source.into()));
        }
    }
}

impl<'a> Unnamed<'a> {
    fn write(directory: &Directory, pair: &NewPair<'a>, private_file: PathBuf) -> Result<Self, StoreError> {
        let &NewPair { seed, public_key, comment, format, private_text, .. } = pair;
        if seed.public_key() != *public_key {
            return Err(StoreError::WrongKey(*public_key));
        }
        let public_file = public_file(&private_file);
        let line = public_key.line(comment);
        let write = |path: &Path, access, content| {
            let written = directory.temp_file(access, content);
            written.map_err(|source| StoreError::Write(path.to_owned(), source.into()))
        };
        let private = write(&private_file, Access::Owner, private_text.as_bytes().into())?;
        let public = write(&public_file, Access::Everyone, format!("{line}\n").into_bytes().into())?;
        let kept = Kept { private_file, public_file, format };
        Ok(Self { private, public, kept, public_key: *public_key, line })
    }

    /// Gives both files their names. A public file that another process has made from the private one
    /// meanwhile is as good as the own one.
    fn name(self) -> Result<Kept, StoreError> {
        let Self { private, public, kept, public_key, line } = self;
        private.name(&kept.private_file)?;
        match public.name(&kept.public_file) {
            Err(StoreError::Exists(_)) if public_line_in(&kept.public_file, &public_key).is_some() => {
                Ok(kept)
            }
            Err(source) => {
                Err(StoreError::PublicFile { private_file: kept.private_file, line, source: source.into() })
            }
            Ok(()) => Ok(kept),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use tempfile::TempDir;

    use super::super::name::file_name;
    use super::*;

    /// Keeps the keys of the seeds of these bytes. Their texts are `text` and the byte.
    fn keep(directory: &Path, bytes: &[u8], before_names: impl FnOnce()) -> Vec<Result<Kept, StoreError>> {
        let seeds: Vec<Seed> = bytes.iter().map(|byte| Seed::new([*byte; 32])).collect();
        let keys: Vec<PublicKey> = seeds.iter().map(Seed::public_key).collect();
        let texts: Vec<String> = bytes.iter().map(|byte| format!("text {byte}")).collect();
        let format = Format::Openssh;
        let pairs: Vec<NewPair> = (seeds.iter().zip(&keys).zip(&texts))
            .map(|((seed, public_key), private_text)| NewPair {
                seed,
                public_key,
                label: "a/b",
                comment: "me",
                format,
                private_text,
            })
            .collect();
        let files = keys.iter().map(|key| directory.join(file_name("a/b", key, format))).collect();
        keep_together(directory, false, &pairs, files, before_names)
    }

    fn count(directory: &TempDir) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn some_open_files_are_left_to_the_process() {
        use rustix::process::{Resource, getrlimit};
        if let Some(files) = getrlimit(Resource::Nofile).current {
            let pairs = most_together() as u64;
            assert!(
                2 * pairs + SPARE_FILES <= files && files < 2 * (pairs + 1) + SPARE_FILES,
                "{pairs} of {files}"
            );
        }
    }

    #[test]
    fn no_file_has_a_name_before_all_are_synced() {
        let directory = TempDir::new().unwrap();
        let bytes: Vec<u8> = (0..10).collect();
        let before = Cell::new(None);
        let kept = keep(directory.path(), &bytes, || before.set(Some(count(&directory))));
        assert_eq!(before.get(), Some(0));
        assert_eq!((count(&directory), kept.len()), (20, 10));
        for (byte, kept) in (0..10).zip(kept) {
            let kept = kept.unwrap();
            assert_eq!(fs::read_to_string(kept.private_file).unwrap(), format!("text {byte}"));
            let line = Seed::new([byte; 32]).public_key().line("me");
            assert_eq!(fs::read_to_string(kept.public_file).unwrap(), line + "\n");
        }
    }

    #[test]
    fn a_name_that_is_taken_costs_no_other_pair() {
        let directory = TempDir::new().unwrap();
        keep(directory.path(), &[7], || ())[0].as_ref().unwrap();
        let kept = keep(directory.path(), &[6, 7, 8], || ());
        assert!(kept[0].is_ok() && kept[2].is_ok());
        assert!(matches!(kept[1], Err(StoreError::Exists(_))));
        assert_eq!(count(&directory), 6);
    }

    #[test]
    fn a_public_file_that_another_process_made_is_as_good() {
        let (directory, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let public = keep(other.path(), &[1], || ()).remove(0).unwrap().public_file;
        let name = directory.path().join(public.file_name().unwrap());
        for (content, is_as_good) in [(fs::read_to_string(&public).unwrap(), true), ("x".to_owned(), false)] {
            let kept = keep(directory.path(), &[1], || fs::write(&name, content).unwrap()).remove(0);
            assert_eq!(kept.is_ok(), is_as_good);
            assert!(kept.is_ok() || kept.unwrap_err().is_on_disk());
            fs::read_dir(&directory).unwrap().for_each(|one| fs::remove_file(one.unwrap().path()).unwrap());
        }
    }

    #[test]
    fn a_pair_that_is_not_kept_leaves_no_file() {
        let directory = TempDir::new().unwrap();
        let (seed, other) = (Seed::new([3; 32]), Seed::new([2; 32]).public_key());
        let pair = NewPair {
            seed: &seed,
            public_key: &other,
            label: "",
            comment: "",
            format: Format::Pkcs8,
            private_text: "text",
        };
        let never = || unreachable!("no file is to get a name");
        let kept = keep_together(directory.path(), false, &[pair], vec![directory.path().join("key")], never);
        assert!(matches!(kept[..], [Err(StoreError::WrongKey(_))]));
        assert_eq!(count(&directory), 0);
        let kept = keep(&directory.path().join("gone"), &[1, 2], || ());
        assert!(kept.len() == 2 && kept.iter().all(|one| matches!(one, Err(StoreError::Write(..)))));
    }
}
