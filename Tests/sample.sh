#!/usr/bin/env bash
# Builds Samples/App from a copy outside of this package, as a user would, and runs it against a server:
# a first version, a second one, and what it says when it may not go on.
#
# usage: Tests/sample.sh FETCHRES
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -eq 1 ] || { echo "usage: Tests/sample.sh FETCHRES" >&2; exit 2; }
fetchres=$(readlink -f "$1")
checkout=$PWD

say() { echo "Tests/sample.sh: $*"; }
give_up() { say "$*" >&2; exit 1; }
lines=$(cat Samples/App/Sources/App/*.swift | wc -l)
[ "$lines" -lt 60 ] || give_up "the sample has $lines lines; less than 60 is what it shows"

scratch=$(mktemp -d)
server=""
clean_up() {
  [ -z "$server" ] || { kill "$server" && wait "$server" || true; } 2>/dev/null
  rm -rf "$scratch"
}
trap clean_up EXIT

cp -r Samples/App "$scratch/App"
sed -i "s|path: \"../..\"|path: \"$checkout\"|" "$scratch/App/Package.swift"
grep -qF "path: \"$checkout\"" "$scratch/App/Package.swift" || give_up "the sample has another path"
say "building the sample"
# The build stays, so that the next one has less to do.
build=(swift build --package-path "$scratch/App" --scratch-path "$checkout/.build/sample")
"${build[@]}" </dev/null || give_up "the sample does not build"
app=$("${build[@]}" --show-bin-path)/App

cd "$scratch"
export HOME=$scratch XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config
export no_proxy=127.0.0.1
key=$("$fetchres" keygen maps.example.com/world --out world.key 2>/dev/null)
head -c 3000000 /dev/urandom >world.map
publish() { "$fetchres" publish world.map --site site --version "$1" --key world.key 2>/dev/null; }
publish 1.0
"$fetchres" serve site --listen 127.0.0.1:0 >url 2>/dev/null &
server=$!
until [ -s url ]; do
  kill -0 "$server" 2>/dev/null || give_up "the server has ended"
  sleep 0.05
done
url=$(head -n 1 url)

# expect TEXT: the app succeeds and says that.
expect() {
  "$app" world "$url" "$key" >said || { cat said; give_up "the sample failed"; }
  grep -qF -- "$1" said || { cat said; give_up "the sample did not say '$1'"; }
}
expect "newest: 1.0, 3000000 bytes"
grep -qF "verified: 3000000 of 3000000" said || give_up "no progress was shown"
tail -n 1 said | grep -qxF "complete: 1.0, world/1.0/world.map" || give_up "it ended otherwise"
cmp world.map world/1.0/world.map
head -c 100 /dev/urandom >>world.map
publish 1.1
expect "here already: 1.0, world/1.0/world.map"
cmp world.map world/1.1/world.map

other=$("$fetchres" keygen maps.example.com/world --out other.key 2>/dev/null)
status=0
"$app" elsewhere "$url" "$other" >said || status=$?
[ "$status" = 5 ] || give_up "under another key it ended with $status instead of 5"
[ ! -e elsewhere/1.1 ] || give_up "under another key something became available"
say "the sample works"
