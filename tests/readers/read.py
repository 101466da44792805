"""Reads every key of the working directory with cryptography, paramiko and asyncssh."""

import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
import asyncssh
import paramiko
from cryptography.hazmat.primitives import serialization

PASSPHRASE = "correct horse"
failures = 0
read = 0


def text(key):
    """Returns the base64 text of a public key."""
    form = serialization.PublicFormat.OpenSSH
    return key.public_bytes(serialization.Encoding.OpenSSH, form).split()[1]


def check(reader, path, is_readable, tried):
    """Tries to read a key. The reader must be able to exactly if `is_readable`."""
    global failures, read
    try:
        wrong = None if tried() else "another key or comment"
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    read += wrong is None
    if is_readable != (wrong is None):
        failures += 1
        print(f"{reader}, {path}: {wrong or 'was read'}", file=sys.stderr)


for public in sorted(Path(".").glob("*.pub")):
    path = public.with_suffix("") if public.with_suffix("").exists() else None
    line, told, form = public.read_bytes(), path.with_suffix(path.suffix + ".told").read_text(), path.name.split("-")[0]
    _, wanted, comment = (line.rstrip(b"\n") + b" ").split(b" ", 2)
    comment = comment.removesuffix(b" ")
    passphrase = None if form in ("plain", "pkcs8.pem") else PASSPHRASE
    data, is_pem = path.read_bytes(), path.suffix == ".pem"
    secret = passphrase and passphrase.encode()

    load = serialization.load_pem_private_key if is_pem else serialization.load_ssh_private_key
    check("cryptography", path, True, lambda: text(load(data, secret).public_key()) == wanted)
    check("cryptography", public, True, lambda: text(serialization.load_ssh_public_key(line)) == wanted)

    is_readable = form in ("plain", "ctr") and "paramiko" not in told
    key = lambda: paramiko.Ed25519Key.from_private_key_file(str(path), passphrase)
    check("paramiko", path, is_readable, lambda: key().get_base64().encode() == wanted)

    def by_asyncssh():
        key = asyncssh.import_private_key(data, passphrase)
        is_ours = is_pem or (key.get_comment_bytes() or b"") == comment
        return is_ours and key.export_public_key().split()[1] == wanted

    check("asyncssh", path, True, by_asyncssh)
    authorized = lambda: bool(asyncssh.import_authorized_keys(line.decode()))
    check("asyncssh", public, "asyncssh" not in told, authorized)

print(f"cryptography, paramiko and asyncssh: {read} times read, {failures} failures")
sys.exit(failures > 0 or read == 0)
