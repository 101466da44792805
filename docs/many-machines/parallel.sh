#!/usr/bin/env bash
# Searches on several hosts. When the first has found its keys, ends the others. Prints what was
# found, and fetches the (encrypted) keys of all hosts into a new directory.
# usage: parallel.sh WORD HOST...
set -euo pipefail
word=$1
shift
search=vanity-$(date +%Y%m%dT%H%M%S)-$$

# One job for each host. Because of exec, the program itself receives the signals.
status=0
seq "$#" | parallel --will-cite --quote -N0 --sshlogin "$(printf '1/%s,' "$@")" \
    --halt now,success=1 --termseq TERM,5000,KILL,25 \
    exec vanity-ed25519 --json --passphrase-file passphrase --output-dir "$search" "$word" || status=$?

umask 077
mkdir "fetched-$search"
for host in "$@"; do
    scp -qrp "$host:$search/." "fetched-$search/" || echo "not fetched: $host:$search, if $host has found anything" >&2
done
exit "$status"
