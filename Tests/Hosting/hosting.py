#!/usr/bin/env python3
"""Runs the recipes of Hosting.md with the real servers.

usage: hosting.py FETCHRES [RECIPE…]

The configurations are the blocks of that page. Servers run on free ports of the loopback address, as
children of this process.
"""
import os
import sys
import time

sys.dont_write_bytecode = True
import caches
import static_servers
import uploads
from programs import Programs
from scene import Scene
from server import Serve

RECIPES = {name: static_servers.judge for name in static_servers.SERVERS} | {
    "rsync": uploads.judge_rsync, "object-store": uploads.judge_object_store,
} | {name: caches.judge for name in caches.CACHES}


def main() -> None:
    program, *names = sys.argv[1:]
    for name in names:
        if name not in RECIPES:
            sys.exit(f"hosting: there is no recipe {name}; there are: {', '.join(RECIPES)}")
    programs = Programs()
    scene = Scene(os.path.abspath(program), programs.environment)
    try:
        good = scene.copy("good")
        with Serve(scene, good) as mirror:
            for name in names or RECIPES:
                begin = time.monotonic()
                RECIPES[name](scene, programs, name, mirror.base)
                print(f"hosting: {name} took {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        scene.remove()
    print(f"{scene.passed} passed, {scene.failures} failed", flush=True)
    sys.exit(1 if scene.failures else 0)


main()
