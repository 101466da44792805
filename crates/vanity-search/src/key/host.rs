//! The lines by which clients know the key of a host.

use std::net::{Ipv4Addr, Ipv6Addr};

use sha1::{Digest as _, Sha1};

use super::seed::PublicKey;
use crate::wire;

/// The number of Ed25519 in SSHFP records (RFC 7479), and those of SHA-1 (RFC 4255) and SHA-256
/// (RFC 6594).
const ED25519: u8 = 4;
const SHA_1: u8 = 1;
const SHA_256: u8 = 2;

/// The longest name and the longest label of the DNS (RFC 1035, section 2.3.4), without the dot at
/// the end.
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// The port of `ssh` that no line of `known_hosts` names.
const SSH_PORT: u16 = 22;

/// The name by which clients connect to a host: a name of the DNS or an address, and the port if it
/// is not 22.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName {
    /// The name without a dot at its end, or the address as ssh writes it.
    name: String,
    port: Option<u16>,
    is_address: bool,
    /// Whether the name ended in a dot: then no zone completes it.
    is_absolute: bool,
}

impl HostName {
    /// Reads `NAME` or `[NAME]:PORT`, as `known_hosts` has them (sshd(8)). Returns `None` for what
    /// cannot be the name of one host.
    #[must_use]
    pub fn parse(typed: &str) -> Option<Self> {
        let Some(bracketed) = typed.strip_prefix('[') else { return Self::without_port(typed) };
        let (name, port) = bracketed.split_once("]:")?;
        let is_plain = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
        let port: u16 = port.parse().ok().filter(|_| is_plain)?;
        Some(Self { port: Some(port).filter(|&port| port != SSH_PORT), ..Self::without_port(name)? })
    }

    fn without_port(typed: &str) -> Option<Self> {
        let of = |name, is_address, is_absolute| Self { name, port: None, is_address, is_absolute };
        if let Some(address) = address(typed) {
            return Some(of(address, true, false));
        }
        let name = typed.strip_suffix('.').unwrap_or(typed);
        is_name(name).then(|| of(name.to_owned(), false, name != typed))
    }

    /// Returns the name or the address, without a port.
    #[must_use]
    pub fn bare(&self) -> &str {
        &self.name
    }

    /// Returns what `ssh` looks up in `known_hosts`.
    fn in_known_hosts(&self) -> String {
        self.port.map_or_else(|| self.name.clone(), |port| format!("[{}]:{port}", self.name))
    }

    /// Returns the name in the DNS, with its dot if it ended in one. An address has none.
    pub fn in_dns(&self) -> Option<String> {
        let dot = if self.is_absolute { "." } else { "" };
        (!self.is_address).then(|| format!("{}{dot}", self.name))
    }
}

/// Returns an address as `ssh` writes it before it looks it up. The interface that an address of a
/// link is followed by stays.
fn address(typed: &str) -> Option<String> {
    if let Ok(address) = typed.parse::<Ipv4Addr>() {
        return Some(address.to_string());
    }
    let (address, interface) = typed.split_at(typed.find('%').unwrap_or(typed.len()));
    let address: Ipv6Addr = address.parse().ok()?;
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let is_interface = match interface.strip_prefix('%') {
        None => true,
        Some(name) => !name.is_empty() && name.bytes().all(is_usual),
    };
    is_interface.then(|| format!("{address}{interface}"))
}

/// Whether the DNS can have this name. Underscores are in no name of a host (RFC 952), but many hosts
/// have them. `ssh` takes a name of numbers alone for an address.
fn is_name(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| {
        (1..=LONGEST_LABEL).contains(&label.len())
            && label.bytes().all(is_usual)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_number = |label: &str| match label.strip_prefix("0x").or(label.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).is_ok(),
        None => label.parse::<u32>().is_ok(),
    };
    name.len() <= LONGEST_NAME && name.split('.').all(is_label) && !name.split('.').all(is_number)
}

impl PublicKey {
    /// Returns the line of `known_hosts` for a host, without a line end: `bob ssh-ed25519 AAAA...`.
    #[must_use]
    pub fn known_hosts_line(&self, host: &HostName) -> String {
        format!("{} {}", host.in_known_hosts(), self.line(""))
    }

