//! A find on its route, and where its private key is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::open::PreparedSearch;
use crate::agent::AgentError;
use crate::escape::escaped_path;
use crate::key::{EncodeError, Format, Seed};
use crate::notice::counted;
use crate::search::{Find, PublicFind};
use crate::store::{Kept, NewPair};

/// Whether the agent took a key, or why it did not.
pub type Added = Result<(), AgentError>;

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
    /// On disk, as an error says.
    Named,
    /// On the terminal, because no file took it.
    Shown,
    /// Nowhere.
    Lost,
}

/// A find on its route. Each step changes it in place.
pub struct Parcel {
    pub find: PublicFind,
    pub place: Place,
    /// Whether the agent took the key, or `None` if it was not asked to.
    pub added: Option<Added>,
    /// Whether the private text is not encrypted, against the plan.
    pub is_exposed: bool,
    /// The key, until it is kept.
    key: Option<Key>,
    /// Why the places that were tried did not take the key.
    pub(super) refusals: Vec<String>,
    /// What to do about the first refusal.
    pub(super) hint: Option<String>,
}

/// A private key.
struct Key {
    seed: Seed,
    text: Zeroizing<String>,
    format: Format,
    /// Whether the text has the form that the plan asks for.
    is_as_asked: bool,
}

impl Parcel {
    /// Returns a find whose private text has the form that the plan asks for.
    pub(crate) fn new(find: &Find, text: Zeroizing<String>, format: Format) -> Self {
        let key = Key { seed: Seed::new(*find.seed.bytes()), text, format, is_as_asked: true };
        let (place, refusals) = (Place::Memory, Vec::new());
        Self {
            find: find.public(),
            place,
            added: None,
            is_exposed: false,
            key: Some(key),
            refusals,
            hint: None,
        }
    }

    /// Returns a find whose private text has another form, because of this error, and is not encrypted
    /// although it should be if it `is_exposed`.
    pub(super) fn in_other_form(
        find: &Find,
        text: Zeroizing<String>,
        format: Format,
        error: &EncodeError,
        is_exposed: bool,
    ) -> Self {
        let mut parcel = Self { is_exposed, ..Self::new(find, text, format) };
        parcel.key.iter_mut().for_each(|key| key.is_as_asked = false);
        let exposed = if is_exposed { "; the private key is NOT ENCRYPTED" } else { "" };
        parcel.refusals.push(format!("cannot write the private key as asked: {error}{exposed}"));
        parcel.hint = error.hint();
        parcel
    }

    /// Returns a copy for which the places that are left are tried, because stdout did not take the key.
    pub(super) fn not_written(&self, why: &str) -> Self {
        let copy = |key: &Key| Key { seed: Seed::new(*key.seed.bytes()), text: key.text.clone(), ..*key };
        Self {
            find: self.find.clone(),
            place: Place::Memory,
            added: None,
            is_exposed: self.is_exposed,
            key: self.key.as_ref().map(copy),
            refusals: vec![why.to_owned()],
            hint: None,
        }
    }

    /// Whether the key is in memory alone.
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory)
    }

    /// Whether no place has taken the key, but one has refused it.
    pub(super) fn is_refused(&self) -> bool {
        self.is_in_memory() && !self.refusals.is_empty()
    }

    /// Whether the text has the form that the plan asks for.
    pub(super) fn is_as_asked(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_as_asked)
    }

    /// Returns the text of the private key, if it is in memory alone.
    #[must_use]
    pub fn private_text(&self) -> &str {
        self.key.as_ref().map_or("", |key| &key.text)
    }

    /// Returns the files of the key, if it is in files.
    #[must_use]
    pub fn kept(&self) -> Option<&Kept> {
        match &self.place {
            Place::Files(kept) | Place::Elsewhere(kept) => Some(kept),
            _ => None,
        }
    }

    /// Returns the key pair, while the key is in memory. Its files get their names from the first
    /// pattern.
    pub(super) fn pair<'a>(&'a self, search: &'a PreparedSearch) -> Option<NewPair<'a>> {
        let key = self.key.as_ref()?;
        Some(NewPair {
            seed: &key.seed,
            public_key: &self.find.public_key,
            label: search.patterns[self.find.patterns[0]].text(),
            comment: search.comment(&self.find.patterns),
            format: key.format,
            private_text: &key.text,
        })
    }

    /// Wipes the private key, unless it is in memory alone.
    pub(super) fn wipe(&mut self) {
        if !self.is_in_memory() {
            self.key = None;
        }
    }
}

/// Where the keys of several finds are.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Whereabouts {
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

impl Whereabouts {
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
            Place::Named => {}
            Place::Shown => self.shown += 1,
            Place::Memory | Place::Lost => self.lost += 1,
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
        let several = |keys: usize| format!("the {} that were just found are", counted(keys as u64, "key"));
        let one = "the key that was just found is";
        let mut hints = Vec::new();
        match (self.in_files(), &self.file) {
            (_, Some(_)) if self.is_named => {
                hints.push("the keys that were found are kept in the files named above".to_owned());
            }
            (1, Some(file)) => hints.push(format!("{one} kept in '{}'", escaped_path(file))),
            (_, Some(_)) => hints.extend(self.directories.iter().map(|(directory, keys)| {
                let directory = if *directory == Path::new("") { Path::new(".") } else { directory };
                format!("{} kept in '{}'", several(*keys), escaped_path(directory))
            })),
            (_, None) => {}
        }
        match self.in_agent {
            0 => {}
            1 => hints.push(format!("{one} in the agent; ssh-add -L prints its public line")),
            keys => {
                hints.push(format!("{} in the agent; ssh-add -L prints their public lines", several(keys)))
            }
        }
        if self.shown > 0 {
            hints.push(
                "save the key that is shown above in a file that only you can read (chmod 600)".to_owned(),
            );
        }
        match self.lost {
            0 => {}
            1 => hints.push(format!("{one} lost; {AGAIN}")),
            keys => hints.push(format!("{} lost; {AGAIN}", several(keys))),
        }
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}

/// What to do after keys that no place took.
const AGAIN: &str = "start the search again in a directory that you can write to, on a disk with free space";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_counted_by_their_places() {
        let in_file = |file: &str| {
            Place::Files(Kept { private_file: file.into(), public_file: "x".into(), format: Format::Openssh })
        };
        let mut keys = Whereabouts::default();
        assert_eq!(keys.hint(), None);
        keys.add(&in_file("a/id"));
        assert_eq!(keys.hint().unwrap(), "the key that was just found is kept in 'a/id'");
        [in_file("a/b"), in_file("c"), Place::Agent, Place::Agent, Place::Memory, Place::Lost]
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
