//! Writes many pairs of files at once.
//!
//! A group writes all files without names, and syncs them at the same time. Then it names each
//! file, the private file of a pair first, and syncs the directory once. So each pair of many costs
//! far less than a single pair.

use std::path::{Path, PathBuf};

use super::error::{FileError, StoreError};
use super::name::{file_name, public_file};
use super::new_file::{Access, Directory, TempKeyFile, sync_together};
use crate::key::{Format, PublicKey, Seed};

/// The number of open files that a group leaves for the rest of the process.
#[cfg(unix)]
const SPARE_FILES: u64 = 64;

/// The files of a key pair that was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The file of the private key.
    pub private_file: PathBuf,
    /// The file of the public line.
    pub public_file: PathBuf,
    /// The format of the private key.
    pub format: Format,
}

/// A key pair to keep.
pub struct NewPair<'a> {
    /// The seed.
    pub seed: &'a Seed,
    /// Its public key.
    pub public_key: &'a PublicKey,
    /// The pattern from which the files get their names in a directory. It can have any characters.
    pub label: &'a str,
    /// The comment on the public line.
    pub comment: &'a str,
    /// The format of the private key.
    pub format: Format,
    /// The text that [`Seed::private_text`] made from the seed and the comment in that format.
    pub private_text: &'a str,
}

/// New pairs of files in a directory. Files that have no name when the group is dropped are
/// removed.
pub struct Group<'a> {
    directory: Directory<'a>,
    pairs: Vec<Pair>,
    /// The number of pairs that were added.
    added: usize,
}

/// A pair of files without names.
struct Pair {
    /// The number of pairs that were added before this one.
    number: usize,
    private: TempKeyFile,
    public: TempKeyFile,
    /// The names that the files will get.
    kept: Kept,
    /// The public line, without a line ending.
    line: String,
}

impl<'a> Group<'a> {
    /// Returns the most pairs that a group can have before the process has too many open files.
    /// This is at least 1.
    #[must_use]
    pub fn most() -> usize {
        #[cfg(unix)]
        {
            use rustix::process::{Resource, getrlimit};
            let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
            usize::try_from(files.saturating_sub(SPARE_FILES) / 2).unwrap_or(usize::MAX).max(1)
        }
        #[cfg(not(unix))]
        usize::MAX
    }

    /// Returns an empty group for a directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be opened.
    pub fn new(directory: &'a Path) -> Result<Self, StoreError> {
        let opened = Directory::open(directory);
        let directory = opened.map_err(|source| StoreError::Unusable(directory.to_owned(), source))?;
        Ok(Self { directory, pairs: Vec::new(), added: 0 })
    }

    /// Writes a pair of files without names.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`]. Then nothing of this pair remains; the other pairs stay.
    pub fn add(&mut self, pair: &NewPair) -> Result<(), StoreError> {
        let &NewPair { seed, public_key: public, label, comment, format, private_text } = pair;
        if seed.public_key() != *public {
            return Err(StoreError::WrongKey(*public));
        }
        let private_file = self.directory.path().join(file_name(label, public, format));
        let public_file = public_file(&private_file);
        let line = public.line(comment);
        let write = |path: &Path, access, content: &str| {
            let written = self.directory.temp_file(access, content.as_bytes());
            written.map_err(|source| FileError::Write(path.to_owned(), source))
        };
        let private = write(&private_file, Access::Owner, private_text)?;
        let public = write(&public_file, Access::Everyone, &format!("{line}\n"))?;
        let kept = Kept { private_file, public_file, format };
        self.pairs.push(Pair { number: self.added, private, public, kept, line });
        self.added += 1;
        Ok(())
    }

