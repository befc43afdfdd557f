# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of a real Kubernetes are made of."""
import contextlib
import os
import subprocess
import time

# (a deadline for a wait; what is expected comes long before)
DEADLINE_S = 180
PREFIX = os.environ.get("AGENTDECK_TEST_PREFIX", "/usr/local")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Failed(Exception):
    """What was expected, and what was there."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def wait_for(condition, what, seconds=DEADLINE_S):
    until = time.monotonic() + seconds
    while not (value := condition()):
        expect(time.monotonic() < until, f"{what() if callable(what) else what}, {seconds} s later")
        time.sleep(0.1)
    return value


def run(*words, check=True, **more):
    more = {"stdin": subprocess.DEVNULL, **more} if "input" not in more else more
    done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S, **more)
    if done.returncode and check:
        raise Failed(f"{words}: {done.returncode}: {done.stderr.decode()} {done.stdout.decode()[-2000:]}")
    return done


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def first_child(pid):
    with contextlib.suppress(OSError):
        return next((int(word) for word in read(f"/proc/{pid}/task/{pid}/children").split()), None)
    return None
