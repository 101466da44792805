//! Where private keys are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::escape::escaped_path;
use crate::store::Kept;
use crate::words::counted;

/// Where a private key is.
pub enum Place {
    /// Nowhere yet. If it is told so, it goes to stdout.
    Memory,
    /// In files at its destination, which are durable.
    Files(Kept),
    /// In other files, because its destination did not take it.
    Elsewhere(Kept),
    /// In the agent alone.
    Agent,
    /// Where an error says: on disk, on the terminal, or nowhere.
    Reported,
}

/// Where the keys of several finds are.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Places {
    /// A file.
    file: Option<PathBuf>,
    /// The number of keys in files of each directory.
    directories: BTreeMap<PathBuf, usize>,
    /// The number of keys that only the agent has.
    pub in_agent: usize,
    /// The number of keys that are not where they were to go.
    pub elsewhere: usize,
    /// Whether a message has named the files of these.
    pub is_named: bool,
    /// The number of keys that were shown on the terminal.
    pub shown: usize,
    /// The number of keys that are lost.
    pub lost: usize,
}

impl Places {
    /// Counts a key at this place.
    pub(super) fn add(&mut self, place: &Place) {
        match place {
            Place::Files(kept) | Place::Elsewhere(kept) => {
                self.elsewhere += usize::from(matches!(place, Place::Elsewhere(_)));
                let file = &kept.private_file;
                let directory = file.parent().unwrap_or(Path::new("."));
                *self.directories.entry(directory.to_owned()).or_default() += 1;
                self.file.get_or_insert_with(|| file.clone());
            }
            Place::Agent => self.in_agent += 1,
            Place::Reported => {}
            Place::Memory => self.lost += 1,
        }
    }

    /// Returns the number of keys in files.
    #[must_use]
    pub fn in_files(&self) -> usize {
        self.directories.values().sum()
    }

    /// Returns a hint about these keys.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let these = |keys: usize| match keys {
            1 => "the key that was just found is".to_owned(),
            keys => format!("the {} that were just found are", counted(keys as u64, "key")),
        };
        let mut hints = Vec::new();
        match (self.in_files(), &self.file) {
            (_, Some(_)) if self.is_named => {
                hints.push("the keys that were found are kept in the files named above".to_owned());
            }
            (1, Some(file)) => hints.push(format!("{} kept in '{}'", these(1), escaped_path(file))),
            (_, _) => hints.extend(self.directories.iter().map(|(directory, keys)| {
                let directory = if *directory == Path::new("") { Path::new(".") } else { directory };
                format!("{} kept in '{}'", these(*keys), escaped_path(directory))
            })),
        }
        if self.in_agent > 0 {
            let lines = if self.in_agent == 1 { "its public line" } else { "their public lines" };
            hints.push(format!("{} in the agent; ssh-add -L prints {lines}", these(self.in_agent)));
        }
        if self.shown > 0 {
            hints.push(
                "save the key that is shown above in a file that only you can read (chmod 600)".to_owned(),
            );
        }
        if self.lost > 0 {
            hints.push(format!("{} lost; {AGAIN}", these(self.lost)));
        }
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}

/// What to do after keys that no place took.
const AGAIN: &str = "start the search again in a directory that you can write to, on a disk with free space";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Format;

    #[test]
    fn keys_are_counted_by_their_places() {
        let in_file = |file: &str| {
            Place::Files(Kept { private_file: file.into(), public_file: "x".into(), format: Format::Openssh })
        };
        let mut keys = Places::default();
        assert_eq!(keys.hint(), None);
        keys.add(&in_file("a/id"));
        assert_eq!(keys.hint().unwrap(), "the key that was just found is kept in 'a/id'");
        [in_file("a/b"), in_file("c"), Place::Agent, Place::Agent, Place::Memory, Place::Memory]
            .iter()
            .for_each(|place| keys.add(place));
        assert_eq!((keys.in_files(), keys.in_agent, keys.lost), (3, 2, 2));
        let hint = keys.hint().unwrap();
        for part in
            ["the 2 keys that were just found are kept in 'a'", "kept in '.'", "are in the agent", "are lost"]
        {
            assert!(hint.contains(part), "{hint}");
        }
    }
}
