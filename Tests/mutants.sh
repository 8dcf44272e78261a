#!/usr/bin/env bash
# Tests the tests: builds the program with faults of its own, and fails unless a drill finds each of
# them, and nothing where none is chosen. The product has no such switch.
#
# usage: Tests/mutants.sh [NAME…]      without names: all of them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "Tests/mutants.sh: $*"; }
build=(-Xswiftc -DFETCHRES_MUTANTS --scratch-path .build/mutants --product fetchres)
swift build "${build[@]}" </dev/null
fetchres=$(swift build "${build[@]}" --show-bin-path)/fetchres

seed=${FETCHRES_SEED:-$RANDOM$RANDOM}
say "seed $seed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
report=$scratch/report.json

# drill PLAN RUNS OPTION…: the exit status; what was found goes into the report.
drill() {
  "$fetchres" drill --plan "$1" --runs "$2" --seed "$seed" "${@:3}" --report "$report" \
    >/dev/null 2>&1
}

# A site of 1,024 blocks, whose tree has four full tiles above its leaves.
make_site() {
  "$fetchres" keygen example.org/mutants --out "$scratch/key" >/dev/null 2>&1
  head -c 1048576 /dev/urandom >"$scratch/file"
  "$fetchres" publish "$scratch/file" --site "$scratch/site" --version 1 --key "$scratch/key" \
    --block-size 1024 >/dev/null 2>&1
}

names=("$@")
[ ${#names[@]} -gt 0 ] || for plan in Tests/Mutants/*.plan; do names+=("$(basename "$plan" .plan)"); done
verdict=0
for name in "${names[@]}"; do
  plan=Tests/Mutants/$name.plan
  runs=24
  options=(--size 1M --kill --tamper)
  case $name in
    # Each of its runs takes as long as a pull may.
    never-give-up) runs=4 ;;
    # A pull that ends by itself leaves a journal that vouches for more.
    trust-journal) options=(--size 1M --tamper) ;;
    # A tile that is believed shows in what is written under it, where there is one that leads to others.
    skip-tile)
      make_site
      runs=4
      options=("$scratch/site")
      ;;
  esac
  if FETCHRES_MUTANT=$name drill "$plan" "$runs" "${options[@]}"; then
    say "$name was not found in $runs runs"
    verdict=1
  else
    found=$(python3 - "$report" <<'PYTHON'
import collections, json, sys
report = json.load(open(sys.argv[1]))
rules = collections.Counter(v["rule"] for run in report["failures"] for v in run["violations"])
print(", ".join(f"{count} x {rule}" for rule, count in rules.most_common()))
PYTHON
    ) || found=""
    if [ -z "$found" ]; then
      say "$name: the drill itself failed"
      verdict=1
    else
      say "$name was found: $found"
    fi
  fi
  if ! drill "$plan" 6 "${options[@]}"; then
    say "with $plan a drill finds fault with the program as it is"
    verdict=1
  fi
done
exit "$verdict"
