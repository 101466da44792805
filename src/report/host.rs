//! Lines about the key of a host.

use serde_json::Value;

use crate::escape::shell_word;
use crate::key::PublicKey;
use crate::store::Kept;

/// Returns the line of `known_hosts` and the SSHFP records of a host, each with its line end.
pub(super) fn lines(host: &str, key: &PublicKey) -> String {
    let [first, second] = key.sshfp_records(host);
    format!("{}\n{first}\n{second}\n", key.known_hosts_line(host))
}

/// Adds the same lines to the object for a find.
pub(super) fn add(found: &mut Value, host: &str, key: &PublicKey) {
    found["known_hosts"] = key.known_hosts_line(host).into();
    found["sshfp"] = key.sshfp_records(host).to_vec().into();
}

/// Returns what to do with the key of a host.
pub(super) fn next_steps(host: &str, kept: &Kept) -> [String; 3] {
    let (private, public) = (shell_word(&kept.private_file), shell_word(&kept.public_file));
    [
        format!("  install it     copy {private} and {public} to /etc/ssh as root, and start sshd again"),
        "  trust it       append the line of known_hosts to ~/.ssh/known_hosts of each user".to_owned(),
        format!("  publish it     put the SSHFP records into the DNS zone of {host}"),
    ]
}
