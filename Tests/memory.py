#!/usr/bin/env python3
"""Checks the memory bound of a pull on the static release build, against a real nginx.

usage: memory.py FETCHRES URL ROOT [CA TLS_URL HTTP2_URL]   (ROOT is what nginx serves; HTTP2_URL
refuses HTTP/1.1, so that data come over HTTP/2)

For blocks of 4 KiB, 1 MiB and 64 MiB, with the default of --memory and with a small one, the peak
resident size may be the larger of --memory and two blocks + 8 MiB, plus 24 MiB. Each size is pulled
once at full speed and once with all transfers held back by --limit-rate.
"""
import os, shutil, subprocess, sys, tempfile

MIB = 1 << 20
ALLOWANCE = 24 * MIB


def run(arguments, environment, seconds=None):
    """The exit status and the peak resident size in bytes; ended after `seconds` if given."""
    child = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL)
    if seconds is not None:
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            # The peak so far, as the kernel counts it; the children's own figure comes too late.
            with open(f"/proc/{child.pid}/status") as status:
                peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
            child.kill()
            child.wait()
            return None, peak * 1024
        return child.returncode, None
    _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def main():
    fetchres, url, root = sys.argv[1:4]
    servers = [("plain", url, [])]
    if len(sys.argv) > 6:
        servers.append(("tls", sys.argv[5], ["--cacert", sys.argv[4]]))
        servers.append(("http/2", sys.argv[6], ["--cacert", sys.argv[4]]))
    work = tempfile.mkdtemp(prefix="memory.", dir=root)
    failures = 0
    try:
        # The releases of one origin are one history; each size of blocks begins one of its own.
        environment = dict(os.environ)
        key = subprocess.run(
            [fetchres, "keygen", "example.org/memory", "--out", f"{work}/key"],
            check=True, capture_output=True, text=True).stdout.strip()
        source = f"{work}/source.bin"
        with open(source, "wb") as file:
            for _ in range(512):
                file.write(os.urandom(MIB))
        for block in (4 << 10, MIB, 64 * MIB):
            site = f"{work}/site-{block}"
            subprocess.run(
                [fetchres, "publish", source, "--site", site, "--version", "1", "--key",
                 f"{work}/key", "--block-size", str(block), "--link"],
                check=True, capture_output=True)
            os.remove(f"{work}/key.head")
            environment["XDG_STATE_HOME"] = f"{work}/state-{block}"
            for name, base, options in servers:
                for memory in (None, 16 * MIB):
                    for rate in (None, "40M"):
                        budget = max(memory or 64 * MIB, 2 * block + 8 * MIB)
                        target = f"{work}/target"
                        shutil.rmtree(target, ignore_errors=True)
                        command = [fetchres, "pull", f"{base}/{os.path.relpath(site, root)}/manifest",
                                   "--key", key, "-d", target, "--quiet"] + options
                        if memory:
                            command += ["--memory", str(memory)]
                        if rate:
                            command += ["--limit-rate", rate]
                        status, peak = run(command, environment, seconds=2 if rate else None)
                        good = peak is not None and peak <= budget + ALLOWANCE and status in (0, None)
                        failures += not good
                        print(f"{'ok  ' if good else 'FAIL'} {name}, blocks of {block >> 10} KiB, "
                              f"--memory {(memory or 64 * MIB) >> 20} MiB, "
                              f"{'held back' if rate else 'full speed'}: "
                              f"{(peak or 0) / MIB:.0f} of {(budget + ALLOWANCE) / MIB:.0f} MiB, "
                              f"exit {status}", flush=True)
            shutil.rmtree(site)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    sys.exit(1 if failures else 0)


main()
