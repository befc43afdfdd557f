#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-interface.py - the socket for a user's programs, as docs/interface.md says

USAGE
  test-interface.py [CASE...]   only these; agentdeck and its helpers are found in PATH

It replays what clients of earlier versions sent (tests/fixtures/link-*), and runs the programs of the
document. A recording has these lines: "> FRAME" is sent; "< FRAME" must come; "= ID STREAM JSON" is what the
request has printed; "~ ID STREAM JSON" is a line that it prints now or later. What must come may have more
members, and lists more elements. "*" is any value but null, and "?" is any value.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import base64
import glob
import importlib.util
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.environ.get("top_srcdir", os.path.join(HERE, "../.."))
spec = importlib.util.spec_from_file_location("link", os.path.join(HERE, "test-link.py"))
link_of = importlib.util.module_from_spec(spec)
spec.loader.exec_module(link_of)
expect, Failed, Home, DEADLINE_S = link_of.expect, link_of.Failed, link_of.Home, link_of.DEADLINE_S


class Socket:
    """The user manager's part: listens, and runs a server for each connection (agentdeck@.service)."""

    def __init__(self, home):
        self.home, self.served = home, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(home.environment["XDG_RUNTIME_DIR"] + "/agentdeck.socket")
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.served.append(subprocess.Popen(["agentdeck", "serve", "--socket"], env=self.home.environment, stdin=connection, stdout=connection))
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for process in self.served:
            process.kill()
            process.wait()


class Client:
    def __init__(self, home):
        self.text, self.output = b"", {}
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(home.environment["XDG_RUNTIME_DIR"] + "/agentdeck.socket")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def next(self):
        """The next frame but for data, which is kept; None: the end."""
        until = time.monotonic() + DEADLINE_S
        while True:
            line, newline, rest = self.text.partition(b"\n")
            if newline:
                self.text = rest
                frame = json.loads(line) if line else None
                if frame:
                    if frame["frame"] != "data":
                        return frame
                    key = (frame["id"], frame["stream"])
                    data = frame["text"].encode() if "text" in frame else base64.b64decode(frame["base64"])
                    self.output[key] = self.output.get(key, b"") + data
                    return frame
                continue
            if not select.select([self.socket], [], [], max(0, until - time.monotonic()))[0]:
                raise Failed(f"no frame within {DEADLINE_S} s; before it: {self.text[:200]}")
            data = self.socket.recv(1 << 16)
            if not data:
                return None
            self.text += data


