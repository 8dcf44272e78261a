#!/usr/bin/env bash
# Runs everything that judges this package: layout of the sources, fixed vectors, unit tests, and the
# program itself against real servers. The exit code is the verdict.
#
# usage: Tests/run.sh [--sanitize] [argument of swift test…]
#        such as: Tests/run.sh --filter EndToEndTests
#
# With --sanitize, the suites run under the address and then the thread sanitizer instead, each in a
# build of its own.
#
# Installs what the tests need where Debian's apt-get is there; a Swift toolchain has to be there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "Tests/run.sh: $*"; }
give_up() {
  echo "Tests/run.sh: $*" >&2
  exit 1
}

sanitizers=()
if [ "${1:-}" = --sanitize ]; then
  sanitizers=(address thread)
  shift
fi

# --- What has to be there ---------------------------------------------------------------------

command -v swift >/dev/null ||
  give_up "there is no Swift on the PATH: install Swift 6.2 or later from https://swift.org/install"

packages=(libcurl4-openssl-dev libssl-dev pkg-config nginx-light openssl python3 python3-h2 curl
  tinyproxy-bin microsocks squid dante-server tor strace tmux mandoc git binutils chrpath
  dpkg-dev gcc)
is_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'; }
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  give_up "there is no apt-get here: install ${packages[*]} by hand on a Debian or Ubuntu machine"
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      give_up "${missing[*]} is missing: install it as root, or install sudo"
    as_root=(sudo)
  fi
  apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null >/dev/null; }
  apt update || give_up "apt-get update failed, and ${missing[*]} is missing"
  # Nothing is to start a server of its own, now or with the machine: they are run from here, and tor
  # where it has no network.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee $policy >/dev/null
    "${as_root[@]}" chmod 755 $policy
  else
    policy=""
  fi
  installed=yes
  apt install -y --no-install-recommends "${missing[@]}" || installed=""
  [ -z "$policy" ] || "${as_root[@]}" rm -f $policy
  [ -n "$installed" ] || give_up "apt-get could not install ${missing[*]}"
  if command -v systemctl >/dev/null; then
    for service in nginx squid danted tor; do
      case " ${missing[*]} " in
        *" ${service%d}"*) "${as_root[@]}" systemctl disable "$service" >/dev/null 2>&1 || true ;;
      esac
    done
  fi
fi

swift --version 2>/dev/null | head -n 1
echo "libcurl $(pkg-config --modversion libcurl)"
echo "OpenSSL $(pkg-config --modversion libcrypto)"

# --- What needs no server ---------------------------------------------------------------------

say "checking the layout of the sources"
swift format lint --strict --recursive --parallel Sources Tests Package.swift
if [ -f TestVectors/generate.py ]; then
  say "checking the vectors against their generator"
  python3 TestVectors/generate.py --check