    /// Returns the SSHFP records for a host, without line ends, as `ssh-keygen -r` prints them:
    /// with SHA-1, and with SHA-256. There are none for an address.
    #[must_use]
    pub fn sshfp_records(&self, host: &HostName) -> Vec<String> {
        let Some(name) = host.in_dns() else { return Vec::new() };
        let record = |hash: u8, digest: &[u8]| {
            let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{name} IN SSHFP {ED25519} {hash} {digits}")
        };
        vec![record(SHA_1, &Sha1::digest(wire::blob(&self.0))), record(SHA_256, &self.blob_hash())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_batch::rfc8032_vectors;

    /// Compares with what `ssh-keygen -r` prints for test 1 of RFC 8032.
    #[test]
    fn a_known_key_has_its_known_lines() {
        let key = PublicKey(rfc8032_vectors::pairs()[0].1);
        let text = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
        let host = |typed| HostName::parse(typed).unwrap();
        assert_eq!(key.known_hosts_line(&host("bob.example.org")), format!("bob.example.org {text}"));
        assert_eq!(
            key.sshfp_records(&host("bob")),
            [
                "bob IN SSHFP 4 1 e4c18926afa5dbfd10c0e06a60bac698e1fb2793",
                "bob IN SSHFP 4 2 6db5e9b8a1bace1cdd9a7c6adb9e9396acc5073465d9fe8e3a0ef6d9c60d6d4f",
            ]
        );
    }

    #[test]
    fn a_name_is_what_known_hosts_and_the_dns_can_have() {
        let label = "a".repeat(63);
        let longest = [label.as_str(), &label, &label, &"a".repeat(61)].join(".");
        for (typed, known, dns) in [
            ("bob", "bob", Some("bob")),
            ("bob.example.org.", "bob.example.org", Some("bob.example.org.")),
            ("[localhost]:2222", "[localhost]:2222", Some("localhost")),
            ("[bob.]:2222", "[bob]:2222", Some("bob.")),
            ("[bob]:22", "bob", Some("bob")),
            ("[bob]:65535", "[bob]:65535", Some("bob")),
            ("my_host", "my_host", Some("my_host")),
            ("xn--bcher-kva.example", "xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("3com", "3com", Some("3com")),
            ("192.0.2.1.example", "192.0.2.1.example", Some("192.0.2.1.example")),
            (&longest, &longest, Some(&longest)),
            ("192.0.2.1", "192.0.2.1", None),
            ("[192.0.2.1]:2222", "[192.0.2.1]:2222", None),
            ("::1", "::1", None),
            ("2001:DB8:0::1", "2001:db8::1", None),
            ("[2001:db8::1]:2222", "[2001:db8::1]:2222", None),
            ("fe80::1%eth0", "fe80::1%eth0", None),
        ] {
            let host = HostName::parse(typed).unwrap_or_else(|| panic!("{typed}"));
            assert_eq!(host.in_known_hosts(), known, "{typed}");
            assert_eq!(host.in_dns().as_deref(), dns, "{typed}");
        }
        let too_long = format!("{longest}a");
        let long_label = "a".repeat(64);
        for typed in [
            "",
            ".",
            "..",
            "a..b",
            ".bob",
            "-bob",
            "bob-",
            "a.-b",
            "a b",
            "a,b",
            "*.bob",
            "b?b",
            "!bob",
            "a/b",
            "|1|bob",
            "@bob",
            "bücher.example",
            "localhost:2222",
            "bob:22",
            "[bob]",
            "[bob]:",
            "[bob]:0",
            "[bob]:65536",
            "[bob]:+22",
            "[bob]:022",
            "[]:2222",
            "[bob:2222",
            "bob]:2222",
            "[[bob]]:2222",
            "[::1]",
            "[a,b]:2222",
            "127.1",
            "2130706433",
            "0x7f000001",
            "256.1.1.1",
            "127.0.0.1.",
            "1.2.3.4.5",
            "::1.",
            "::1%",
            "::1%a b",
            "12345::",
            &too_long,
            &long_label,
        ] {
            assert_eq!(HostName::parse(typed), None, "{typed}");
        }
    }
}
