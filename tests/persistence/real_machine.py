# SPDX-License-Identifier: GPL-3.0-or-later
"""The test host of real-agents, and what all of its files share."""

import os
import shutil
import subprocess
import tempfile
import threading
import time

TESTS = os.environ.get("AGENTDECK_TEST_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREFIX = os.environ.get("AGENTDECK_TEST_PREFIX") or "/usr/local"
CACHE = os.environ.get("AGENTDECK_TEST_CACHE") or "/var/cache/agentdeck-tests"
STRICT = os.environ.get("AGENTDECK_TEST_STRICT") == "1"
TESTHOST = os.path.join(TESTS, "testbed", "testhost")
# The agents are installed before the host comes up.
os.environ["TESTHOST_REFRESH"] = "no"

USER = "deck"
PATIENCE_S, LOOK_AGAIN_S = 90, 0.2


class Skip(Exception):
    pass


class Failure(Exception):
    pass


def look_until(condition, patience=PATIENCE_S):
    """The condition's value once it is true; None: it never was."""
    deadline = time.monotonic() + patience
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() >= deadline:
            return None
        time.sleep(LOOK_AGAIN_S)


class Host:
    """Several threads use it at the same time."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="agentdeck-real-agents-")
        self.is_up = False
        self.lock = threading.Lock()

    def testhost(self, verb, *words, timeout=300, text=None):
        return subprocess.run([TESTHOST, verb, self.directory, *words], input=text, text=True, timeout=timeout,
                              capture_output=True, errors="replace",
                              **({} if text is not None else {"stdin": subprocess.DEVNULL}))

    def up(self):
        with self.lock:
            if self.is_up:
                return
            answer = self.testhost("up")
            self.is_up = answer.returncode == 0
        if answer.returncode == 77:
            raise Skip(answer.stderr.strip())
        if not self.is_up:
            raise Failure("no test host: " + answer.stderr)

    def down(self):
        self.testhost("down")
        shutil.rmtree(self.directory, ignore_errors=True)

    def user(self, argv, **more):
        return self.testhost("user", "--", *argv, **more)

    def login(self, argv):
        return self.testhost("ssh", "--", *argv)

    def root(self, argv):
        return self.testhost("root", "--", *argv)

    def background(self, argv):
        return subprocess.Popen([TESTHOST, "user", self.directory, "--", *argv], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
