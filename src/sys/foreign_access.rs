//! Whether other users can access a file.

use std::fs::File;
use std::io;

use thiserror::Error;

/// Other users who can access a file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ForeignAccess {
    /// The file belongs to this user.
    #[error("it belongs to user {0}")]
    Owner(u32),
    /// Users other than the owner can access the file, by this mode or entry of its access list.
    #[error("{0}")]
    Others(String),
}

impl ForeignAccess {
    /// Returns the users other than this one who can access a file, if there are any. Root does not
    /// count, nor do the system and the administrators of Windows: they can access every file.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    #[cfg(unix)]
    pub fn of(file: &File) -> io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt as _;
        let found = file.metadata()?;
        let (owner, mode) = (found.uid(), found.mode() & 0o777);
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Ok(Some(Self::Owner(owner)));
        }
        Ok((mode & 0o077 != 0).then(|| Self::Others(format!("mode {mode:04o}"))))
    }

    /// Returns the users other than this one who can access a file, if there are any. The system
    /// and administrators do not count: they can access every file, and ssh accepts them, too.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    #[cfg(windows)]
    pub fn of(file: &File) -> io::Result<Option<Self>> {
        use super::windows::{access_list, user_in_lists};
        Ok(foreign(&access_list(file)?, &[&user_in_lists()?, "SY", "BA"]).map(Self::Others))
    }

    /// Returns what the user can do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Owner(_) => "if nobody else has read it, make it yours with chown",
            Self::Others(_) if cfg!(unix) => "run chmod 600 on it",
            Self::Others(_) => "leave only yourself in its access list (icacls)",
        }
    }
}

/// Returns the first owner or allowed user of an access list that is not one of `own`. Returns
/// `Everyone` for a file without a list.
#[cfg(any(windows, test))]
fn foreign(list: &str, own: &[&str]) -> Option<String> {
    let name = |sid: &str| match sid {
        "WD" => "Everyone".to_owned(),
        "BU" => "Users".to_owned(),
        "AU" => "Authenticated Users".to_owned(),
        sid => sid.to_owned(),
    };
    let everyone = || Some(name("WD"));
    let Some((owner, list)) = list.split_once("D:") else { return everyone() };
    let owner = owner.trim_start_matches("O:");
    if !own.contains(&owner) {
        return Some(name(owner));
    }
    if list.contains("NO_ACCESS_CONTROL") {
        return everyone();
    }
    list.split('(').skip(1).find_map(|entry| {
        // A form that is not known here counts as one that allows somebody something.
        let fields: Vec<&str> = entry.trim_end_matches(')').split(';').collect();
        let &[kind, _, _, _, _, sid] = &fields[..] else { return Some(entry.to_owned()) };
        (!matches!(kind, "D" | "OD") && !own.contains(&sid)).then(|| name(sid))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_list_shows_who_else_can_access_a_file() {
        let me = "S-1-5-21-1-2-3-1001";
        for (list, expected) in [
            ("O:{me}D:P(A;;FA;;;{me})", None),
            ("O:{me}D:", None),
            ("O:{me}D:PAI(A;;FA;;;BA)(A;;FA;;;SY)(A;;FR;;;{me})", None),
            ("O:BAD:(A;ID;FA;;;SY)(A;ID;FA;;;{me})", None),
            ("O:{me}D:P(D;;FA;;;WD)(A;;FA;;;{me})", None),
            ("O:{me}", Some("Everyone")),
            ("O:{me}D:NO_ACCESS_CONTROL", Some("Everyone")),
            ("O:{me}D:(A;;FA;;;{me})(A;;FR;;;WD)", Some("Everyone")),
            ("O:{me}D:(A;ID;0x1200a9;;;BU)(A;;FA;;;{me})", Some("Users")),
            ("O:{me}D:(A;;FA;;;AU)", Some("Authenticated Users")),
            ("O:S-1-5-21-1-2-3-1002D:P(A;;FA;;;{me})", Some("S-1-5-21-1-2-3-1002")),
            ("O:{me}D:(A;;FA;;;S-1-5-21-1-2-3-1002)", Some("S-1-5-21-1-2-3-1002")),
            ("O:{me}D:(XA;;FA;;;{me};(Member_of {SID(BU)}))", Some("XA;;FA;;;{me};")),
        ] {
            let with_me = |text: &str| text.replace("{me}", me);
            assert_eq!(foreign(&with_me(list), &[me, "SY", "BA"]), expected.map(with_me), "{list}");
        }
    }

    /// Wine is told by its variables. A Windows machine has none of them.
    #[cfg(windows)]
    fn is_wine() -> bool {
        std::env::var_os("WINEPREFIX").is_some()
    }

    #[test]
    #[cfg(windows)]
    fn a_private_file_has_the_access_list_of_its_owner_from_the_start() {
        use super::super::windows::{
            access_list, create_file_with, create_private_directory, create_private_file, current_user,
            user_in_lists,
        };
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        let (me, shown) = (current_user().unwrap(), user_in_lists().unwrap());

        let private = create_private_file(&path("private")).unwrap();
        let list = access_list(&private).unwrap();
        assert_eq!(ForeignAccess::of(&private).unwrap(), None, "{list}");
        assert!(list.starts_with(&format!("O:{shown}D:")), "{list}");
        let again = create_private_file(&path("private")).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);

        for (name, allowed, expected) in
            [("world", "WD", "Everyone"), ("users", "BU", "Users"), ("guest", "S-1-5-32-546", "BG")]
        {
            let sddl = format!("O:{me}D:P(A;;FA;;;{me})(A;;FR;;;{allowed})");
            let open = create_file_with(&path(name), &sddl).unwrap();
            let others = ForeignAccess::of(&open).unwrap();
            // Wine keeps a list as the mode of a Unix file, which knows only the owner and all others.
            if !is_wine() || name == "world" {
                assert_eq!(others.map(|others| others.to_string()).as_deref(), Some(expected));
            }
        }

        create_private_directory(&path("keys")).unwrap();
        std::fs::write(path("keys").join("inherits"), "").unwrap();
        let inherits = File::open(path("keys").join("inherits")).unwrap();
        if !is_wine() {
            assert_eq!(list, format!("O:{shown}D:P(A;;FA;;;{shown})"));
            assert_eq!(ForeignAccess::of(&inherits).unwrap(), None);
        }
        let again = create_private_directory(&path("keys")).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    #[cfg(windows)]
    fn private_files_can_have_long_paths() {
        use super::super::windows::{create_private_directory, create_private_file};
        let directory = tempfile::TempDir::new().unwrap();
        let mut path = directory.path().to_owned();
        for _ in 0..8 {
            path.push("a long name".repeat(5));
            create_private_directory(&path).unwrap();
        }
        assert!(path.as_os_str().len() > 400);
        create_private_file(&path.join("key")).unwrap();
        assert!(path.join("key").is_file());
    }

    #[test]
    #[cfg(unix)]
    fn a_mode_shows_who_else_can_access_a_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::tempfile().unwrap();
        for (mode, expected) in
            [(0o600, None), (0o400, None), (0o640, Some("mode 0640")), (0o601, Some("mode 0601"))]
        {
            file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(
                ForeignAccess::of(&file).unwrap().map(|others| others.to_string()).as_deref(),
                expected
            );
        }
    }
}
