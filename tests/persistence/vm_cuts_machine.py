# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of vm-cuts (tests/testbed/testvm), and the contents of its disk if its power failed
now."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

TESTS = os.environ.get("AGENTDECK_TEST_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PREFIX = os.environ.get("AGENTDECK_TEST_PREFIX") or "/usr/local"
INSIDE = "/usr/lib/vm-cuts-inside"
HOME = "/home/deck/cuts"
STATE = HOME + "/.local/state/agentdeck"
POWER_TIMEOUT_S, COMMAND_TIMEOUT_S, FREEZE_TIMEOUT_S = 400, 180, 10


class Failure(Exception):
    pass


class Impossible(Exception):
    pass


def run(words, **more):
    # (there are two machines)
    environment = dict(os.environ, TESTVM_MEMORY="640", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=environment, **more)


def done(words, **more):
    result = run(words, **more)
    if result.returncode != 0:
        raise Failure(f"{' '.join(words[:4])}: status {result.returncode}: {result.stdout.decode(errors='replace')}")
    return result.stdout.decode(errors="replace")


def read_tree(top):
    """The contents below: for each path its bytes; None for a directory."""
    tree = {}
    for path, directories, files in os.walk(top):
        for name in directories:
            tree[os.path.relpath(os.path.join(path, name), top)] = None
        for name in files:
            with open(os.path.join(path, name), "rb") as file:
                tree[os.path.relpath(os.path.join(path, name), top)] = file.read()
    return tree


class Machine:
    def __init__(self):
        self.tool = os.path.join(TESTS, "testbed", "testvm")
        self.scratch = tempfile.mkdtemp(prefix="agentdeck-vm-cuts-")
        self.directory = os.path.join(self.scratch, "host")

    def power(self, verb, *words):
        done([self.tool, verb, self.directory, *words], stdin=subprocess.DEVNULL, timeout=POWER_TIMEOUT_S)

    def up(self):
        for program in ("e2fsck", "debugfs"):
            if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
                raise Impossible(f"{program} is not installed (Debian package: e2fsprogs)")
        if not os.access(PREFIX + "/bin/agentdeck", os.X_OK):
            raise Impossible(f"{PREFIX}/bin/agentdeck is not there: make install, or say AGENTDECK_TEST_PREFIX")
        result = run([self.tool, "up", self.directory, "--with", PREFIX], stdin=subprocess.DEVNULL, timeout=POWER_TIMEOUT_S)
        text = result.stdout.decode(errors="replace").strip()
        if result.returncode == 77:
            raise Impossible(text.splitlines()[-1])
        if result.returncode != 0:
            raise Failure("no machine: " + text)
        print(text, flush=True)
        with open(os.path.join(TESTS, "persistence", "vm-cuts-inside"), "rb") as file:
            self.root("sh", "-c", f"cat >{INSIDE} && chmod 755 {INSIDE}", given=file.read())
        # lingering: the sessions' manager does not end with a login
        self.root("loginctl", "enable-linger", "deck")
        self.root("install", "-d", "-o", "deck", "-g", "deck", HOME)
        self.root("sync")

    def down(self):
        if os.path.exists(self.directory):
            with contextlib.suppress(Failure):
                self.power("down")
        shutil.rmtree(self.scratch, ignore_errors=True)

    def root(self, *words, given=b""):
        return done([self.tool, "root", self.directory, "--", *words], input=given, timeout=COMMAND_TIMEOUT_S)

    def words(self, *words):
        """A command of the user's, as cron would run it."""
        return [self.tool, "user", self.directory, "--", "env", "-C", HOME, "HOME=" + HOME,
                f"PATH={PREFIX}/bin:/usr/local/bin:/usr/bin:/bin", *words]

    def user(self, *words, given=b""):
        return done(self.words(*words), input=given, timeout=COMMAND_TIMEOUT_S)

    # ---- the disk -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def frozen(self):
        """Stop the whole machine: its disk then has what kill -9 would leave."""
        with open(os.path.join(self.directory, "qemu")) as file:
            pid = int(file.read().split()[0])
        os.kill(pid, signal.SIGSTOP)
        try:
            end = time.monotonic() + FREEZE_TIMEOUT_S
            while not self.stands_still(pid):
                if time.monotonic() > end:
                    raise Failure("qemu does not stand still")
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @staticmethod
    def stands_still(pid):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError):
                with open(f"/proc/{pid}/task/{thread}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] != "T":
                        return False
        return True

    def disk_now(self):
        """The home of the user, as the machine would find it if its power failed now: with the
        journal applied, as a mount does."""
        image, folder = os.path.join(self.scratch, "cut.img"), os.path.join(self.scratch, "cut")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        with self.frozen():
            done(["cp", "--reflink=auto", "--sparse=always", self.directory + "/disk.img", image])
        result = run(["e2fsck", "-fp", "-E", "journal_only", image])
        if result.returncode not in (0, 1):     # (1: something was corrected)
            raise Failure("the disk is broken: " + result.stdout.decode(errors="replace"))
        text = done(["debugfs", "-R", f"rdump {HOME} {folder}", image])
        os.unlink(image)
        if not os.path.isdir(folder + "/" + os.path.basename(HOME)):
            raise Failure("the disk cannot be read: " + text)
        return read_tree(os.path.join(folder, os.path.basename(HOME)))