def fits(expected, got):
    if expected == "?":
        return True
    if expected == "*":
        return got is not None
    if isinstance(expected, dict):
        return isinstance(got, dict) and all(key in got and fits(value, got[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(got, list) and all(any(fits(one, other) for other in got) for one in expected)
    return type(expected) is type(got) and expected == got


def has_line(client, key, expected):
    """Has it printed such a line since the last one?  What precedes it is dropped."""
    lines = client.output.get(key, b"").split(b"\n")
    for i, line in enumerate(lines[:-1]):
        if line and fits(expected, json.loads(line)):
            client.output[key] = b"\n".join(lines[i + 1:])
            return True
    return False


def take(client, line):
    """One line of a recording."""
    what, _, rest = line.partition(" ")
    if what == ">":
        client.send(rest)
    elif what == "<":
        frame = client.next()
        while frame and frame["frame"] in ("data", "more"):
            frame = client.next()
        expect(fits(json.loads(rest), frame), f"{rest}: got {frame}, {client.output}")
    elif what in "=~":
        name, stream, text = rest.split(" ", 2)
        expected, key = json.loads(text), (name, stream)
        while what == "~" and not has_line(client, key, expected):
            expect(client.next(), f"{rest}: it ended")
        expect(what == "~" or fits(expected, json.loads(client.output.get(key, b"null"))), f"{rest}: it printed {client.output.get(key)}")
    else:
        raise Failed(f"this is no line of a recording: {line}")


def case_recorded_clients_still_work(home):
    recordings = sorted(glob.glob(os.path.join(TREE, "tests/fixtures/link-*/*.frames")))
    expect(len(recordings) >= 3, f"there are only {recordings}")
    for name in recordings:
        scratch = Home(os.path.dirname(home.path))
        try:
            with Socket(scratch), Client(scratch) as client, open(name, encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.startswith("#"):
                        try:
                            take(client, line.rstrip("\n").replace("$WORK", scratch.work))
                        except Failed as failure:
                            raise Failed(f"{os.path.basename(name)}:{number}: {failure}") from failure
        finally:
            scratch.end()


def programs(language):
    with open(os.path.join(TREE, "docs/interface.md"), encoding="utf-8") as file:
        found = re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.S | re.M)
    expect(len(found) == 1 and found[0].count("\n") <= 20, f"{language}: {len(found)} programs, or more than 20 lines")
    return found[0]


def run_program(home, *argv):
    done = subprocess.run(argv, env=home.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=4 * DEADLINE_S, check=False)
    expect(done.returncode == 0, f"{argv[0]}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def case_the_python_of_the_document_runs(home):
    home.deck("add", home.work, "-t", "one", "-c", "cat")
    with Socket(home):
        printed = run_program(home, sys.executable, "-c", programs("python"))
    expect(printed.splitlines()[1:] == ["one stopped None"] and printed.startswith("connected to "), printed)


# For a machine without socat: what the document needs of it.
SOCAT = """#!{python}
import os, socket, sys, threading
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[2].partition(":")[2])
def copy():
    while data := os.read(0, 65536):
        link.sendall(data)
threading.Thread(target=copy, daemon=True).start()
while data := link.recv(65536):
    os.write(1, data)
"""


def case_the_shell_of_the_document_runs(home):
    if not shutil.which("jq"):
        print("   no jq here")
        return
    if not shutil.which("socat"):
        link_of.write(home.path + "/bin/socat", SOCAT.format(python=sys.executable), 0o700)
        home.environment["PATH"] = home.path + "/bin:" + home.environment["PATH"]
    home.deck("add", home.work, "-t", "one", "-c", "cat")
    with Socket(home):
        printed = run_program(home, "bash", "-euc", programs("sh"))
    expect("one stopped" in printed, printed)


def case_what_is_no_connection_is_refused(home):
    done = subprocess.run(["agentdeck", "serve", "--socket"], env=home.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 1 and not done.stdout and "no connection of a program of this user" in done.stderr, done)
    for words in ((), ("--socket", "--stdio")):
        done = subprocess.run(["agentdeck", "serve", *words], env=home.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        expect(done.returncode == 64, done)


def case_another_user_is_refused(home):
    """The socket is made by one that has become another user: its credentials stay."""
    if os.geteuid() != 0:
        print("   needs root")
        return
    here, there = socket.socketpair()
    if not os.fork():
        try:
            foreign = socket.socket(socket.AF_UNIX)
            foreign.bind(home.path + "/foreign")
            os.chmod(home.path, 0o711)
            os.chmod(home.path + "/foreign", 0o777)
            foreign.listen()
            here.send(b"x")
            connection, _ = foreign.accept()
            done = subprocess.run(["agentdeck", "serve", "--socket"], env=home.environment, stdin=connection, stdout=connection, stderr=subprocess.PIPE, check=False)
            os._exit(0 if done.returncode == 1 and b"of this user" in done.stderr else 1)
        finally:
            os._exit(2)
    there.recv(1)
    os.chmod(os.path.dirname(home.path), 0o711)
    if not os.fork():
        try:
            os.setuid(65534)
            client = socket.socket(socket.AF_UNIX)
            client.connect(home.path + "/foreign")
            os._exit(1 if client.recv(1) else 0)
        finally:
            os._exit(2)
    for _ in range(2):
        status = os.wait()[1]
        expect(status == 0, f"it was served, or could not connect: {status}")


def case_a_silent_client_stays(home):
    with Socket(home) as served, Client(home) as client:
        client.next()
        client.send('{"frame":"hello","protocol":1}')
        client.send('{"frame":"request","id":"1","argv":["list","--json"]}')
        while client.next()["frame"] != "exit":
            pass
        with open(f"/proc/{served.served[0].pid}/cmdline", "rb") as words:
            expect(b"--socket" in words.read(), "it is another server")
        # Its only timers would be those of silence: it waits without one.
        link_of.wait_for(lambda: waits_without_timer(served.served[0].pid), "it has a timer")


def waits_without_timer(process):
    """No timer of the loop is set, so nothing but its client wakes it."""
    for name in os.listdir(f"/proc/{process}/fdinfo"):
        with open(f"/proc/{process}/fdinfo/{name}", encoding="utf-8") as info:
            text = info.read()
        if "it_value:" in text and "it_value: (0, 0)" not in text:
            return False
    return True


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failures, root = 0, tempfile.mkdtemp(prefix="agentdeck-interface-")
    try:
        for name in sys.argv[1:] or cases:
            home = Home(root)
            try:
                cases[name](home)
                print(f"ok {name}", flush=True)
            except (Failed, OSError, KeyError, ValueError, subprocess.SubprocessError) as failure:
                failures += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                home.end()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
