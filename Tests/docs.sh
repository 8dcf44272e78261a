#!/usr/bin/env bash
# Checks the documents: docc builds the catalog without a warning, and every command in README.md and in
# the articles does and prints what is written there.
#
# usage: Tests/docs.sh FETCHRES      the program, built; the library has to be built for debugging
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -eq 1 ] || { echo "usage: Tests/docs.sh FETCHRES" >&2; exit 2; }

say() { echo "Tests/docs.sh: $*"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
verdict=0

# Both stand beside the compiler, wherever that is linked from.
toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
say "building the documentation"
binaries=$(swift build --show-bin-path)
target=$(swiftc -print-target-info |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
includes=(-I "$binaries/Modules" -I "$binaries/CSystem.build" -I Sources/CLibcurl -I Sources/CLibcrypto)
mkdir "$scratch/symbols"
"$toolchain/swift-symbolgraph-extract" -module-name FetchResKit -target "$target" "${includes[@]}" \
  -minimum-access-level public -output-dir "$scratch/symbols"
# Nothing public is without a word about it.
python3 - "$scratch/symbols/FetchResKit.symbols.json" <<'PYTHON' || verdict=1
import json, sys
silent = [
    ".".join(symbol["pathComponents"]) for symbol in json.load(open(sys.argv[1]))["symbols"]
    if "docComment" not in symbol and "::SYNTHESIZED::" not in symbol["identifier"]["precise"]
]
for name in silent:
    print(f"{name} has no documentation comment")
sys.exit(1 if silent else 0)
PYTHON
"$toolchain/docc" convert Sources/FetchResKit/FetchResKit.docc --warnings-as-errors \
  --fallback-display-name FetchResKit --fallback-bundle-identifier org.example.fetchreskit \
  --additional-symbol-graph-dir "$scratch/symbols" --output-path "$scratch/archive" ||
  { say "the catalog has warnings"; verdict=1; }

say "executing the commands of the documents"
python3 Tests/docs.py "$1" || verdict=1
exit $verdict
