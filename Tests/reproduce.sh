#!/usr/bin/env bash
# Builds the release of the last commit twice, from two clones in directories of different names, and
# compares them byte for byte. Takes as long as two release builds.
#
# usage: Tests/reproduce.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "reproduce: $*"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
checkout=$PWD commit=$(git rev-parse HEAD) one=$scratch/a two=$scratch/another/place/with-a-longer-name

build() { # directory, then surroundings that must not matter
  local place=$1
  shift
  say "building in $place"
  git clone -q "$checkout" "$place"
  git -C "$place" checkout -q --detach "$commit"
  (cd "$place" && umask "$1" && TZ=$2 Samples/release.sh >release.log 2>&1 </dev/null) || {
    tail -n 20 "$place/release.log" >&2
    exit 1
  }
}
build "$one" 022 UTC
build "$two" 077 Asia/Kathmandu

verdict=0
compare() {
  if cmp "$1" "$2"; then
    say "identical: $(basename "$1"), $(stat -c %s "$1") bytes, SHA-256 $(sha256sum <"$1" | cut -d' ' -f1)"
  else
    say "DIFFERENT: $(basename "$1")"
    verdict=1
  fi
}
for file in "$one"/dist/*.deb "$one"/dist/*.buildinfo "$one"/dist/*.sources.sha256; do
  compare "$file" "$two/dist/$(basename "$file")"
done

# If the packages differ, which of their files, and if it is the program, where.
if [ $verdict != 0 ]; then
  for place in "$one" "$two"; do dpkg-deb -R "$place"/dist/*.deb "$place/unpacked"; done
  diff -rq "$one/unpacked" "$two/unpacked" || true
  for place in "$one" "$two"; do readelf -W -S "$place/unpacked/usr/bin/fetchres" >"$place/sections"; done
  diff "$one/sections" "$two/sections" && say "the sections are of the same sizes" || true
  cmp -l "$one/unpacked/usr/bin/fetchres" "$two/unpacked/usr/bin/fetchres" | head -n 20 || true
fi
exit $verdict
