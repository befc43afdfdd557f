# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine of the chaos test: its power, and the half of the test inside (chaos_inside.py)."""

import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile

TESTS = os.environ.get("AGENTDECK_TEST_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREFIX = os.environ.get("AGENTDECK_TEST_PREFIX") or "/usr/local"
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable
INSIDE = os.path.join(TESTS, "persistence", "chaos_inside.py")
ENGINES = os.path.join(TESTS, "persistence", "chaos_engines.py")
CLOCK = os.path.join(TESTS, "helper", "shifted-clock.c")
STRICT = os.environ.get("AGENTDECK_TEST_STRICT") == "1"
GIT = "/usr/bin/git"
ANSWER_TIMEOUT_S, POWER_TIMEOUT_S = 240, 400


class Violation(Exception):
    def __init__(self, problems):
        super().__init__("; ".join(f"{p['invariant']}: {p['text']}" for p in problems))
        self.problems = problems


class Impossible(Exception):
    pass


def violated(invariant, text, title=None):
    raise Violation([{"invariant": invariant, "text": text, "title": title}])


class Machine:
    def __init__(self, is_vm):
        self.is_vm = is_vm
        self.tool = os.path.join(TESTS, "testbed", "testvm" if is_vm else "testhost")
        self.scratch = tempfile.mkdtemp(prefix="agentdeck-chaos-")
        self.directory = os.path.join(self.scratch, "host")
        self.python, self.channel, self.is_up, self.has_engines = [PYTHON], None, False, False

    def call(self, verb, *words, timeout=POWER_TIMEOUT_S):
        # (a disk that can be filled up quickly)
        return subprocess.run([self.tool, verb, self.directory, *words], stdin=subprocess.DEVNULL, text=True, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                              env=dict(os.environ, TESTHOST_DISK="400m"))

    def up(self):
        words = ["--engines"]
        if self.is_vm:
            # it has no Python
            home = os.path.join(self.scratch, "python")
            ask = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
            library = subprocess.run(ask, text=True, check=True, stdout=subprocess.PIPE).stdout.strip()
            unwanted = shutil.ignore_patterns("test", "*-packages", "config-*", "idlelib", "tkinter")
            shutil.copytree(library, os.path.join(home, "lib", os.path.basename(library)), symlinks=True, ignore=unwanted)
            shutil.copy(os.path.realpath(PYTHON), os.path.join(home, "python3"))
            self.python = ["env", "PYTHONHOME=" + home, home + "/python3"]
            words = ["--with", PREFIX, "--with", home]
        result = self.call("up", *words)
        self.has_engines = result.returncode == 0 and not self.is_vm
        if result.returncode == 77 and not self.is_vm and not STRICT:
            print("no containers: " + result.stdout.strip().splitlines()[-1], flush=True)
            result = self.call("up")
        if result.returncode == 77:
            raise Impossible(result.stdout.strip().splitlines()[-1])
        if result.returncode != 0:
            raise RuntimeError("no machine: " + result.stdout)
        self.is_up = True
        if not self.is_vm:
            self.give_clock()
        self.connect()

    def give_clock(self):
        """Give it a wall clock that can be set: a test host has this machine's."""
        library = os.path.join(self.scratch, "shifted-clock.so")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, CLOCK], check=True)
        script = ("cat >/usr/lib/shifted-clock.so && head -c 8 /dev/zero >/var/lib/shifted-clock && "
                  "echo /usr/lib/shifted-clock.so >/etc/ld.so.preload")
        with open(library, "rb") as file:
            subprocess.run([self.tool, "root", self.directory, "--", "sh", "-c", script], stdin=file, check=True)

    def give_image(self):
        """Busybox, the demo agent, and the libraries of git, which is mounted into containers."""
        script = 'tool=$1; shift; "$@" | exec "$tool" root "$DIRECTORY" -- sh -c "cat >/var/tmp/image.tar"'
        image = os.path.join(TESTS, "testbed", "testimage")
        subprocess.run(["sh", "-c", script, "sh", self.tool, image, "plain", PREFIX + "/bin/agentdeck-demo-agent", "+" + GIT],
                       check=True, env=dict(os.environ, DIRECTORY=self.directory))
        self.do("image")

    def connect(self):
        text = ""
        for path in (ENGINES, INSIDE):
            with open(path) as file:
                text += file.read()
        self.channel = subprocess.Popen([self.tool, "root", self.directory, "--", *self.python, "-c", text, PREFIX],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read_answer("start")

    def read_answer(self, what):
        with selectors.DefaultSelector() as selector:
            selector.register(self.channel.stdout, selectors.EVENT_READ)
            if not selector.select(ANSWER_TIMEOUT_S):
                violated("no hang", f"no answer to {what} in {ANSWER_TIMEOUT_S} s")
        line = self.channel.stdout.readline()
        if not line:
            raise RuntimeError(f"the half inside ended at {what}")
        result = json.loads(line)
        if "exception" in result:
            violated("no exception", f"{what}: {result['exception']}")
        return result

    def do(self, action, **arguments):
        if not self.channel:
            raise RuntimeError("the machine is off")
        self.channel.stdin.write(json.dumps({"do": action, **arguments}) + "\n")
        self.channel.stdin.flush()
        return self.read_answer(action)

    def disconnect(self):
        """The half inside must end by itself: if it were killed from here it would keep running
        inside."""
        if not self.channel:
            return
        try:
            self.channel.stdin.close()
            self.channel.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.channel.kill()
            self.channel.wait()
        self.channel.stdout.close()
        self.channel = None

    def power(self, *verbs):
        for verb in verbs:
            if verb != "powercut":
                self.disconnect()
            result = self.call(verb)
            if result.returncode != 0:
                raise RuntimeError(f"{verb}: {result.stdout}")
        self.connect()

    def down(self):
        self.disconnect()
        if self.is_up or os.path.exists(self.directory):
            self.call("down")
        shutil.rmtree(self.scratch, ignore_errors=True)
