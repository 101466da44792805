#!/usr/bin/env bash
# Finds a key for each word. Prints a line for each key: word, fingerprint, file of the private key.
# Then prints what the search took, unless it failed. Writes the public lines of all keys in the directory to
# authorized_keys, also of those that an earlier run has found.
# Prints the keys that were found even if something ends the search before all are.
# usage: jq.sh WORD...
set -euo pipefail

status=0
vanity-ed25519 --json --passphrase-file passphrase --output-dir keys "$@" > search.json || status=$?
cat keys/*.pub > authorized_keys.new && mv authorized_keys.new authorized_keys
jq -r 'select(.type == "found") | [.pattern, .fingerprint, .private_key_file] | @tsv' search.json
jq -r 'select(.type == "summary") | "\(.found) found among \(.attempts) keys in \(.seconds) s: \(.reason)"' search.json
exit "$status"
