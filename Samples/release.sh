#!/usr/bin/env bash
# Makes a release that others can check: the static program in a Debian package, the SHA-256 of every
# source file, what it was built with, and a site with the package in it, from which the packaged
# program then pulls itself. The same commit, toolchain and libraries give the same package, byte for
# byte, whatever the directory.
#
# usage: Samples/release.sh [--out DIR] [--key FILE] [--origin NAME] [--binary FILE] [--uncommitted]
#
#   --out DIR       where the release goes; default: dist
#   --key FILE      the secret key that signs it; default: release.key there, made if it is missing
#   --origin NAME   the origin of a key that is made; default: example.org/fetchres
#   --binary FILE   package this program instead of building one
#   --uncommitted   also from files that differ from the commit; the version then says so
#
# DEBFULLNAME and DEBEMAIL name the maintainer, SOURCE_DATE_EPOCH the time, if not that of the commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C TZ=UTC
umask 022

say() { echo "release: $*" >&2; }
give_up() {
  say "$*"
  exit 1
}

out=dist key="" origin=example.org/fetchres binary="" uncommitted=""
while [ $# -gt 0 ]; do
  case $1 in
    --uncommitted) uncommitted=yes ;;
    --out | --key | --origin | --binary)
      [ $# -gt 1 ] || give_up "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    *) give_up "no such option: $1; the head of Samples/release.sh lists them" ;;
  esac
  shift
done

# --- What has to be there ---------------------------------------------------------------------

needs=(git binutils chrpath dpkg-dev)
if [ -z "$binary" ]; then
  command -v swift >/dev/null ||
    give_up "Swift is missing: install a toolchain of version 6.2 or later (https://www.swift.org/install)"
  needs+=(libcurl4-openssl-dev libssl-dev pkg-config)
fi
missing=()
for package in "${needs[@]}"; do
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" </dev/null >/dev/null
fi

commit=$(git rev-parse --verify HEAD) || give_up "this is no checkout of git: the sources cannot be listed"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$(sed -n 's/^p[a-z]* let fetchresVersion = "\(.*\)"$/\1/p' Sources/FetchResKit/Version.swift)
[ -n "$version" ] || give_up "Sources/FetchResKit/Version.swift names no version"
changed=$(git status --porcelain --untracked-files=no)
if [ -n "$changed" ]; then
  [ -n "$uncommitted" ] ||
    give_up "tracked files differ from the commit: commit them, or say --uncommitted"
  version+=+uncommitted
fi
architecture=$(dpkg --print-architecture)
name=fetchres_$version-1_$architecture
maintainer="${DEBFULLNAME:-The fetchres authors} <${DEBEMAIL:-fetchres@localhost}>"

mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
server=""
clean_up() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT

# --- The sources ------------------------------------------------------------------------------

# Hashes the files as they lie here, and puts the list into place once it holds for what the commit
# has: two readings by two ways.
list_sources() {
  local tree=. list=fetchres-$version.sources.sha256
  # A link counts as what it leads to; a module of another repository has no bytes here.
  git ls-files --stage | grep '^160000' >&2 && give_up "modules cannot be listed"
  git ls-files -z | sort -z >"$scratch/files"
  xargs -0 sha256sum <"$scratch/files" >"$scratch/$list"
  if [ -z "$changed" ]; then
    tree=$scratch/tree
    mkdir "$tree"
    git archive "$commit" | tar -x -C "$tree"
    (cd "$tree" && find . ! -type d -printf '%P\0') | sort -z | cmp -s - "$scratch/files" ||
      give_up "the files of the commit are not the files here"
  fi
  (cd "$tree" && sha256sum --check --strict --quiet "$scratch/$list") >&2 ||
    give_up "the list of sources does not hold for the commit; nothing was written"
  [ "$(wc -l <"$scratch/$list")" = "$(tr -dc '\0' <"$scratch/files" | wc -c)" ] ||
    give_up "the list of sources does not name every file; nothing was written"
  sources=$out/$list
  mv "$scratch/$list" "$sources"
}

# --- The package ------------------------------------------------------------------------------

build_program() {
  if [ -z "$binary" ]; then
    say "building"
    # The directory gets into the program through paths, and through the name of the package.
    local build=(swift build -c release --static-swift-stdlib --scratch-path .build/package
      --product fetchres -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xcc "-ffile-prefix-map=$PWD=."
      -Xswiftc -package-name -Xswiftc fetchres)
    "${build[@]}" </dev/null >&2
    binary=$("${build[@]}" --show-bin-path)/fetchres
  fi
  # Symbols and debug information; hashes of what was compiled and linked, which had paths in it.
  strip --strip-all --remove-section=.comment --remove-section=.note \
    --remove-section=.note.gnu.build-id --remove-section=.swift_modhash -o "$scratch/fetchres" "$binary"
  # Libraries that happen to lie beside the program are none of its own.
  chrpath --delete "$scratch/fetchres" >/dev/null
  [[ "$("$scratch/fetchres" --version)" == *"${version%+uncommitted}"* ]] ||
    give_up "$binary is of another version than the sources"
}

put() { install -D -m "${3:-644}" "$1" "$scratch/root/$2"; }
put_zipped() {
  put "$1" "$2"
  gzip -9n "$scratch/root/$2"
}

fill_package() {
  local doc=usr/share/doc/fetchres made=$scratch/made shell
  mkdir "$made"
  put "$scratch/fetchres" usr/bin/fetchres 755
  put_zipped Samples/fetchres.1 usr/share/man/man1/fetchres.1
  for shell in bash zsh fish; do "$scratch/fetchres" completion $shell >"$made/$shell"; done
  put "$made/bash" usr/share/bash-completion/completions/fetchres
  put "$made/zsh" usr/share/zsh/vendor-completions/_fetchres
  put "$made/fish" usr/share/fish/vendor_completions.d/fetchres.fish
  sed 's|^ExecStart=/usr/local/bin/|ExecStart=/usr/bin/|' "Samples/systemd/fetchres@.service" >"$made/unit"
  grep -q '^ExecStart=/usr/bin/fetchres ' "$made/unit" || give_up "the unit starts another program"
  put "$made/unit" "usr/lib/systemd/system/fetchres@.service"
  put "Samples/systemd/fetchres@.timer" "usr/lib/systemd/system/fetchres@.timer"
  put Samples/config $doc/examples/config
  put Samples/events.schema.json $doc/examples/events.schema.json
  put_zipped "$sources" $doc/sources.sha256
  put_zipped CHANGELOG.md $doc/changelog
  cat >"$made/changelog" <<CHANGELOG
fetchres ($version-1) unstable; urgency=medium

  * Built from commit $commit; changelog.gz says what is new.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
  put_zipped "$made/changelog" $doc/changelog.Debian
  copyright >"$made/copyright"
  put "$made/copyright" $doc/copyright
}

copyright() {
  local license
  license=$(git ls-files | grep -iE -m 1 '^(LICEN[CS]E|COPYING)' || true)
  cat <<'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: the authors that the history of the sources names
License: fetchres
COPYRIGHT
  if [ -n "$license" ]; then
    sed -e 's/^[[:space:]]*$/./' -e 's/^/ /' "$license"
  else
    echo " The sources state no licence: ask their owner before you pass this package on."
  fi
  cat <<'COPYRIGHT'

Files: usr/bin/fetchres
Copyright: the authors above, and of its Swift runtime, which is linked in, the Swift project's authors
License: fetchres, and Apache-2.0 with Runtime Library Exception
 On Debian systems the text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT
}

# The shared libraries, with the versions from which on they have all that is used.
depends() {
  local place=$scratch/shlibdeps program=debian/fetchres/usr/bin/fetchres
  install -D "$scratch/fetchres" "$place/$program"
  mkdir "$place/debian/fetchres/DEBIAN"
  printf 'Source: fetchres\n\nPackage: fetchres\nArchitecture: any\n' >"$place/debian/control"
  (cd "$place" && dpkg-shlibdeps -O "$program") | sed -n 's/^shlibs:Depends=//p'
}

make_package() {
  local root=$scratch/root libraries kib
  libraries=$(depends)
  [ -n "$libraries" ] || give_up "dpkg-shlibdeps names no library"
  # As dpkg-gencontrol counts: whole KiB of files, one for a directory; no disk has a say.
  kib=$(find "$root" \( -type f -printf '%s\n' \) -o -printf '1\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
  mkdir "$root/DEBIAN"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  cat >"$root/DEBIAN/control" <<CONTROL
Package: fetchres
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $kib
Depends: $libraries
Recommends: ca-certificates
Suggests: tor
Section: net
Priority: optional
Description: fetch large files from servers that need not be trusted
 Every block is verified against a signed manifest before it is written, and a
 run can be stopped, killed or unplugged at any moment without losing verified
 work or ever showing an unverified byte. Publishes such files, too, for any
 static web server.
CONTROL
  find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  # One thread: several cut the compressed stream elsewhere.
  dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$scratch/$name.deb" >&2
  mv "$scratch/$name.deb" "$out/$name.deb"
}

# What somebody needs who wants to make the same package.
write_build_information() {
  local program="built here by $(swift --version 2>/dev/null | head -n 1)"
  [ -z "$given" ] || program="given, not built here"
  cat >"$out/$name.buildinfo" <<BUILDINFO
Format: 1.0
Source: fetchres
Binary: fetchres
Architecture: $architecture
Version: $version-1
Checksums-Sha256:
 $(sha256sum "$out/$name.deb" | cut -d' ' -f1) $(stat -c %s "$out/$name.deb") $name.deb
Build-Architecture: $architecture
Build-Date: $(date -u -R -d "@$SOURCE_DATE_EPOCH")
Installed-Build-Depends:
$(dpkg-query -W -f ' ${binary:Package} (= ${Version}),\n' binutils dpkg dpkg-dev gzip libc6-dev libcurl4-openssl-dev libssl-dev xz-utils 'libgcc-*-dev' 'libstdc++-*-dev' 2>/dev/null | grep -v '(= )' | sed '$s/,$//')
Environment:
 SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH"
X-Commit: $commit
X-Program: $program
BUILDINFO
}

# --- The site ---------------------------------------------------------------------------------

publish() {
  local unpacked=$scratch/unpacked program pulled
  dpkg-deb -x "$out/$name.deb" "$unpacked"
  program=$unpacked/usr/bin/fetchres
  if [ -z "$key" ]; then
    key=$out/release.key
    if [ ! -e "$key" ]; then
      "$program" keygen "$origin" --out "$key" >/dev/null
      say "made $key: keep it and the .head beside it, they sign the next release"
    fi
  fi
  "$program" publish "$out/$name.deb" --site "$out/site" --version "$version" --key "$key" --config none >&2
  sed -n 's/^key //p' "$out/site/manifest" >"$out/release.pub"

  # Pulled as anybody would, by what the package holds.
  "$program" serve "$out/site" --listen 127.0.0.1:0 >"$scratch/url" &
  server=$!
  until [ -s "$scratch/url" ]; do
    kill -0 "$server" 2>/dev/null || give_up "the release is not served"
    sleep 0.02
  done
  pulled=$("$program" pull "$(head -n 1 "$scratch/url")" --key "@$out/release.pub" -d "$scratch/pulled" \
    --state-dir "$scratch/state" --config none --no-proxy --quiet)
  cmp "$pulled" "$out/$name.deb" || give_up "what was pulled is not what was published"
}

given=$binary
list_sources
build_program
fill_package
make_package
write_build_information
publish
say "published and pulled back; release $version is whole:"
printf '%s\n' "$out/$name.deb" "$out/$name.buildinfo" "$sources" "$out/release.pub" "$out/site"
