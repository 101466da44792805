#!/usr/bin/env bash
# Finds a key for each word. Prints a line for each: word, fingerprint, file of the private key; then what it took.
# Leaves the public lines in authorized_keys. Whatever ends the search, what was found is told.
# usage: jq.sh WORD...
set -euo pipefail

status=0
vanity-ed25519 --json --passphrase-file passphrase --output-dir keys "$@" > search.json || status=$?
jq -r 'select(.type == "found") | .public_key' search.json > authorized_keys
jq -r 'select(.type == "found") | [.pattern, .fingerprint, .private_key_file] | @tsv' search.json
jq -r 'select(.type == "summary") | "\(.found) found among \(.attempts) keys in \(.seconds) s: \(.reason)"' search.json
exit "$status"
