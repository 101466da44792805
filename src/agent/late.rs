//! Removes a key that gpg-agent takes when the program has ended.
//!
//! gpg-agent asks its user for a passphrase, and keeps the key when the user answers, even if nobody
//! waits for the key any more. So a process stays behind. It holds the connection and no secret, waits
//! for the answer, and deletes the key if gpg-agent has taken it. It ends with the prompt or the agent.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::sys::command;

/// The tool that speaks the language of gpg-agent itself.
const TOOL: &str = "gpg-connect-agent";

/// The name of the socket for that language, beside the socket for SSH.
const SOCKET: &str = "S.gpg-agent";

/// Reads the answer to an added key. If it is a success, deletes the key with the fingerprint `$1` from
/// the agent at the socket `$2`.
const REMOVE: &str = r#"trap '' HUP
[ "$(head -c 5 | od -An -tx1 | tr -d ' \n')" = 0000000106 ] || exit
exec < /dev/null
gpg-connect-agent -S "$2" 'KEYINFO --ssh-list --ssh-fpr=sha256' /bye |
while read -r _ _ grip rest; do
    case " $rest " in
    *" $1 "*) gpg-connect-agent -S "$2" "DELETE_KEY --force $grip" /bye < /dev/null ;;
    esac
done"#;

/// A way to remove keys from a gpg-agent.
pub(super) struct LateRemoval {
    socket: PathBuf,
}

impl LateRemoval {
    /// Returns the way for the agent at this socket for SSH, if there is one. The agent of another
    /// machine has none.
    pub(super) fn of(ssh_socket: &Path) -> Option<Self> {
        let socket = ssh_socket.canonicalize().ok()?.with_file_name(SOCKET);
        let mut tool = command(TOOL);
        tool.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let is_there = cfg!(unix) && socket.exists() && tool.status().is_ok_and(|status| status.success());
        is_there.then_some(Self { socket })
    }

    /// Leaves a process behind that reads the answer to the key with this fingerprint from `connection`.
    /// Returns whether it has started.
    pub(super) fn begin(&self, connection: Stdio, fingerprint: &str) -> bool {
        let mut shell = command("sh");
        shell.args(["-c", REMOVE, "vanity-ed25519", fingerprint]).arg(&self.socket);
        // It keeps no directory busy, and a Ctrl-C for others does not end it.
        shell.current_dir("/").stdin(connection).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        #[expect(clippy::disallowed_methods, reason = "it stays behind on purpose")]
        shell.spawn().is_ok()
    }
}
