#!/usr/bin/env bash
# From a fresh Debian machine with a Swift toolchain to a verified download: installs the packages,
# builds, makes a key and a sample resource, publishes, serves, pulls, kills the pull in the middle,
# resumes, and shows the verified result. With a build in place it takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

command -v swift >/dev/null || {
  echo "quickstart: Swift is missing: install a toolchain of version 6.2 or later (https://www.swift.org/install) and put its bin directory on the PATH" >&2
  exit 1
}
missing=()
for package in libcurl4-openssl-dev libssl-dev pkg-config; do
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null
fi

say "building"
run swift build -c release --static-swift-stdlib --product fetchres
fetchres=$(swift build -c release --static-swift-stdlib --show-bin-path)/fetchres

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
ln -s "$fetchres" fetchres
PATH=$work:$PATH

say "a key and a resource of 256 MiB"
key=$(fetchres keygen maps.example.com/world --out world.key)
echo "$key"
head -c 268435456 /dev/urandom > world.map

say "publishing it"
run fetchres publish world.map --site site --version 2026.11.30 --key world.key

say "serving it (for trying out; a real site sits behind nginx, a CDN or an object store)"
fetchres serve site --listen 127.0.0.1:0 > url &
server=$!
until [ -s url ]; do kill -0 "$server"; sleep 0.02; done
url=$(head -1 url)
echo "$url"

say "pulling it, killed in the middle"
printf '$ fetchres pull %s --key %s\n' "$url" "$key"
fetchres pull "$url" --key "$key" &
pull=$!
# Killed once 64 MiB are on disk; a very fast machine may be through by then.
until [ "$(du -ks world/.fetchres/partial 2>/dev/null | cut -f1 || true)" -ge 65536 ] 2>/dev/null; do
  kill -0 "$pull" 2>/dev/null || break
  sleep 0.02
done
kill -9 "$pull" 2>/dev/null && echo "(killed)" || true
wait "$pull" 2>/dev/null || true

say "running the same command again: it goes on"
run fetchres status world
file=$(fetchres pull "$url" --key "$key")
echo "$file"

say "the result"
run fetchres verify world
run cmp world.map "$file"
say "verified: $file is what the publisher signed"
