//! A file of lines that only grows.
//!
//! An append is durable when it returns. It is a single write, so processes that append at the same
//! time do not mix their lines. A kill or a full disk can cut a write off and leave a line without
//! a line ending. The next append ends that line first, so it damages no other line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::lock_in_time;
use super::name::parent;
use super::new_file::{sync, within_size_limit};
use super::trial::{remove, unusual_name};
use crate::notice::Notice;

/// The bytes of the name of a trial, which is no longer than those of most key files.
const TRIAL: usize = 24;

const NO_FILE: &str = "it is not a regular file";

#[cfg(unix)]
const NOT_FOLLOWED_NOR_WAITED_FOR: i32 = {
    use rustix::fs::OFlags;
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32
};

/// A log file, which need not exist yet.
pub struct AppendLog(PathBuf);

/// An open log file, locked against other processes of this program until it is dropped.
pub struct HeldLog(File);

impl AppendLog {
    /// Returns the log at this path. Opens nothing.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Opens and locks the file. Returns `None` if another process has locked it for longer than
    /// `patience`. Creates the file if it does not exist, with mode 0600, because whoever can
    /// open it can lock it. The name of a new file is durable when its directory is synced.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system, or an error if the path is not a regular file or
    /// if the file has other names: an append through a link would change a file somewhere else.
    pub fn hold(&self, patience: Duration) -> io::Result<Option<HeldLog>> {
        let file = self.open()?;
        Ok(lock_in_time(patience, || file.try_lock())?.then_some(HeldLog(file)))
    }

    fn open(&self) -> io::Result<File> {
        if std::fs::symlink_metadata(&self.0).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other(NO_FILE));
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // A link or a pipe can take the name at this moment. It is neither followed nor waited
            // for.
            options.mode(0o600).custom_flags(NOT_FOLLOWED_NOR_WAITED_FOR);
        }
        let file = options.open(&self.0)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let found = file.metadata()?;
            if !found.is_file() {
                return Err(io::Error::other(NO_FILE));
            }
            if found.len() == 0 && found.mode() & 0o600 != 0o600 {
                // A new file, of which the umask has taken the owner's own permissions.
                let mode = found.mode() & 0o777 | 0o600;
                let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
            }
            if found.nlink() > 1 {
                return Err(io::Error::other("it has other names (hard links)"));
            }
        }
        Ok(file)
    }

    /// Checks that `len` more bytes can be appended, and reserves the room for them where the system can.
    ///
    /// If the file does not exist, a temporary one is made and appended to. Returns a warning if that
    /// cannot be removed.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn try_room(&self, len: usize) -> io::Result<Option<Notice>> {
        if std::fs::symlink_metadata(&self.0).is_ok() {
            let file = self.open()?;
            let end = file.metadata()?.len();
            within_size_limit(end + len as u64)?;
            return reserve(&file, end, len as u64).map(|()| None);
        }
        within_size_limit(len as u64)?;
        let trial = parent(&self.0).join(unusual_name(TRIAL));
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        options.open(&trial).and_then(|mut file| file.write_all(b"\n"))?;
        Ok(remove(&trial))
    }
}

/// Reserves room for `len` bytes behind the end of a file, where the file system can do that. The file
/// stays as it is: its content, its length, and what others append meanwhile. So nothing must be undone.
/// The next lines use the room.
#[cfg(target_os = "linux")]
fn reserve(file: &File, end: u64, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::{Errno, retry_on_intr};
    match retry_on_intr(|| fallocate(file, FallocateFlags::KEEP_SIZE, end, len)) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG | Errno::IO)) => Err(error.into()),
        // If it cannot do that, the trial of the directory has shown that there is room.
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

impl HeldLog {
    /// Returns the lines of the file without their line endings. Returns only the first `longest`
    /// bytes of a longer line.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system, now or with a line.
    pub fn read(&mut self, longest: usize) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>>> {
        self.0.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::new(&self.0);
        Ok(std::iter::from_fn(move || next_line(&mut file, longest).transpose()))
    }

    /// Appends whole lines and syncs the file.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. Some of the lines may be in the file then.
    pub fn append(&mut self, lines: &str) -> io::Result<()> {
        let end = if self.ends_within_a_line()? { "\n" } else { "" };
        self.0.write_all(format!("{end}{lines}").as_bytes())?;
        sync(&self.0)
    }

