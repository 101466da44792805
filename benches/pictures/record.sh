#!/usr/bin/env bash
# Records a search in a terminal, for the picture docs/search.svg. Prints what the terminal received.
# usage: benches/pictures/record.sh > benches/pictures/search.txt
# It needs a release build of the program, and script (bsdutils) and lscpu (util-linux). `cat -v` writes
# control characters as text: ^[ is ESC, ^M a carriage return.
set -euo pipefail
program=$(realpath "${PROGRAM:-$(dirname "${BASH_SOURCE[0]}")/../../target/release/vanity-ed25519}")
commit=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --short HEAD)
command='vanity-ed25519 -o id_alice alice'

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
mkdir bin
ln -s "$program" bin/vanity-ed25519

echo "# date       $(date -u +%F)"
echo "# commit     $commit"
echo "# command    $command"
echo "# processor  ${PROCESSOR:-$(lscpu | sed -n 's/^Model name: *//p')}, $(nproc) hardware threads"
env -u NO_COLOR PATH="$directory/bin:$PATH" TERM=xterm SHELL=/bin/sh \
    script -qec "stty cols 100; $command" /dev/null < /dev/null | cat -v