    /// Whether the group has no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Syncs all files. Removes the pairs for which this fails.
    ///
    /// # Errors
    ///
    /// Returns the first error.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        let files: Vec<&TempKeyFile> =
            self.pairs.iter().flat_map(|pair| [&pair.private, &pair.public]).collect();
        let mut results = sync_together(&files).into_iter();
        let mut outcome = Ok(());
        self.pairs.retain(|pair| {
            let mut both = results.by_ref().take(2);
            let synced = both.next().unwrap_or(Ok(())).and(both.next().unwrap_or(Ok(())));
            let synced =
                synced.map_err(|source| FileError::Write(pair.kept.private_file.clone(), source).into());
            let is_synced = synced.is_ok();
            outcome = std::mem::replace(&mut outcome, Ok(())).and(synced);
            is_synced
        });
        outcome
    }

    /// Gives every file its name, and syncs the directory. The files must have been synced before.
    ///
    /// Returns the pairs that are kept and the first error. Each pair comes with the number of
    /// pairs that were added before it.
    pub fn name(self) -> (Vec<(usize, Kept)>, Result<(), StoreError>) {
        let mut outcome = Ok(());
        let mut named = Vec::new();
        for Pair { number, private, public, kept, line } in self.pairs {
            let result = private.name(&kept.private_file).map_err(StoreError::from).and_then(|()| {
                public.name(&kept.public_file).map_err(|source| StoreError::PublicFile {
                    private_file: kept.private_file.clone(),
                    line,
                    source,
                })
            });
            if result.is_ok() {
                named.push((number, kept));
            }
            outcome = outcome.and(result);
        }
        if let Err(source) = self.directory.sync() {
            let path = self.directory.path().to_owned();
            return (Vec::new(), outcome.and(Err(FileError::UnsyncedDirectory(path, source).into())));
        }
        (named, outcome)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn add(group: &mut Group, byte: u8) -> Result<(), StoreError> {
        let seed = Seed::new([byte; 32]);
        let public_key = &seed.public_key();
        let private_text = &format!("text {byte}");
        group.add(&NewPair {
            seed: &seed,
            public_key,
            label: "a/b",
            comment: "me",
            format: Format::Openssh,
            private_text,
        })
    }

    fn count(directory: &TempDir) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_group_leaves_some_files_to_the_process() {
        use rustix::process::{Resource, getrlimit};
        if let Some(files) = getrlimit(Resource::Nofile).current {
            let pairs = Group::most() as u64;
            assert!(
                2 * pairs + SPARE_FILES <= files && files < 2 * (pairs + 1) + SPARE_FILES,
                "{pairs} of {files}"
            );
        }
    }

    #[test]
    fn a_group_is_named_as_a_whole() {
        let directory = TempDir::new().unwrap();
        let mut group = Group::new(directory.path()).unwrap();
        assert!(group.is_empty());
        (0..10).for_each(|byte| add(&mut group, byte).unwrap());
        assert!(!group.is_empty());
        group.sync().unwrap();
        assert_eq!(count(&directory), 0, "nothing has a name before all is synced");

        let (kept, outcome) = group.name();
        outcome.unwrap();
        assert_eq!(count(&directory), 20);
        for (byte, (number, kept)) in (0..10).zip(kept) {
            assert_eq!(number, usize::from(byte));
            assert_eq!(fs::read_to_string(kept.private_file).unwrap(), format!("text {byte}"));
            let line = Seed::new([byte; 32]).public_key().line("me");
            assert_eq!(fs::read_to_string(kept.public_file).unwrap(), line + "\n");
        }
    }

    #[test]
    fn a_name_that_is_taken_costs_no_other_pair() {
        let directory = TempDir::new().unwrap();
        let keep = |bytes: &[u8]| {
            let mut group = Group::new(directory.path()).unwrap();
            bytes.iter().for_each(|byte| add(&mut group, *byte).unwrap());
            group.sync().unwrap();
            group.name()
        };
        keep(&[7]).1.unwrap();
        let (kept, outcome) = keep(&[6, 7, 8]);
        assert_eq!(kept.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 2]);
        assert!(matches!(outcome, Err(StoreError::File(FileError::Exists(_)))));
        assert_eq!(count(&directory), 6);
    }

    #[test]
    fn files_without_a_name_are_gone() {
        let directory = TempDir::new().unwrap();
        let mut group = Group::new(directory.path()).unwrap();
        add(&mut group, 1).unwrap();
        let other = Seed::new([2; 32]).public_key();
        let seed = &Seed::new([3; 32]);
        let format = Format::Pkcs8;
        let wrong = group.add(&NewPair {
            seed,
            public_key: &other,
            label: "",
            comment: "",
            format,
            private_text: "text",
        });
        assert!(matches!(wrong, Err(StoreError::WrongKey(_))));
        group.sync().unwrap();
        drop(group);
        assert_eq!(count(&directory), 0);
        assert!(Group::new(&directory.path().join("gone")).is_err());
    }
}
