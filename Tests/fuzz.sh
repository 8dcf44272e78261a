#!/usr/bin/env bash
# Fuzzes whatever reads bytes that somebody else may have written. First every seed and every past
# failure of Tests/Fuzz/Corpus is run again; the exit code is 0 if nothing was found.
#
# usage: Tests/fuzz.sh SECONDS [TARGET…]      SECONDS for each target; 0 runs the corpus alone
#
# A finding is left in .build/fuzz/findings: fix it, and put the input into the corpus of its target
# under a name that says what was broken. FETCHRES_FUZZ_JOBS says how many targets run at a time,
# FETCHRES_FUZZ_SEED what is drawn; each run draws something else without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:?usage: Tests/fuzz.sh SECONDS [TARGET…]}
shift
jobs=${FETCHRES_FUZZ_JOBS:-$(nproc)}

# The package manager's own --sanitize takes one of the two alone.
build=(-c release --package-path Tests/Fuzz --scratch-path .build/fuzz
  -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer,address)
mkdir -p .build
swift build "${build[@]}" </dev/null >.build/fuzz.log 2>&1 || {
  cat .build/fuzz.log >&2
  exit 1
}
fuzz=$(swift build "${build[@]}" --show-bin-path)/Fuzz
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <("$fuzz")

base=${TMPDIR:-/tmp}
[ -d /dev/shm ] && [ -w /dev/shm ] && base=/dev/shm
FETCHRES_FUZZ_SCRATCH=$(mktemp -d "$base/fetchres-fuzz.XXXXXX")
export FETCHRES_FUZZ_SCRATCH
# What a trap says is enough, and the tracer reads more than the sanitizer lets it.
export SWIFT_BACKTRACE=enable=no
trap 'rm -rf "$FETCHRES_FUZZ_SCRATCH"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fuzz_one() {
  local target=$1 log=$FETCHRES_FUZZ_SCRATCH/$1.log code=0
  local corpus=.build/fuzz/corpus/$target findings=.build/fuzz/findings/$target
  local limits=(-seed="${FETCHRES_FUZZ_SEED:-0}" -timeout=20 -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1
    -artifact_prefix="$findings/")
  [ -d "Tests/Fuzz/Corpus/$target" ] || {
    echo "fuzz.sh: $target has no corpus"
    return 1
  }
  mkdir -p "$corpus" "$findings"
  if [ "$seconds" = 0 ]; then
    "$fuzz" "$target" "${limits[@]}" -runs=0 "Tests/Fuzz/Corpus/$target" >"$log" 2>&1 || code=$?
  else
    "$fuzz" "$target" "${limits[@]}" -max_total_time="$seconds" "$corpus" \
      "Tests/Fuzz/Corpus/$target" >"$log" 2>&1 || code=$?
  fi
  local runs
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ "$code" = 0 ]; then
    echo "fuzz.sh: $target: $runs executions, nothing found"
  else
    tail -n 60 "$log"
    echo "fuzz.sh: $target: FAILED, exit $code; the input is in $findings"
    return 1
  fi
}

# As many at a time as there are cores.
verdict=0
running=0
for target in "${targets[@]}"; do
  if [ "$running" -ge "$jobs" ]; then
    wait -n || verdict=1
    running=$((running - 1))
  fi
  fuzz_one "$target" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || verdict=1
  running=$((running - 1))
done
exit "$verdict"