fi
say "checking that every fault of the catalogue has a test"
python3 Tests/faults.py --check
if [ ${#sanitizers[@]} -eq 0 ]; then
  say "building"
  swift build --build-tests </dev/null
fi

# --- nginx ------------------------------------------------------------------------------------

base=${TMPDIR:-/tmp}
[ -d /dev/shm ] && [ -w /dev/shm ] && base=/dev/shm
scratch=$(mktemp -d "$base/fetchres-tests.XXXXXX")
nginx_pid=""
clean_up() {
  if [ -n "$nginx_pid" ]; then
    kill "$nginx_pid" 2>/dev/null || true
    wait "$nginx_pid" 2>/dev/null || true
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A certificate authority of the moment, and the certificate of a server on the loopback address.
make_certificates() {
  mkdir "$scratch/tls"
  (
    cd "$scratch/tls"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=fetchres test authority" \
      -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" \
      -keyout authority.key -out authority.pem
    openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout server.key -out server.csr
    printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n' >server.ext
    openssl x509 -req -in server.csr -days 2 -CA authority.pem -CAkey authority.key \
      -CAcreateserial -extfile server.ext -out server.pem
  ) >"$scratch/tls.log" 2>&1 || {
    cat "$scratch/tls.log" >&2
    give_up "openssl could not make the certificates"
  }
}

# Ports that were free a moment ago.
free_ports() {
  python3 - <<'PYTHON'
import socket
sockets = [socket.socket() for _ in range(8)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in sockets])
PYTHON
}

write_configuration() {
  local user=""
  [ "$(id -u)" = 0 ] && user="user root;"
  cat >"$scratch/nginx.conf" <<NGINX
$user
daemon off;
worker_processes 1;
pid $scratch/nginx.pid;
error_log $scratch/error.log;
events { worker_connections 512; }
http {
  log_format targets '\$request_method \$status \$request_uri';
  log_format connections '\$connection \$server_protocol \$status \$request_uri';
  access_log $scratch/access.log targets;
  access_log $scratch/connections.log connections;
  sendfile on;
  keepalive_requests 100000;
  types { }
  default_type application/octet-stream;
  client_body_temp_path $scratch/body;
  proxy_temp_path $scratch/proxy;
  fastcgi_temp_path $scratch/fastcgi;
  uwsgi_temp_path $scratch/uwsgi;
  scgi_temp_path $scratch/scgi;
  root $scratch/root;
  server { listen 127.0.0.1:$1; }
  server {
    listen 127.0.0.1:$2 ssl;
    ssl_certificate $scratch/tls/server.pem;
    ssl_certificate_key $scratch/tls/server.key;
    location /downgrade/ { rewrite ^/downgrade/(.*)\$ http://127.0.0.1:$1/\$1 redirect; }
  }
  server { listen 127.0.0.1:$3; max_ranges 0; }
  ssl_certificate $scratch/tls/server.pem;
  ssl_certificate_key $scratch/tls/server.key;
  server {
    listen 127.0.0.1:$4 ssl http2;
    location /only/ {
      if (\$server_protocol = HTTP/1.1) { return 505; }
      rewrite ^/only/(.*)\$ /\$1 break;
    }
  }
  server {
    listen 127.0.0.1:$5 ssl http2;
    keepalive_requests 3;
    if (\$server_protocol = HTTP/1.1) { return 505; }
  }
  server {
    listen 127.0.0.1:$6 ssl http2;
    http2_max_concurrent_streams 1;
    if (\$server_protocol = HTTP/1.1) { return 505; }
  }
  limit_req_zone \$server_port zone=busy:1m rate=10r/s;
  server {
    listen 127.0.0.1:$7;
    location / { limit_req zone=busy burst=4 nodelay; limit_req_status 429; }
  }
  server {
    listen 127.0.0.1:$8;
    location / { limit_req zone=busy burst=4 nodelay; limit_req_status 503; }
  }
}
NGINX
}

start_nginx() {
  local attempt plain tls norange http2 short narrow busy429 busy503
  for attempt in 1 2 3; do
    read -r plain tls norange http2 short narrow busy429 busy503 < <(free_ports)
    write_configuration "$plain" "$tls" "$norange" "$http2" "$short" "$narrow" \
      "$busy429" "$busy503"
    nginx -c "$scratch/nginx.conf" -p "$scratch" </dev/null 2>"$scratch/nginx.out" &
    nginx_pid=$!
    # Until it answers; a port that was taken meanwhile ends it, and others are tried.
    if curl --silent --retry 50 --retry-delay 0 --retry-max-time 10 --retry-connrefused \
      --noproxy '*' --output /dev/null "http://127.0.0.1:$norange/" && kill -0 "$nginx_pid"; then
      export FETCHRES_NGINX_URL=http://127.0.0.1:$plain
      export FETCHRES_NGINX_TLS_URL=https://127.0.0.1:$tls
      export FETCHRES_NGINX_NORANGE_URL=http://127.0.0.1:$norange
      export FETCHRES_NGINX_HTTP2_URL=https://127.0.0.1:$http2
      export FETCHRES_NGINX_HTTP2_SHORT_URL=https://127.0.0.1:$short
      export FETCHRES_NGINX_HTTP2_NARROW_URL=https://127.0.0.1:$narrow
      export FETCHRES_NGINX_BUSY_429_URL=http://127.0.0.1:$busy429
      export FETCHRES_NGINX_BUSY_503_URL=http://127.0.0.1:$busy503
      return
    fi
    kill "$nginx_pid" 2>/dev/null || true
    wait "$nginx_pid" 2>/dev/null || true
    nginx_pid=""
  done
  cat "$scratch/nginx.out" "$scratch/error.log" >&2 || true
  give_up "nginx does not start"
}

mkdir "$scratch/root"
make_certificates
start_nginx
export FETCHRES_NGINX_ROOT=$scratch/root
export FETCHRES_NGINX_CA=$scratch/tls/authority.pem
export FETCHRES_NGINX_LOG=$scratch/access.log
say "nginx serves at $FETCHRES_NGINX_URL and $FETCHRES_NGINX_TLS_URL"

# --- The tests --------------------------------------------------------------------------------

failures=()
failed() { failures+=("$1"); }

# The end of a long log names what failed, and with what.
end_with_verdict() {
  [ ${#failures[@]} -eq 0 ] && exit 0
  # Issues only: a test that failed has one of each.
  grep -aE '^✘ .*recorded an issue|^error: |Fatal error|unexpected signal' "$scratch/tests.log" |
    head -c 20000 || true
  for failure in "${failures[@]}"; do say "failed: $failure"; done
  exit 1
}

# What has begun is left out of the log.
test_package() { swift test "$@" </dev/null 2>&1 | sed -u '/ started\.$/d' | tee -a "$scratch/tests.log"; }
touch "$scratch/tests.log"

# What a process still holds at its end is no leak: threads that wait for ever are left behind.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
# Else every process sleeps for a second at its end, and some of the tests measure how soon that is.
export TSAN_OPTIONS=${TSAN_OPTIONS:-atexit_sleep_ms=0}
for sanitizer in ${sanitizers[@]+"${sanitizers[@]}"}; do
  say "testing under the $sanitizer sanitizer"
  FETCHRES_SANITIZER=$sanitizer test_package --sanitize "$sanitizer" \
    --scratch-path ".build/$sanitizer" "$@" || failed "the suites under the $sanitizer sanitizer"
done
[ ${#sanitizers[@]} -eq 0 ] || end_with_verdict

test_package "$@" || failed "the suites"
# What was asked for by name is all that runs.
[ $# -eq 0 ] || end_with_verdict

# Seeds, past failures, and a little further; a long run is one of Tests/fuzz.sh alone. The same is
# drawn each time, so that a finding is about what has changed.
say "fuzzing every target for 20 seconds"
FETCHRES_FUZZ_SEED=1 Tests/fuzz.sh 20 || failed "fuzzing"

# The memory bound is one of the static build, and so are the answer to --version and the drill.
say "checking the memory bound on the static build"
static=(-c release --static-swift-stdlib --scratch-path .build/static --product fetchres)
swift build "${static[@]}" </dev/null
fetchres=$(swift build "${static[@]}" --show-bin-path)/fetchres
"$fetchres" --version
python3 Tests/memory.py "$fetchres" "$FETCHRES_NGINX_URL" "$FETCHRES_NGINX_ROOT" \
  "$FETCHRES_NGINX_CA" "$FETCHRES_NGINX_TLS_URL" "$FETCHRES_NGINX_HTTP2_URL/only" ||
  failed "the memory bound"

say "checking the documents"
Tests/docs.sh "$fetchres" || failed "the documents"
say "building and running the sample app"
Tests/sample.sh "$fetchres" || failed "the sample app"

say "making a release of the static build"
python3 Tests/release.py "$fetchres" </dev/null || failed "the release"

# Downloads servers the first time, and starts them itself.
say "running the hosting recipes with the real servers"
python3 Tests/Hosting/hosting.py "$fetchres" </dev/null || failed "the hosting recipes"

# Another seed each time; what it finds says how to repeat it.
say "drilling the static build"
TMPDIR=$scratch "$fetchres" drill --size 8M --runs 40 --seed "${FETCHRES_SEED:-$RANDOM$RANDOM}" \
  --kill --tamper </dev/null || failed "the drill"

say "testing the tests with faults of the program itself"
Tests/mutants.sh </dev/null || failed "the mutants"
end_with_verdict
