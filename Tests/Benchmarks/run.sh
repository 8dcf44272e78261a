#!/usr/bin/env bash
# Measures fetchres against other downloaders, in ratios taken in one run against one nginx.
#
#   Tests/Benchmarks/run.sh [--rounds N] [--rows a,b,…] [--out DIR] [--disk DIR] [--quick] [--list]
#
# Installs what is missing (Debian), builds the static release program, makes its own data, servers
# and namespaces, and takes them away again. Nothing is asserted: it fails only if something did not run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin

say() { printf 'benchmarks: %s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }

# RUNLEVEL=1 keeps Debian from starting a server of its own right after nginx is installed.
as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo -n)
updated=
install() {
  say "installing $*"
  [ -n "$updated" ] || { "${as_root[@]}" apt-get update -qq >&2 || true; updated=1; }
  "${as_root[@]}" env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
offer() { command -v "$1" >/dev/null || install "$2" || say "cannot install $2: what needs it will say so"; }

for need in python3:python3 curl:curl openssl:openssl nginx:nginx-light; do
  command -v "${need%%:*}" >/dev/null || install "${need#*:}" || stop "cannot install ${need#*:}, which every row needs"
done
nginx_has() { nginx -V 2>&1 | grep -q -- "--with-$1"; }
nginx_has http_v2_module && nginx_has http_ssl_module || install nginx || say "this nginx has no TLS or no HTTP/2"
offer aria2c aria2; offer wget2 wget2; offer axel axel; offer ip iproute2

for argument in "$@"; do
  case $argument in --list | -h | --help) exec python3 "$here/benchmark.py" "$@" ;; esac
done
command -v swift >/dev/null ||
  stop "Swift is missing: install a toolchain of version 6.2 or later (https://www.swift.org/install) and put its bin directory on the PATH"
for package in libcurl4-openssl-dev libssl-dev pkg-config; do
  dpkg -s "$package" >/dev/null 2>&1 || install "$package"
done

# A build of its own, so that it neither waits for another build nor is replaced by one while it runs.
say "building"
build=(swift build --package-path "$checkout" --scratch-path "$checkout/.build/benchmarks"
  -c release --static-swift-stdlib --product fetchres)
"${build[@]}" >&2
program=$("${build[@]}" --show-bin-path)/fetchres
exec python3 -B "$here/benchmark.py" --program "$program" --checkout "$checkout" "$@"