    fn ends_within_a_line(&mut self) -> io::Result<bool> {
        if self.0.seek(SeekFrom::End(0))? == 0 {
            return Ok(false);
        }
        let mut last = [0];
        self.0.seek(SeekFrom::End(-1))?;
        self.0.read_exact(&mut last)?;
        Ok(last != *b"\n")
    }
}

/// Returns the next line without its line ending, cut off after `longest` bytes. Returns `None` at
/// the end of the file.
fn next_line(file: &mut impl BufRead, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if file.take(longest as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() > longest {
        line.truncate(longest);
        file.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds the log, which nobody else has for long.
    fn hold(lines: &AppendLog) -> io::Result<HeldLog> {
        lines.hold(Duration::from_secs(60)).map(|held| held.expect("it is free"))
    }

    fn text(held: &mut HeldLog, longest: usize) -> Vec<String> {
        held.read(longest).unwrap().map(|line| String::from_utf8(line.unwrap()).unwrap()).collect()
    }

    fn lines(directory: &tempfile::TempDir) -> AppendLog {
        AppendLog::new(directory.path().join("lines"))
    }

    #[test]
    fn lines_are_appended_and_earlier_lines_stay() {
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        assert!(text(&mut hold(&lines).unwrap(), 9).is_empty());
        hold(&lines).unwrap().append("a\nb\n").unwrap();
        let mut held = hold(&lines).unwrap();
        held.append("c\n").unwrap();
        assert_eq!(text(&mut held, 9), ["a", "b", "c"]);
        held.append("").unwrap();
        assert_eq!(text(&mut held, 9), ["a", "b", "c"]);
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_read() {
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        std::fs::write(lines.path(), "1234\n12345\n\n123456789\n1\n12345").unwrap();
        let mut held = hold(&lines).unwrap();
        assert_eq!(text(&mut held, 4), ["1234", "1234", "", "1234", "1", "1234"]);
        assert_eq!(text(&mut held, 5), ["1234", "12345", "", "12345", "1", "12345"]);
        held.append("a\n").unwrap();
        assert_eq!(text(&mut held, 5)[5..], ["12345", "a"]);
    }

    #[test]
    fn a_line_that_was_cut_off_is_ended_first() {
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        std::fs::write(lines.path(), "a\nb").unwrap();
        let mut held = hold(&lines).unwrap();
        held.append("c\n").unwrap();
        assert_eq!(text(&mut held, 9), ["a", "b", "c"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_log_with_lines_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        std::fs::write(lines.path(), "a\n").unwrap();
        std::fs::set_permissions(lines.path(), std::fs::Permissions::from_mode(0o400)).unwrap();
        // Only root can open it for appending.
        drop(hold(&lines));
        assert_eq!(std::fs::metadata(lines.path()).unwrap().permissions().mode() & 0o777, 0o400);
    }

    #[test]
    fn processes_do_not_mix_their_lines() {
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        let line = |number: u32| format!("{number} {}\n", "x".repeat(1000));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                // Each opens the file anew, as another process would.
                scope.spawn(|| {
                    (0..50).for_each(|number| hold(&lines).unwrap().append(&line(number)).unwrap())
                });
            }
        });
        let text = std::fs::read_to_string(lines.path()).unwrap();
        let mut seen: Vec<&str> = text.split_inclusive('\n').collect();
        seen.sort_unstable();
        let mut expected: Vec<String> = (0..50).flat_map(|number| vec![line(number); 4]).collect();
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }

    #[test]
    #[cfg(unix)]
    fn a_log_that_is_no_file_with_one_name_is_refused() {
        let directory = tempfile::TempDir::new().unwrap();
        let lines = lines(&directory);
        std::fs::create_dir(lines.path()).unwrap();
        assert!(hold(&lines).is_err());
        std::fs::remove_dir(lines.path()).unwrap();

        let other = directory.path().join("other");
        for make in [std::os::unix::fs::symlink, |from, to| std::fs::hard_link(from, to)] {
            std::fs::write(&other, "mine").unwrap();
            make(&other, lines.path()).unwrap();
            assert!(hold(&lines).is_err());
            std::fs::remove_file(lines.path()).unwrap();
        }
        std::fs::remove_file(&other).unwrap();
        std::os::unix::fs::symlink(&other, lines.path()).unwrap();
        assert!(hold(&lines).is_err() && !other.exists());
    }
}
