#!/usr/bin/env python3
"""Writes the test vectors beside this file.

    python3 TestVectors/generate.py               write them
    python3 TestVectors/generate.py --check       exit 1 if what is on disk differs
    python3 TestVectors/generate.py --self-test   check the generator itself against RFC 8032 and RFC 6962

Every case carries the verdict its author expects; it is only written if the generator's own
implementation of the formats comes to the same verdict."""
import argparse
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True

from vectorlib import cases_manifest, cases_text, cases_tree, ed25519, merkle, notes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ["tree", "inclusion", "consistency", "tile", "key", "note", "checkpoint", "manifest"]


def collect():
    """All files as {"folder/name.json": bytes}."""
    files = {}

    def case(folder, name, about, verdict, /, **fields):
        path = f"{folder}/{name}.json"
        assert folder in FOLDERS and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), path
        assert path not in files, f"two cases named {path}"
        assert about.endswith(".") and "\n" not in about, path
        content = {"about": about, "verdict": verdict, **fields}
        files[path] = (json.dumps(content, indent=2, ensure_ascii=True) + "\n").encode()

    for module in (cases_tree, cases_text, cases_manifest):
        module.add(case)
    return files


def differences(files):
    for path, content in sorted(files.items()):
        file = HERE / path
        if not file.is_file():
            yield f"missing: {path}"
        elif file.read_bytes() != content:
            yield f"differs: {path}"
    for folder in FOLDERS:
        for file in sorted((HERE / folder).rglob("*")):
            path = file.relative_to(HERE).as_posix()
            if path not in files:
                yield f"surplus: {path}"


def write(files):
    for folder in FOLDERS:
        (HERE / folder).mkdir(exist_ok=True)
        for file in (HERE / folder).glob("*.json"):
            if f"{folder}/{file.name}" not in files:
                file.unlink()
    for path, content in files.items():
        if not (HERE / path).is_file() or (HERE / path).read_bytes() != content:
            (HERE / path).write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description="test vectors of fetchres")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare, write nothing")
    mode.add_argument("--self-test", action="store_true", help="check the generator itself")
    arguments = parser.parse_args()
    if arguments.self_test:
        ed25519.self_test()
        merkle.self_test()
        notes.self_test()
        print("self-test: ok")
        return 0
    files = collect()
    if arguments.check:
        found = list(differences(files))
        for line in found:
            print(line)
        print(f"check: {len(files)} files, {len(found)} differences")
        return 1 if found else 0
    write(files)
    for folder in FOLDERS:
        print(f"{folder}: {sum(path.startswith(folder + '/') for path in files)}")
    print(f"total: {len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
