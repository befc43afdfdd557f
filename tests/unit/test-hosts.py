#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-hosts.py - commands on another host: -H, AGENTDECK_HOST and HOST:SESSION, with a real ssh

USAGE
  test-hosts.py [CASE...]   only these; agentdeck and its helpers are found in PATH

Each case has an sshd on a free port of 127.0.0.1, with keys and a configuration of its own, and two
homes: the near one, and the far one, which is the user's on the "host" gpu1.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no sshd, ssh or tmux, or this user cannot
  log in
"""
import contextlib
import ctypes
import datetime
import glob
import json
import os
import pty
import pwd
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import threading
import time
import types
import uuid

DEADLINE_S = 60
UNREACHABLE, UNKNOWN = 69, 70
SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/sbin")


class Failed(Exception):
    """What was expected, and what was there."""


class Skipped(Exception):
    """What is missing."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def wait_for(condition, what):
    until = time.monotonic() + DEADLINE_S
    while not condition():
        expect(time.monotonic() < until, f"{what}, {DEADLINE_S} s later")
        select.select([], [], [], 0.02)


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Hosts:
    """This machine and "gpu1"."""

    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)
        self.port, self.sshd, self.bin = free_port(), None, self.path + "/bin"
        self.near, self.far = self.path + "/near", self.path + "/far"
        for name in (self.near, self.far, self.bin, self.path + "/work"):
            os.mkdir(name, 0o700)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AGENTDECK_", "TMUX", "XDG_", "SSH_"))}
        kept["PATH"] += ":/usr/sbin:/sbin"
        self.environment = {**kept, "PATH": f"{self.bin}:{kept['PATH']}", "AGENTDECK_HOME": self.near}
        # not this machine's .bashrc: one that is killed can leave a lock behind
        self.far_environment = {**kept, "HOME": self.far, "AGENTDECK_HOME": self.far}
        for name in ("key", "hostkey"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.path}/{name}"], check=True)
        # ssh takes the home from the user database, so its configuration there is the machine's
        write(self.bin + "/ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.path}/ssh_config "$@"\n', 0o755)
        self.settings("[hosts.gpu1]\n")
        write(self.far + "/config.toml", "[tmux]\nlaunch_in_user_scope = false\nlinger = false\n[supervise]\nauto = false\n")
        self.configure_ssh()
        self.trust()
        self.up()

    def settings(self, text):
        write(self.near + "/config.toml", "[tmux]\nlaunch_in_user_scope = false\nlinger = false\n" + text)

    def configure_ssh(self, more="", port=None):
        write(self.path + "/ssh_config", f"Host *\n  HostName 127.0.0.1\n  Port {port or self.port}\n  IdentityFile {self.path}/key\n  IdentitiesOnly yes\n"
                                         f"  UserKnownHostsFile {self.path}/known\n  GlobalKnownHostsFile none\n{more}\n")

    def trust_port(self, port):
        with open(self.path + "/known", "r+", encoding="utf-8") as file:
            file.write(file.read().replace(str(self.port), str(port)))

    def trust(self, key="hostkey"):
        with open(f"{self.path}/{key}.pub", encoding="utf-8") as file:
            write(self.path + "/known", f"[127.0.0.1]:{self.port} {' '.join(file.read().split()[:2])}\n")

    def up(self, more="", within=()):
        """within: the words before those of sshd."""
        # the first line of a keyword counts
        write(self.path + "/sshd_config", f"{more}\nListenAddress 127.0.0.1:{self.port}\nHostKey {self.path}/hostkey\nAuthorizedKeysFile {self.path}/key.pub\n"
                                          f"StrictModes no\nUsePAM no\nPidFile none\nPrintMotd no\n{'' if 'MaxStartups' in more else 'MaxStartups 100'}\n"
                                          f"SetEnv HOME={self.far} AGENTDECK_HOME={self.far} PATH={self.far_environment['PATH']}\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with open(self.path + "/sshd.log", "a", encoding="utf-8") as log:
            self.sshd = subprocess.Popen([*within, SSHD, "-D", "-e", "-f", self.path + "/sshd_config"], stderr=log)
        wait_for(self.listens, "sshd does not listen")

    def listens(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def down(self):
        """With every connection."""
        if self.sshd:
            for process in self.children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.sshd.kill()
            self.sshd.wait()
        self.sshd = None

    def children(self, process=None):
        found = []
        with contextlib.suppress(OSError), open(f"/proc/{process or self.sshd.pid}/task/{process or self.sshd.pid}/children", encoding="utf-8") as file:
            for word in file.read().split():
                found += [int(word), *self.children(int(word))]
        return found

    def run(self, *words, **more):
        return subprocess.run(["agentdeck", *words], env={**self.environment, **more.pop("environment", {})}, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S, **({} if "input" in more else {"stdin": subprocess.DEVNULL}), **more)

    def there(self, *words):
        return subprocess.run(["agentdeck", *words], env=self.far_environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def masters(self):
        """The processes of our connections."""
        found = []
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and (words := open(f"/proc/{name}/cmdline", "rb").read().split(b"\0")) and b"-fN" in words and self.near.encode() in b" ".join(words):
                    found.append(int(name))
        return found

    def keepers(self):
        """The processes that keep forwarded ports, and those that these have started."""
        found = [int(name) for name in os.listdir("/proc") if name.isdigit() and b"keep-forward" in command_of(name).split(b"\0") and self.is_ours(name)]
        return found + [child for one in found for child in self.children(one)]

    def is_ours(self, process):
        with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
            return f"AGENTDECK_HOME={self.near}".encode() in file.read().split(b"\0")
        return False

    def end(self):
        for process in (*self.keepers(), *self.masters()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for stop in (self.there, self.run):
            stop("session", "stop", "--all", "--quiet")
        self.down()


class Relay(threading.Thread):
    """Between ssh and sshd.  With drops it accepts, and passes nothing on."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target, self.drops, self.pairs, self.ends = port, False, {}, False
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while not self.ends:
            for one in select.select([self.socket, *([] if self.drops else self.pairs)], [], [], 0.05)[0]:
                if one is self.socket:
                    near = one.accept()[0]
                    far = socket.create_connection(("127.0.0.1", self.target))
                    self.pairs.update({near: far, far: near})
                elif one in self.pairs and not self.drops:
                    self.pass_on(one)

    def pass_on(self, one):
        other = self.pairs[one]
        with contextlib.suppress(OSError):
            if piece := one.recv(65536):
                return other.sendall(piece)
        for each in (one, other):
            self.pairs.pop(each).close()

    def end(self):
        self.ends = True
        self.join()
        for one in (self.socket, *self.pairs):
            one.close()


def on_terminal(hosts, *words, until=None, asked=None, answer=b""):
    """What a command prints on a terminal; it is ended once it has printed until.  When it has printed asked, answer is typed."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("agentdeck", ["agentdeck", *words], {**hosts.environment, "TERM": "xterm-256color"})
    text, deadline = b"", time.monotonic() + DEADLINE_S
    with contextlib.suppress(OSError):
        while not (until and until in text) and select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
            piece = os.read(terminal, 4096)
            if not piece:
                break
            text += piece
            if asked and asked in text:
                os.write(terminal, answer)
                asked = None
    os.close(terminal)  # a hangup
    return text, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def start_time(process):
    """None: it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[19]
    return None


def with_start_times(processes):
    return [(one, began) for one in processes if (began := start_time(one))]


def have_ended(processes):
    return not any(start_time(one) == began for one, began in processes)


def command_of(process):
    with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:
        return file.read()
    return b""


def since_files(hosts):
    return [name for name in os.listdir(hosts.near + "/run/links") if name.endswith(".since")]


def refused(hosts, status, told, *words, **more):
    done = hosts.run(*words, **more)
    message = (done.stderr + done.stdout).decode()
    expect(done.returncode == status and told in message, f"{words}: exit {done.returncode} instead of {status}, without '{told}': {message}")
    return message


def signal_all(processes, number):
    """Some end meanwhile, as the server of a connection does with its client."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def case_a_command_runs_there(hosts):
    hosts.there("add", hosts.path + "/work", "-t", "api", "-c", "cat")
    here = json.loads(hosts.there("list", "--json"))
    for words, environment in ((("-H", "gpu1", "list", "--json"), {}), (("--host=gpu1", "list", "--json"), {}), (("list", "--json"), {"AGENTDECK_HOST": "gpu1"})):
        done = hosts.run(*words, environment=environment)
        expect(done.returncode == 0, done)
        [one] = json.loads(done.stdout)
        expect(one.pop("via") == "gpu1" and one.pop("via_machine_id") == machine_id(), one)
        expect(one.pop("via_now_at") >= one["created_at"], "no clock")
        expect([one] == here, f"{one} instead of {here}")
    expect(json.loads(hosts.run("list", "--json").stdout) == [], "this machine has the session, too")
    expect(json.loads(hosts.run("-H", "local", "list", "--json", environment={"AGENTDECK_HOST": "gpu1"}).stdout) == [], "local is not this machine")
    # The ages may differ.
    texts = [re.sub(rb"\d+ \w+|now", b"", text) for text in (hosts.run("-H", "gpu1", "list").stdout, hosts.there("list"))]
    expect(b"api" in texts[0] and texts[0].split() == texts[1].split(), f"text differs: {texts}")
    expect(len(hosts.masters()) == 1, f"{hosts.masters()}: not one connection")
    refused(hosts, 2, "no session", "-H", "gpu1", "show", "nothing")
    refused(hosts, 2, "there is no host 'gpu2'", "-H", "gpu2", "list")
    refused(hosts, 3, "called by agentdeck itself", "-H", "gpu1", "serve", "--stdio")


def case_a_launch_there_has_all_its_options(hosts):
    """As the same words have here."""
    words = ("launch", hosts.path + "/work", "-t", "a title: with words", "-g", "team/api", "--tag", "one", "--tag", "two", "--agent", "demo", "--restart", "no",
             "-m", "two\nlines", "--", "--model", "a b")
    shown = []
    for where in ((), ("-H", "gpu1")):
        done = hosts.run(*where, *words)
        expect(done.returncode == 0, done)
        shown.append(json.loads(hosts.run(*where, "show", "a title: with words", "--json").stdout))
    names = ("title", "group", "tags", "agent", "path", "command", "restart")
    here, there = ({name: row.get(name) for name in names} for row in shown)
    expect(here == there and there["group"] == "team/api" and None not in there.values(), f"{there} instead of {here}")


def case_a_host_is_what_the_configuration_says(hosts):
    for text, told in (("[hosts]\ngpu1 = 1\n", "must be a table"), ('[hosts.local]\n', "not a valid name"), ('[hosts."a b"]\n', "not a valid name"),
                       ('[hosts.a]\nssh = "-oProxyCommand=x"\n', "a host, USER@HOST"), ('[hosts.a]\nprogram = "a; b"\n', "without blanks"),
                       ("[hosts.a]\ntimeout = 0\n", "timeout"), ("[hosts.a]\nport = 22\n", "ssh, program, timeout, machine_id and ")):
        hosts.settings(text)
        refused(hosts, 1, told, "config", "check")
    hosts.settings('[hosts.far]\nssh = "gpu1"\nprogram = "agentdeck"\ntimeout = 30\n')
    expect(hosts.run("-H", "far", "list").returncode == 0, "list")
    offered = subprocess.run(["agentdeck", "help", "--complete", "--", "-H", ""], env=hosts.environment, check=True, stdout=subprocess.PIPE).stdout
    expect(offered == b"none\nfar\tssh gpu1\n", offered)


def case_a_session_is_named_with_its_host(hosts):
    for where, environment in ((hosts.far, hosts.far_environment), (hosts.near, hosts.environment)):
        for title in ("api", "gpu1:api", "other:x"):
            subprocess.run(["agentdeck", "add", hosts.path + "/work", "-t", title, "-c", "cat"], env=environment, check=True, stdout=subprocess.DEVNULL)
    ids = {one["title"]: one["id"] for one in json.loads(hosts.there("list", "--json"))}
    mine = {one["title"]: one["id"] for one in json.loads(hosts.run("list", "--json").stdout)}

    def shown(*words, **environment):
        done = hosts.run(*words, "--json", environment=environment)
        expect(done.returncode == 0, done)
        return json.loads(done.stdout)["id"]

    expect(shown("show", "gpu1:api") == ids["api"], "not the one there")
    expect(shown("show", "gpu1:gpu1:api") == ids["gpu1:api"], "a title with a colon there")
    expect(shown("show", "local:gpu1:api") == mine["gpu1:api"], "a title with a colon here")
    expect(shown("show", "other:x") == mine["other:x"], "what names no host is a title")
    expect(shown("show", "local:api", AGENTDECK_HOST="gpu1") == mine["api"], "local counts before the environment")
    expect(shown("rename", "gpu1:api", "new") == ids["api"], "rename")
    expect([one["title"] for one in json.loads(hosts.there("list", "--json")) if one["id"] == ids["api"]] == ["new"], "it was not renamed there")
    refused(hosts, 64, "one host", "stop", "gpu1:api", "local:api")
    # What a message there advises is for this machine, whatever names the host.
    subprocess.run(["agentdeck", "add", hosts.path + "/work", "-t", "it's", "-c", "cat"], env=hosts.far_environment, check=True, stdout=subprocess.DEVNULL)
    for words in (("-H", "gpu1", "send", "it's", "hello"), ("send", "gpu1:it's", "hello")):
        expect("agentdeck session start 'gpu1:it'\\''s'" in (told := hosts.run(*words).stderr.decode()), told)
    # An option, too.
    for title, words in (("new", ("--in", "gpu1:new")), ("new", ("--in=gpu1:new",)), ("api", ("--in", "local:api")), ("gpu1:api", ("--in", "local:gpu1:api"))):
        refused(hosts, 1, f"agentdeck: '{title}' runs on this host: it has no container", "launch", "-c", "cat", *words)
    refused(hosts, 64, "one host", "-H", "local", "launch", "--in", "gpu1:new")
    refused(hosts, 64, "one host", "-H", "local", "show", "gpu1:api")


def case_completion_knows_the_sessions_of_a_host(hosts):
    hosts.there("add", hosts.path + "/work", "-t", "api", "--agent", "demo")
    hosts.run("add", hosts.path + "/work", "-t", "near", "--agent", "demo")

    def offered(*words):
        return [line.split("\t")[0] for line in hosts.run("help", "--complete", "--", *words).stdout.decode().splitlines()[1:]]

    expect(offered("attach", "") == ["gpu1:", "near"] and offered("attach", "gpu1:") == ["gpu1:", "near"] and not hosts.masters(), "completion connects")
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    # It waits for no slow host, so a busy machine may need another Tab.
    wait_for(lambda: "gpu1:api" in offered("attach", "gpu1:"), "HOST:SESSION")
    wait_for(lambda: "gpu1:api" in offered("send", "--session", "gpu1:"), "--session HOST:SESSION")
    wait_for(lambda: offered("-H", "gpu1", "attach", "") == ["api"], "behind -H")
    expect("gpu1:" in offered("launch", "--in", ""), "--in HOST:SESSION")


def case_a_start_there_has_the_size_of_the_terminal_here(hosts):
    hosts.run("-H", "gpu1", "add", hosts.path + "/work", "-t", "one", "-c", "cat")
    process, terminal = pty.fork()
    if process == 0:
        termios.tcsetwinsize(0, (31, 87))
        os.execvpe("agentdeck", ["agentdeck", "-H", "gpu1", "start", "one", "--no-wait"], hosts.environment)
    with contextlib.suppress(OSError):
        while os.read(terminal, 4096):
            pass
    os.close(terminal)
    expect(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, "start fails")
    with open(glob.glob(hosts.far + "/default/*/instance.json")[0], encoding="utf-8") as file:
        size = json.load(file).get("terminal")
    expect(size == {"columns": 87, "rows": 31}, f"its size is {size}")


def case_sessions_of_an_option_have_a_host(hosts):
    for title in ("one", "two"):
        hosts.there("launch", hosts.path + "/work", "-t", title, "--agent", "demo")
    done = hosts.run("send", "--session", "gpu1:one", "--session=gpu1:two", "hello there")
    expect(done.returncode == 0, done)
    for title in ("one", "two"):
        wait_for(lambda title=title: b"hello there" in hosts.there("output", title, "--pane"), f"{title} has no message")
    refused(hosts, 64, "one command works on one host", "send", "--session", "gpu1:one", "--session", "local:x", "hello")


def case_input_and_bytes_pass(hosts):
    big = "\u00e9" * 200000
    done = hosts.run("-H", "gpu1", "launch", hosts.path + "/work", "-t", "talk", "--agent", "demo", "--json")
    expect(json.loads(done.stdout)["success"], done)
    done = hosts.run("send", "gpu1:talk", "-", "--json", input=b"hello from here")
    expect(done.returncode == 0, done)
    wait_for(lambda: b"hello from here" in hosts.there("output", "talk", "--pane"), "the message did not arrive")
    done = hosts.run("-H", "gpu1", "session", "export", "talk", "-", "--running")
    parcel = done.stdout
    expect(len(parcel) > 100, done)
    expect(hosts.run("session", "import", "-", "--json", input=parcel).returncode == 0, "the parcel is damaged")
    with open(hosts.path + "/lines", "w+b") as file:
        file.write(b"gpu1\ngpu1\n")
        file.seek(0)
        subprocess.run(["agentdeck", "-H", "gpu1", "list"], env=hosts.environment, check=True, stdin=file, stdout=subprocess.DEVNULL)
        expect(file.tell() == 0, "a command that reads nothing took its input")
    done = hosts.run("-H", "gpu1", "session", "import", "-", "--json", input=big.encode())
    expect(done.returncode not in (0, UNREACHABLE, UNKNOWN), f"a large input: {done}")


def case_a_message_is_no_session(hosts):
    for where in (hosts.there, lambda *words: hosts.run(*words).stdout):
        where("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    done = hosts.run("send", "--all", "gpu1: is down")
    expect(done.returncode == 0, done)
    wait_for(lambda: b"gpu1: is down" in hosts.run("output", "talk", "--pane").stdout, "it is not here")
    expect(b"is down" not in hosts.there("output", "talk", "--pane"), "the message went to the host")


def case_what_is_started_here_stays_here(hosts):
    environment = {"AGENTDECK_HOST": "gpu1"}
    hosts.run("add", hosts.path + "/work", "-t", "near", "--agent", "demo")
    done = hosts.run("-H", "local", "start", "--all", "--json", environment=environment)
    expect(done.returncode == 0, done)
    server = json.loads(hosts.run("show", "near", "--json").stdout)
    expect(server["status"] == "running" and json.loads(hosts.there("list", "--json")) == [], f"{server}; there: {hosts.there('list')}")
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            kept = open(f"/proc/{entry}/environ", "rb").read().split(b"\0") if entry.isdigit() else []
            expect(f"AGENTDECK_HOME={hosts.near}".encode() not in kept or b"AGENTDECK_HOST=gpu1" not in kept, f"process {entry} has AGENTDECK_HOST")
    expect(b"usage" in hosts.run("help", environment=environment).stdout.lower() and not hosts.masters(), "help asks the host")


def case_what_cannot_be_read_or_written_is_a_failure(hosts):
    hosts.there("add", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(["agentdeck", "-H", "gpu1", "list"], env=hosts.environment, check=False, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE)
        expect(done.returncode == 1 and b"standard output: No space left" in done.stderr, done)
    directory = os.open(hosts.path, os.O_RDONLY)
    done = subprocess.run(["agentdeck", "send", "gpu1:talk", "-"], env=hosts.environment, check=False, stdin=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(directory)
    expect(done.returncode == 1 and b"read standard input: Is a directory" in done.stderr, done)


def case_a_program_there_has_the_pipes(hosts):
    hosts.there("add", hosts.path + "/work", "-t", "talk", "-c", "cat")
    done = hosts.run("exec", "gpu1:talk", "--", "sh", "-c", "cat; echo no >&2; exit 3", input=b"hi\n")
    expect(done.returncode == 3 and done.stdout == b"hi\n" and b"no\n" in done.stderr, done)
    refused(hosts, UNKNOWN, "unknown", "exec", "gpu1:talk", "--", "sh", "-c", "exit 255")


def case_first_commands_at_once_have_one_connection(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 60\n")
    running = [subprocess.Popen(["agentdeck", "-H", "gpu1", "list"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(5)]
    expect(all(one.wait(DEADLINE_S) == 0 for one in running), "one of them failed")
    expect(len(hosts.masters()) == 1, f"{hosts.masters()}")
    with open(hosts.path + "/events", "wb") as file:
        events = subprocess.Popen(["agentdeck", "-H", "gpu1", "events", "--json"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=file, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(lambda: os.path.getsize(hosts.path + "/events"), "no event")
        events.send_signal(signal.SIGHUP)
        # A connection that is too slow for one command is left to the others.
        subprocess.run([hosts.bin + "/ssh", "-O", "stop", "-o", "ControlPath=" + next(path for path in (f"{hosts.near}/run/links/{name}" for name in os.listdir(hosts.near + "/run/links")) if stat.S_ISSOCK(os.stat(path).st_mode)), "gpu1"], check=True, stderr=subprocess.DEVNULL)
        expect(hosts.run("-H", "gpu1", "list").returncode == 0 and events.poll() is None, "events ended with the connection")
        events.terminate()
        expect(events.wait(DEADLINE_S) == 137, events.returncode)


def case_check_says_what_is_there(hosts):
    hosts.settings('[hosts.gpu1]\n[hosts.gone]\nssh = "no-such-host.invalid"\n')
    write(hosts.path + "/ssh_config", open(hosts.path + "/ssh_config", encoding="utf-8").read().replace("Host *", "Host gpu1"))
    done = hosts.run("host", "check", "gpu1")
    expect(done.returncode == 0 and done.stdout.startswith(b"gpu1: agentdeck ") and b"\n  no supervisor runs there" in done.stdout, done)
    refused(hosts, UNREACHABLE, "gone is unreachable", "host", "check")
    refused(hosts, 2, "there is no host", "host", "check", "gpu2")
    [gone, gpu1] = json.loads(hosts.run("host", "check", "--json").stdout)
    expect(gpu1["is_reachable"] and gpu1["problem"] is None and not gone["is_reachable"] and "no-such-host" in gone["problem"], (gpu1, gone))
    [gone, gpu1] = json.loads(hosts.run("host", "list", "--json").stdout)
    expect(gpu1["unreachable_since_at"] is None and gone["unreachable_since_at"], (gpu1, gone))
    expect(hosts.run("host", "list").stdout.count(b"\n") == 3, "host list")


def config(hosts):
    with open(hosts.near + "/config.toml", encoding="utf-8") as file:
        return file.read()


def machine_id():
    """As docs/state-format.md has it."""
    with open("/etc/machine-id", encoding="utf-8") as file:
        return str(uuid.uuid5(uuid.UUID("a8415e0b-6c1d-4e72-9f30-27d584e913c6"), file.read().strip()))


def case_a_host_is_added_as_it_is_found(hosts):
    hosts.settings('[hosts]\n# gpu1 = { ssh = "ann@gpu1.example.org" }')
    before = config(hosts)
    refused(hosts, 64, "not a name for a host", "host", "add", "local")
    refused(hosts, 64, "is not valid for ssh", "host", "add", "gpu1", "a;b")
    hosts.down()
    refused(hosts, UNREACHABLE, "gpu1 was not added: gpu1 is unreachable (since ", "host", "add", "gpu1")
    hosts.up()
    message = refused(hosts, 1, "gpu1 was not added", "host", "add", "gpu1", "--program", "/nowhere/agentdeck")
    system = os.uname()
    expect(f"gpu1 is a host (Linux {system.machine}, tmux " in message and f"{system.machine}-systemd.tar.gz" in message, message)
    expect(config(hosts) == before, "a host that was not added is written")
    done = hosts.run("host", "add", "gpu1")
    expect(done.returncode == 0 and b"gpu1: agentdeck " in done.stdout and b"\n  no supervisor runs there" in done.stdout, done)
    expect(config(hosts) == before + f'\n\n[hosts.gpu1]\nssh = "gpu1"\nmachine_id = "{machine_id()}"\n', config(hosts))
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    refused(hosts, 1, "there is a host 'gpu1' (ssh gpu1)", "host", "add", "gpu1")
    done = hosts.run("host", "add", "gpu1", "127.0.0.1", "--timeout", "20", "--again", "--json")
    added = json.loads(done.stdout)
    expect(added["success"] and added["machine_id"] == added["known_machine_id"] == machine_id() and not added["is_another_machine"], added)
    expect(config(hosts) == before + f'\n\n[hosts.gpu1]\nssh = "127.0.0.1"\nmachine_id = "{machine_id()}"\ntimeout = 20\n', config(hosts))
    write(hosts.near + "/config.toml", "hosts = { b = {} }\n")
    refused(hosts, 1, "its hosts are on one line: add gpu1 with agentdeck config edit", "host", "add", "gpu1")


def case_doctor_there_is_heard(hosts):
    fake(hosts, {"frame": "data", "id": "1", "stream": "output", "text": '[{"check": "tmux", "verdict": "error", "reason": "\\u001b[2Jgone"}, {"check": "linger", "verdict": "error", "reason": "linger"}]\n'},
         {"frame": "exit", "id": "1", "status": 1})
    hosts.settings("")
    done = hosts.run("host", "add", "gpu1", "--program", hosts.path + "/fake")
    expect(done.returncode == 0 and b"  tmux: \\033[2Jgone\n" in done.stdout and b"  linger:" not in done.stdout, done)
    expect("machine_id" not in config(hosts), "what is no machine id was written")


def case_another_machine_is_only_read(hosts):
    hosts.there("add", hosts.path + "/work", "-t", "api", "--agent", "demo")
    hosts.settings(f'[hosts.gpu1]\nmachine_id = "{uuid.UUID(int=0)}" # before\n')
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    text, status = on_terminal(hosts, "attach", "gpu1:api")
    expect(status == 1 and b"gpu1 is another machine than before" in text, (status, text))
    for words in (("stop", "gpu1:api"), ("exec", "gpu1:api", "--", "true"), ("-H", "gpu1", "launch", "/tmp")):
        refused(hosts, 1, "gpu1 is another machine than before", *words)
    message = refused(hosts, UNREACHABLE, "gpu1 is another machine", "host", "check")
    expect("gpu1: agentdeck" in message and "host add gpu1 --again" in message, message)
    done = hosts.run("host", "add", "gpu1", "--again")
    expect(done.returncode == 0 and b"another machine than before" in done.stdout, done)
    expect(config(hosts).endswith(f'machine_id = "{machine_id()}" # before\nssh = "gpu1"\n'), config(hosts))
    expect(hosts.run("rename", "gpu1:api", "new").returncode == 0, "rename")
    fake(hosts)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/fake"\nmachine_id = "{machine_id()}"\n')
    refused(hosts, 1, "its machine id is not known", "-H", "gpu1", "launch", "/tmp")
    fake(hosts, then="exit 0")
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/fake"\nmachine_id = "{machine_id()}"\n')
    done = hosts.run("host", "add", "gpu1", "--again")
    expect(done.returncode == 0 and b"another machine than before" in done.stdout, done)
    expect(f'\n# machine_id = "{machine_id()}"\n' in config(hosts), config(hosts))
    refused(hosts, UNKNOWN, "whether launch was done there is unknown", "-H", "gpu1", "launch", "/tmp")


def case_a_host_that_another_command_changes_is_left_to_it(hosts):
    """The host answers only after the other command."""
    os.mkfifo(hosts.path + "/answer")
    write(hosts.path + "/slow", f'#!/bin/sh\n: > {hosts.path}/asked\nread word < {hosts.path}/answer\nexec agentdeck "$@"\n', 0o755)
    slow = f'program = "{hosts.path}/slow"\ntimeout = 60\n'
    for before, words, after in ((f"[hosts.gpu1]\n{slow}", ("--again",), "[hosts.gpu2]\n"), (f"[hosts.gpu1]\n{slow}", ("--again",), "[hosts.gpu1]\ntimeout = 9\n"),
                                 ("[hosts.gpu2]\n", ("--program", hosts.path + "/slow", "--timeout", "60"), "[hosts.gpu1]\n[hosts.gpu2]\n")):
        hosts.settings(before)
        adds = subprocess.Popen(["agentdeck", "host", "add", "gpu1", *words], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: os.path.exists(hosts.path + "/asked"), "the host is not asked")
        os.remove(hosts.path + "/asked")
        hosts.settings(after)
        left = config(hosts)
        answer = os.open(hosts.path + "/answer", os.O_RDWR)
        os.write(answer, b"now\n")
        told = adds.communicate(timeout=DEADLINE_S)[1]
        os.close(answer)
        expect(adds.returncode == 1 and b"another program has just changed the host gpu1" in told and config(hosts) == left, (adds.returncode, told, config(hosts)))


def case_a_host_is_renamed_and_removed(hosts):
    hosts.settings("[hosts.gpu1] # big\n# its time\ntimeout = 30\n\n# the others\n[hosts.other]\n")
    hosts.there("add", hosts.path + "/work", "-t", "api", "--agent", "demo")
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    refused(hosts, 1, "there is a host 'other'", "host", "rename", "gpu1", "other")
    refused(hosts, 64, "not a name", "host", "rename", "gpu1", "local")
    refused(hosts, 2, "there is no host 'gone'", "host", "rename", "gone", "x")
    done = hosts.run("host", "rename", "gpu1", "big", "--json")
    expect(json.loads(done.stdout)["old_name"] == "gpu1", done)
    expect(config(hosts).endswith('[hosts.big] # big\n# its time\ntimeout = 30\nssh = "gpu1"\n\n# the others\n[hosts.other]\n'), config(hosts))
    wait_for(lambda: not hosts.masters(), "its connection is left")
    expect(b"api" in hosts.run("-H", "big", "list").stdout, "list")
    refused(hosts, 2, "there is no host 'gpu1'", "host", "remove", "gpu1")
    done = hosts.run("host", "remove", "big")
    expect(done.returncode == 0 and b"its sessions are as they were" in done.stdout, done)
    expect(config(hosts).endswith("linger = false\n\n# the others\n[hosts.other]\n"), config(hosts))
    wait_for(lambda: not hosts.masters(), "its connection is left")
    expect([one["title"] for one in json.loads(hosts.there("list", "--json"))] == ["api"], "its session")
    write(hosts.near + "/config.toml", "hosts = { gpu1 = {}, b = {} }\n")
    refused(hosts, 1, "with agentdeck config edit", "host", "remove", "gpu1")


def case_a_login_is_asked_for_once_on_a_terminal(hosts):
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", hosts.path + "/key"], check=True)
    write(hosts.path + "/banner", "Visit https://login.example/abc\n")
    hosts.down()
    hosts.up(f"Banner {hosts.path}/banner")
    message = refused(hosts, UNREACHABLE, ": log in with agentdeck host login gpu1\n", "-H", "gpu1", "list")
    expect("Permission denied" in message and message.count("\n") == 1, message)
    text, status = on_terminal(hosts, "host", "login", "gpu1", asked=b"passphrase", answer=b"\x03")
    expect(status == -signal.SIGINT and not hosts.masters(), (status, text))
    text, status = on_terminal(hosts, "host", "login", "gpu1", asked=b"passphrase", answer=b"secret\n")
    expect(status == 0 and b"https://login.example/abc" in text and b"gpu1 is connected, until" in text, (status, text))
    [master] = hosts.masters()
    for words in (("-H", "gpu1", "list"), ("-H", "gpu1", "launch", hosts.path + "/work", "-t", "api", "--agent", "demo"), ("host", "check")):
        done = hosts.run(*words)
        expect(done.returncode == 0, done)
    text, status = on_terminal(hosts, "attach", "gpu1:api", until=b"Ctrl-Q")
    expect(b"Ctrl-Q" in text and b"passphrase" not in text, f"exit {status}: {text}")
    expect(b"is connected already" in hosts.run("host", "login", "gpu1").stdout and hosts.masters() == [master], "a second login")
    expect(b"takes no more commands" in hosts.run("host", "logout", "gpu1").stdout, "logout")
    wait_for(lambda: not hosts.masters(), "its connection is left")
    expect(b"was not connected" in hosts.run("host", "logout", "gpu1").stdout, "a second logout")
    refused(hosts, UNREACHABLE, "host login gpu1", "-H", "gpu1", "list")
    hosts.settings("")
    refused(hosts, UNREACHABLE, ": log in with agentdeck host add gpu1 --login\n", "host", "add", "gpu1")
    refused(hosts, UNREACHABLE, ": log in with agentdeck host add gpux gpu1 --program '~/agentdeck' --timeout 20 --login\n", "host", "add", "gpux", "gpu1", "--timeout", "20", "--program", "~/agentdeck")
    text, status = on_terminal(hosts, "host", "add", "gpu1", "--login", asked=b"passphrase", answer=b"secret\n")
    expect(status == 0 and b"Added" in text, (status, text))
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")


def case_a_second_factor_is_asked_for_once(hosts):
    """A key, and then a code that works once, which PAM asks for: only on the terminal of host login."""
    if os.geteuid() != 0 or not os.path.exists("/etc/pam.d"):
        raise Skipped("root, or PAM")
    os.mkdir(hosts.path + "/pam.d")
    # PAM ends what it has asked for with a NUL
    write(hosts.path + "/factor", f'#!/bin/sh\nword=$(tr -d "\\000")\necho "$PAM_USER $word" >>{hosts.path}/asked\n[ "$word" = "$(cat {hosts.path}/code)" ] && rm {hosts.path}/code\n', 0o755)
    write(hosts.path + "/pam.d/sshd", f"auth required pam_exec.so expose_authtok {hosts.path}/factor\nauth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n")
    write(hosts.path + "/code", "123456")
    hosts.down()
    hosts.up("UsePAM yes\nPermitRootLogin yes\nKbdInteractiveAuthentication yes\nAuthenticationMethods publickey,keyboard-interactive:pam",
             ["unshare", "-m", "sh", "-c", f'mount --bind {hosts.path}/pam.d /etc/pam.d && exec "$@"', "sh"])

    def asked():
        return open(hosts.path + "/asked", encoding="utf-8").read().split("\n")[:-1] if os.path.exists(hosts.path + "/asked") else []

    message = refused(hosts, UNREACHABLE, ": log in with agentdeck host login gpu1\n", "-H", "gpu1", "list")
    expect(message.count("\n") == 1 and "keyboard-interactive" in message, message)
    text, status = on_terminal(hosts, "-H", "gpu1", "list")
    expect(status == UNREACHABLE and b"host login gpu1" in text and b"Password" not in text, (status, text))
    refused(hosts, UNREACHABLE, "host login gpu1", "list", "-A")
    expect(asked() == [], f"the background was asked: {asked()}")
    user = pwd.getpwuid(os.getuid()).pw_name
    text, status = on_terminal(hosts, "host", "login", "gpu1", asked=b"Password: ", answer=b"123456\n")
    expect(status == 0 and f"({user}@127.0.0.1) Password: ".encode() in text and b"gpu1 is connected" in text, (status, text))
    for words in (("-H", "gpu1", "list"), ("-H", "gpu1", "launch", hosts.path + "/work", "-t", "api", "--agent", "demo"), ("list", "-A"), ("host", "check")):
        done = hosts.run(*words)
        expect(done.returncode == 0, done)
    text, status = on_terminal(hosts, "attach", "gpu1:api", until=b"Ctrl-Q")
    expect(b"Ctrl-Q" in text and b"Password" not in text, f"exit {status}: {text}")
    expect(b"is connected already" in hosts.run("host", "login", "gpu1").stdout and asked() == [f"{user} 123456"], f"asked again: {asked()}")
    # the code was used: ssh asks until it gives up, and nothing is left
    hosts.run("host", "logout", "gpu1")
    wait_for(lambda: not hosts.masters(), "its connection is left")
    terminal = Terminal(hosts, "host", "login", "gpu1")
    for count in range(3):
        terminal.wait_for(b"Password: ", len(terminal.text))
        terminal.type(b"123456\n")
    status = terminal.end()
    expect(status == UNREACHABLE and b"ssh did not log in" in terminal.text and not hosts.masters(), (status, terminal.text))
    # a module that fails after the code was right: sshd ends the connection
    write(hosts.path + "/pam.d/sshd", f"auth sufficient pam_exec.so expose_authtok {hosts.path}/factor\naccount required pam_permit.so\nsession required pam_deny.so\n")
    write(hosts.path + "/code", "234567")
    text, status = on_terminal(hosts, "host", "login", "gpu1", asked=b"Password: ", answer=b"234567\n")
    expect(status == UNREACHABLE and b"gpu1: ssh logged in, and the host ended the connection" in text, (status, text))


def case_host_add_leaves_no_connection_that_nothing_ends(hosts):
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", hosts.path + "/key"], check=True)
    text, status = on_terminal(hosts, "host", "add", "--login", "gpux", "gpu1", "--program", "/nowhere", asked=b"passphrase", answer=b"secret\n")
    wait_for(lambda: not hosts.masters(), "the connection of a host that was not added is left")
    expect(status == 1 and b"agentdeck host add gpux gpu1 --program '~/.local/bin/agentdeck' --login" in text, (status, text))
    text, status = on_terminal(hosts, "host", "login", "gpu1", asked=b"passphrase", answer=b"secret\n")
    expect(status == 0, (status, text))
    [before] = hosts.masters()
    write(hosts.near + "/config.toml", "hosts = { gpu1 = {} }\n")
    text, status = on_terminal(hosts, "host", "add", "--login", "gpu1", "--again")
    expect(status == 1 and hosts.masters() == [before], f"a login of before was ended: {status}, {text}")
    hosts.settings("[hosts.gpu1]\n")
    text, status = on_terminal(hosts, "host", "add", "--login", "gpu1", "127.0.0.1", "--again", asked=b"passphrase", answer=b"secret\n")
    expect(status == 0 and b"Added" in text, (status, text))
    wait_for(lambda: len(hosts.masters()) == 1 and hosts.masters() != [before], f"{hosts.masters()}: that of its old destination, {before}, is left")


def case_one_session_for_each_connection(hosts):
    """MaxSessions 1: a second command has a connection of its own."""
    hosts.down()
    hosts.up("MaxSessions 1")
    with open(hosts.path + "/events", "wb") as file:
        events = subprocess.Popen(["agentdeck", "-H", "gpu1", "events", "--json"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=file)
        wait_for(lambda: os.path.getsize(hosts.path + "/events"), "no event")
        for _ in range(2):
            done = hosts.run("-H", "gpu1", "list")
            expect(done.returncode == 0 and not done.stderr and events.poll() is None, done)
        events.terminate()
        events.wait(DEADLINE_S)


def case_a_hop_in_between(hosts):
    """ProxyJump.  The message says which hop is gone."""
    port, jump = hosts.port, Hosts(os.path.dirname(hosts.path))
    try:
        write(hosts.path + "/known", "".join(f"[127.0.0.1]:{one.port} {' '.join(open(one.path + '/hostkey.pub', encoding='utf-8').read().split()[:2])}\n" for one in (hosts, jump)))
        write(jump.path + "/key.pub", open(hosts.path + "/key.pub", encoding="utf-8").read())
        text = open(hosts.path + "/ssh_config", encoding="utf-8").read()
        write(hosts.path + "/ssh_config", f"Host jump\n  Port {jump.port}\n  HostKeyAlias [127.0.0.1]:{jump.port}\nHost gpu1\n  ProxyJump jump\n" + text)
        done = hosts.run("-H", "gpu1", "list", "--json")
        expect(done.returncode == 0, done)
        jump.down()
        wait_for(lambda: not hosts.masters(), "the connection outlives its hop")
        message = refused(hosts, UNREACHABLE, f"port {jump.port}: Connection refused", "-H", "gpu1", "list")
        expect(f"port {port}" not in message and message.count("\n") == 1, message)
    finally:
        jump.end()


def case_other_login_shells(hosts):
    for name in ("fish", "tcsh", "zsh", "dash"):
        shell = shutil.which(name)
        if not shell:
            continue
        # sshd runs the login shell so
        write(hosts.path + "/login", f'#!/bin/sh\nexport SHELL={shell}\nexec {shell} -c "$SSH_ORIGINAL_COMMAND"\n', 0o755)
        hosts.down()
        hosts.up(f"ForceCommand {hosts.path}/login")
        title = f"it's {name} \\n! $HOME *"
        done = hosts.run("-H", "gpu1", "launch", hosts.path + "/work", "-t", title, "--agent", "demo")
        expect(done.returncode == 0, (name, done))
        done = hosts.run("exec", f"gpu1:{title}", "--", "printf", "%s.", "a  b", "'", "\\", "$HOME", "!x", "")
        expect(done.returncode == 0 and done.stdout == b"a  b.'.\\.$HOME.!x..", (name, done))


def case_down_is_one_status_with_since_when(hosts):
    hosts.down()
    message = refused(hosts, UNREACHABLE, "gpu1 is unreachable (since ", "-H", "gpu1", "list")
    expect("Connection refused" in message and message.count("\n") == 1, message)
    hosts_since = since_files(hosts)
    done = hosts.run("-H", "gpu1", "list", "--json")
    expect(done.returncode == UNREACHABLE and json.loads(done.stdout)["code"] == "UNREACHABLE", done)
    expect(since_files(hosts) == hosts_since, "since when changes")
    os.utime(hosts.near + "/run/links/" + hosts_since[0], (1577836800, 1577880000))
    refused(hosts, UNREACHABLE, "since 2020-01-01 ", "-H", "gpu1", "launch", "/tmp")
    refused(hosts, UNREACHABLE, "gpu1 is unreachable", "launch", "/tmp", environment={"AGENTDECK_HOST": "gpu1"})
    expect(json.loads(hosts.run("list", "--json").stdout) == [], "it was made here instead")
    hosts.up()
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "it is back")
    hosts.down()
    expect("2020" not in refused(hosts, UNREACHABLE, "unreachable", "-H", "gpu1", "list"), "the time of an earlier failure")


def case_no_such_name(hosts):
    hosts.settings('[hosts.gpu1]\nssh = "no-such-host.invalid"\n')
    hosts.configure_ssh()
    write(hosts.path + "/ssh_config", "")
    refused(hosts, UNREACHABLE, "no-such-host.invalid", "-H", "gpu1", "list")


def case_a_black_hole_ends_at_the_deadline(hosts):
    """It accepts, and never says a word."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        hosts.settings("[hosts.gpu1]\ntimeout = 1\n")
        hosts.configure_ssh(port=one.getsockname()[1])
        refused(hosts, UNREACHABLE, "unreachable", "-H", "gpu1", "list")
    wait_for(lambda: not hosts.masters(), "its ssh is left")


def case_a_master_that_is_stopped_is_replaced(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 30\n")
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    [stopped] = hosts.masters()
    os.kill(stopped, signal.SIGSTOP)
    own = subprocess.Popen([hosts.bin + "/ssh", "-N", "-M", "-S", hosts.path + "/own", "gpu1"], env=hosts.environment)
    wait_for(lambda: os.path.exists(hosts.path + "/own"), "the user's own master")
    try:
        expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list with a stopped master")
        wait_for(lambda: len(hosts.masters()) == 1 and stopped not in hosts.masters(), f"{hosts.masters()}: {stopped} was not replaced")
        expect(own.poll() is None, "the user's own master was ended")
    finally:
        own.kill()
        own.wait()


def case_a_command_that_is_killed_leaves_nothing(hosts):
    """Neither its ssh, which may wait for a connection that is stopped, nor what follows there.  The connection stays."""
    hosts.settings("[hosts.gpu1]\ntimeout = 180\n")
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    masters = hosts.masters()

    def kill(words, condition, what):
        process = subprocess.Popen(["agentdeck", *words], env=hosts.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: condition(process), what)
        left = with_start_times(hosts.children(process.pid))
        process.kill()
        process.communicate()
        wait_for(lambda: have_ended(left), f"{words} has left {left}")
        expect(left and hosts.masters() == masters, f"{left}; {masters} became {hosts.masters()}")

    kill(("-H", "gpu1", "events", "--json"), lambda process: b"snapshot_complete" in process.stdout.readline(), "no events")
    wait_for(lambda: not any(b"events" in command_of(one) for one in hosts.children()), "events still runs there")
    signal_all(masters, signal.SIGSTOP)
    kill(("-H", "gpu1", "list"), lambda process: any(b"serve" in command_of(one) and b"gate" not in command_of(one) for one in hosts.children(process.pid)), "no ssh")
    signal_all(masters, signal.SIGCONT)


class CommandLines(threading.Thread):
    """Those of all processes, again and again, that have this word."""

    def __init__(self, word):
        super().__init__(daemon=True)
        self.word, self.found, self.looks, self.ends = word, set(), 0, False
        self.start()

    def run(self):
        while not self.ends:
            self.found |= {command for name in os.listdir("/proc") if name.isdigit() and self.word in (command := command_of(name))}
            self.looks += 1
            select.select([], [], [], 0.005)

    def end(self):
        self.ends = True
        self.join()


def case_a_secret_is_in_no_command_line_and_no_file(hosts):
    """One of the environment here, which stays here, and one of a login there, which the agent has."""
    write(hosts.far + "/.bash_profile", "export FAR_KEY=canary-5d01c7-far\n")
    hosts.environment["NEAR_KEY"] = "canary-5d01c7-near"
    watch = CommandLines(b"canary-5d01c7")
    try:
        for words in (("launch", hosts.path + "/work", "-t", "mine", "--agent", "demo"), ("-H", "gpu1", "launch", hosts.path + "/work", "-t", "talk", "--agent", "demo", "-m", "hello"),
                      ("-H", "gpu1", "send", "talk", "again"), ("list", "-A"), ("session", "stop", "mine"), ("host", "check")):
            done = hosts.run(*words)
            expect(done.returncode == 0, done)
        terminal = attach(hosts)
        environment = environment_of(json.loads(hosts.there("show", "talk", "--json"))["agent_pid"])
        expect(os.path.basename(pwd.getpwuid(os.getuid()).pw_shell) != "bash" or b"FAR_KEY=canary-5d01c7-far" in environment, "the agent has not the key of its login")
        expect(b"NEAR_KEY" not in environment, "the agent there has a key of this machine")
        terminal.type(LEAVE)
        expect(terminal.end() == 0, terminal.text)
        for words in (("session", "stop", "gpu1:talk"), ("session", "move", "mine", "--to", "gpu1"), ("session", "move", "gpu1:mine", "--to", "local")):
            done = hosts.run(*words)
            expect(done.returncode == 0, done)
    finally:
        watch.end()
    expect(watch.looks and not watch.found, f"in a command line: {watch.found}")
    for home in (hosts.near, hosts.far):
        for where, _, names in os.walk(home):
            for name in names:
                file = where + "/" + name
                if name != ".bash_profile" and os.path.isfile(file) and not os.path.islink(file):
                    with open(file, "rb") as content:
                        expect(b"canary-5d01c7" not in content.read(), f"it is in {file}")


def case_a_login_that_prints_and_a_config_that_breaks_links(hosts):
    write(hosts.path + "/login", '#!/bin/sh\nprintf "\\033[31mWelcome\\033[0m\\n{\\"frame\\":\\"news\\"}\\nno newline"\necho "motd" >&2\neval "$SSH_ORIGINAL_COMMAND"\n', 0o755)
    hosts.down()
    hosts.up(f"ForceCommand {hosts.path}/login")
    hosts.configure_ssh(f"  RemoteCommand echo wrong\n  RequestTTY force\n  LocalForward {free_port()} 127.0.0.1:1\n  ForwardAgent yes\n  PermitLocalCommand yes\n"
                        f"  LocalCommand echo local\n  ControlMaster auto\n  ControlPath {hosts.path}/user-master")
    done = hosts.run("-H", "gpu1", "list", "--json")
    expect(done.returncode == 0 and json.loads(done.stdout) == [], done)
    expect(not os.path.exists(hosts.path + "/user-master"), "a master of the user's was made")


def case_no_agentdeck_there(hosts):
    hosts.settings('[hosts.gpu1]\nprogram = "/nowhere/agentdeck"\n')
    refused(hosts, UNREACHABLE, "exit status 127", "-H", "gpu1", "list")
    write(hosts.path + "/login", '#!/bin/sh\nprintf "\\033[2JFor members only\\n"\nexit 3\n', 0o755)
    hosts.down()
    hosts.up(f"ForceCommand {hosts.path}/login")
    message = refused(hosts, UNREACHABLE, "it printed: \\033[2JFor members only", "-H", "gpu1", "list")
    expect("exit status 3" in message and "\033" not in message, message)


def case_a_host_key_that_is_unknown_or_another_one(hosts):
    write(hosts.path + "/known", "")
    refused(hosts, UNREACHABLE, "Host key verification failed", "-H", "gpu1", "list")
    expect(os.path.getsize(hosts.path + "/known") == 0, "the key was accepted")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", hosts.path + "/other"], check=True)
    hosts.trust("other")
    refused(hosts, UNREACHABLE, "Host key verification failed", "-H", "gpu1", "list")


def fake(hosts, *frames, then="sleep 60", **hello):
    """A host that says what a hostile one could."""
    lines = "".join(json.dumps(frame) + "\n" if isinstance(frame, dict) else frame for frame in frames)
    write(hosts.path + "/frames", lines)
    write(hosts.path + "/fake", f"#!/bin/sh\necho '{json.dumps({'frame': 'hello', 'oldest': 1, 'newest': 1, 'version': 'x', 'machine_id': '../../etc', **hello})}'\n"
                                f"read hello\nread request\ncat {hosts.path}/frames\n{then}\n", 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/fake"\n')


def case_a_link_that_is_lost_during_a_change_is_unknown(hosts):
    fake(hosts, then="exit 0")
    message = refused(hosts, UNKNOWN, "whether launch was done there is unknown", "-H", "gpu1", "launch", "/tmp")
    expect("agentdeck -H gpu1 once " in message, message)
    refused(hosts, UNREACHABLE, "the link is lost", "-H", "gpu1", "list")
    done = hosts.run("-H", "gpu1", "launch", "/tmp", "--json")
    expect(json.loads(done.stdout)["code"] == "UNKNOWN", done)


def case_a_change_is_asked_for_when_its_link_is_lost(hosts):
    """serve is killed at other moments each time.  The exit status says what is true, and nothing is there twice."""
    def running(words, process=None):
        found = []
        for one in hosts.children(process):
            with contextlib.suppress(OSError):
                if words in open(f"/proc/{one}/cmdline", "rb").read():
                    found.append(one)
        return found

    def serving():
        return running(b"agentdeck\0serve\0--stdio\0")

    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")
    seen = set()
    for i in range(8):
        process = subprocess.Popen(["agentdeck", "-H", "gpu1", "launch", hosts.path + "/work", "-t", f"k{i}", "--agent", "demo", "--no-wait"], env=hosts.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for(serving, "serve does not run")
        if i % 2:
            wait_for(lambda: process.poll() is not None or any(running(b"\0launch\0", one) for one in serving()), "launch does not run")
        select.select([], [], [], i * 0.005)
        for one in serving()[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        told = process.communicate(timeout=DEADLINE_S)[1]
        found = [one["status"] for one in json.loads(hosts.there("list", "--json")) if one["title"] == f"k{i}"]
        expect((process.returncode, len(found)) in ((0, 1), (UNREACHABLE, 0)), f"k{i}: exit {process.returncode}, {found}: {told}")
        seen.add((process.returncode, b"its output is lost" in told))
    expect((0, True) in seen, f"no answer was lost: {seen}")


def case_a_hostile_host_reaches_no_terminal(hosts):
    data = {"frame": "data", "id": "1", "stream": "output"}
    evil = "title \033]0;owned\007 \u009b31m \u202eback \0 end\ttab\n"
    fake(hosts, {**data, "text": evil}, {**data, "stream": "errors", "text": "\033[2J"}, {"frame": "exit", "id": "1", "status": 5})
    text, status = on_terminal(hosts, "-H", "gpu1", "list")
    expect(status == 5 and b"\\033]0;owned\\007" in text and b"\ttab" in text, text)
    expect(not any(one in text for one in (b"\033]", b"\033[2J", b"\xc2\x9b", "\u202e".encode(), b"\0")), text)
    fake(hosts, version="\033[2Jv", user="\033]0;u", host="\u202eh")
    checked = hosts.run("host", "check", "gpu1").stdout
    expect(b"v" in checked and not any(one in checked for one in (b"\033", "\u202e".encode())), checked)
    fake(hosts, {**data, "text": '{"title": "\\u001b[2J \u009b"}\n'}, {"frame": "exit", "id": "1", "status": 0})
    done = hosts.run("-H", "gpu1", "show", "x", "--json")
    expect(b"\033" not in done.stdout and b"\xc2\x9b" not in done.stdout and json.loads(done.stdout)["via_machine_id"] is None, done)
    for text in ("no json\n", "[\n", '{"a": 1\n}\n}\n'):
        fake(hosts, {**data, "text": text}, {"frame": "exit", "id": "1", "status": 0})
        refused(hosts, 1, "no JSON", "-H", "gpu1", "show", "x", "--json")
    for frame in ("no frame\n", {"frame": "exit", "id": "1", "status": 999}, {**data, "base64": "!"}, "x" * (1 << 20), {"frame": "bye", "error": "\033[2Jgo"}):
        fake(hosts, {"frame": "exit", "id": "2", "status": 0}, {**data, "id": "2", "text": "not mine"}, frame)
        message = refused(hosts, UNREACHABLE, "the link is lost", "-H", "gpu1", "list")
        expect("\033" not in message and "not mine" not in message, message)
    fake(hosts, {"frame": "error", "id": "1", "code": "SYSTEM", "error": "\033[2Jno"})
    expect("\033" not in refused(hosts, 1, "gpu1: \\033[2Jno", "-H", "gpu1", "list"), "a refusal is shown raw")


def case_ctrl_c_cancels_there(hosts):
    process = subprocess.Popen(["agentdeck", "-H", "gpu1", "events", "--json"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    expect(json.loads(process.stdout.readline())["via"] == "gpu1", "an event without via")
    serving = [one for one in hosts.children() if b"events" in command_of(one)]
    expect(serving, "events does not run there")
    process.send_signal(signal.SIGINT)
    expect(process.wait(DEADLINE_S) == 137, process.returncode)
    process.stdout.close()
    wait_for(lambda: not any(os.path.exists(f"/proc/{one}") for one in serving), "events still runs there")


def case_a_reader_that_goes_ends_the_command(hosts):
    """Also if nothing happens there that would be printed."""
    process = subprocess.Popen(["agentdeck", "-H", "gpu1", "events", "--json"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    expect(b"snapshot_complete" in process.stdout.readline(), "no snapshot")
    process.stdout.close()
    process.wait(DEADLINE_S)


def case_a_command_that_needs_a_terminal_gets_one(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "it's \\n! $HOME", "--agent", "demo")
    text, status = on_terminal(hosts, "attach", "gpu1:it's \\n! $HOME", until=b"Ctrl-Q")
    expect(b"Ctrl-Q" in text, f"exit {status}: {text}")


class Terminal:
    """A command on a terminal, which a test reads and types into."""

    program = ("agentdeck",)

    def __init__(self, hosts, *words):
        self.text = b""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.execvpe(self.program[0], [*self.program, *words], {**hosts.environment, "TERM": "xterm-256color"})

    def wait_for(self, text, since=0):
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.text[since:]:
            expect(select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0], f"no {text!r} on the terminal: {self.text[since:]!r}")
            try:
                self.text += os.read(self.fd, 4096)
            except OSError:
                expect(text in self.text[since:], f"it ended without {text!r}: {self.text[since:]!r}")

    def reads(self, text):
        """Is it on the terminal by now?"""
        while select.select([self.fd], [], [], 0)[0]:
            self.text += os.read(self.fd, 4096)
        return text in self.text

    def type(self, text):
        os.write(self.fd, text)

    def end(self):
        with contextlib.suppress(OSError):
            while select.select([self.fd], [], [], DEADLINE_S)[0] and (piece := os.read(self.fd, 4096)):
                self.text += piece
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


LEAVE = b"\x11"


def attach(hosts, *words):
    terminal = Terminal(hosts, *(words or ("attach", "gpu1:talk")))
    terminal.wait_for(b"Ctrl-Q")
    return terminal


def case_an_attach_leads_the_ssh_agent_only_where_it_is_asked_for(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    with open(f"/proc/{json.loads(hosts.there('show', 'talk', '--json'))['agent_pid']}/environ", "rb") as file:
        [socket] = [word[14:].decode() for word in file.read().split(b"\0") if word.startswith(b"SSH_AUTH_SOCK=")]

    def lists_keys():
        return subprocess.run(["ssh-add", "-l"], env={**os.environ, "SSH_AUTH_SOCK": socket}, check=False, stdout=subprocess.PIPE).stdout.startswith(b"256 ")

    own = hosts.path + "/own-agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", own], stdout=subprocess.DEVNULL) as agent:
        try:
            wait_for(lambda: os.path.exists(own), "ssh-agent")
            subprocess.run(["ssh-add", "-q", hosts.path + "/key"], env={**os.environ, "SSH_AUTH_SOCK": own}, check=True, stderr=subprocess.DEVNULL)
            hosts.configure_ssh("  ForwardAgent yes\n")
            for table, leads in (("[hosts.gpu1]\n", False), ("[hosts.gpu1]\nforward_agent = true\n", True)):
                hosts.settings(table)
                hosts.environment["SSH_AUTH_SOCK"] = own
                terminal = attach(hosts)
                # A command of this machine would lead the link of its sessions there, which is that of the host.
                del hosts.environment["SSH_AUTH_SOCK"]
                expect(lists_keys() == leads, f"{table}: {not leads}")
                terminal.type(LEAVE)
                expect(terminal.end() == 0, terminal.text)
                # also a connection from before a change of the setting
                hosts.settings("[hosts.gpu1]\n")
                expect(hosts.run("host", "logout", "gpu1").returncode == 0, "logout")
                wait_for(lambda: not lists_keys(), f"{table}: it is led there after the logout")
        finally:
            agent.kill()


def case_attach_returns_when_the_host_does(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = attach(hosts)
    terminal.type(b"first\r")
    terminal.wait_for(b"> first")
    lost = len(terminal.text)
    hosts.down()
    terminal.wait_for(b"gpu1 does not answer (since ", lost)
    terminal.wait_for(b"reconnecting; Ctrl-Q leaves", lost)
    terminal.type(b"while it was away\r")
    back = len(terminal.text)
    hosts.up()
    terminal.wait_for(b"> first", back)
    terminal.wait_for(b"Ctrl-Q", back)
    terminal.type(b"second\r")
    terminal.wait_for(b"> second", back)
    expect(b"while it was away" not in hosts.there("output", "talk", "--pane"), "what was typed meanwhile came through")
    clients = len(subprocess.run(["tmux", "-S", json.loads(hosts.there("show", "talk", "--json"))["tmux"]["socket"], "list-clients"], check=True, stdout=subprocess.PIPE).stdout.splitlines())
    expect(clients == 1, f"{clients} clients")
    terminal.type(LEAVE)
    expect(terminal.end() == 0 and b"talk keeps running. Back to it: agentdeck attach gpu1:talk" in terminal.text[back:], terminal.text[back:])
    expect(not os.listdir(f"{hosts.far}/run/seats"), "its seat is left")


def case_attach_can_be_left_while_the_host_is_away(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = attach(hosts)
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    terminal.type(LEAVE)
    expect(terminal.end() == UNREACHABLE, "exit status")
    expect(b"to return: agentdeck -H gpu1 attach\r\n" in terminal.text, terminal.text)
    hosts.up()
    hosts.there("-p", "mine", "launch", hosts.path + "/work", "-t", "other", "--agent", "demo")
    terminal = attach(hosts, "-p", "mine", "attach", "gpu1:other")
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    terminal.type(LEAVE)
    expect(terminal.end() == UNREACHABLE and b"to return: agentdeck -H gpu1 -p mine attach\r\n" in terminal.text, terminal.text)
    hosts.there("-p", "mine", "stop", "other")
    hosts.up()
    terminal = attach(hosts)
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    os.remove(hosts.path + "/key.pub")
    hosts.up()
    expect(terminal.end() == UNREACHABLE and b"Permission denied" in terminal.text, f"a host that wants a password is tried again and again: {terminal.text}")


def local_modes(terminal):
    return termios.tcgetattr(terminal.fd)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)


def case_attach_ends_when_its_host_is_removed(hosts):
    """Or renamed, at another terminal: nothing crashes, and the terminal is as before."""
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = Terminal(hosts, "attach", "gpu1:talk")
    before = local_modes(terminal)
    terminal.wait_for(b"Ctrl-Q")
    hosts.settings("")
    hosts.down()
    terminal.wait_for(b"there is no host 'gpu1'")
    expect(local_modes(terminal) == before, "the terminal is left raw")
    expect(terminal.end() == UNREACHABLE, "exit status")


def case_attach_waits_while_its_configuration_is_damaged(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = attach(hosts)
    hosts.settings("[hosts.gpu1\n")
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    back = len(terminal.text)
    hosts.up()
    hosts.settings("[hosts.gpu1]\n")
    terminal.wait_for(b"Ctrl-Q", back)
    terminal.type(LEAVE)
    expect(terminal.end() == 0, terminal.text)


def case_attach_is_left_by_any_form_of_the_key(hosts):
    """tmux asks the terminal for these forms, and cannot take that back when the link is lost."""
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    for key in (b"\033[27;5;113~", b"\033[113;5u", b"\033[27;5;99~", b"\x03"):
        terminal = attach(hosts)
        hosts.down()
        terminal.wait_for(b"Ctrl-Q leaves")
        shown = terminal.text.index(b"gpu1 does not answer")
        expect(all(terminal.text.rfind(reset, 0, shown) > terminal.text.rfind(b"\033[?1049h", 0, shown) for reset in (b"\033[>4m", b"\033[?7727l")),
               f"the keyboard is not as before: {terminal.text!r}")
        terminal.type(key)
        expect(terminal.end() == UNREACHABLE, terminal.text)
        hosts.up()


def case_attach_returns_without_asking_twice(hosts):
    """What answered just now is attached at once: the terminal has no moment where it echoes, or where the key that leaves is for ssh."""
    write(hosts.path + "/prog", f'#!/bin/sh\ncase "$*" in *attach*) echo attach;; *serve*) echo serve;; esac >> {hosts.path}/log\nexec agentdeck "$@"\n', 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/prog"\n')
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = attach(hosts)
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    back = len(terminal.text)
    os.remove(hosts.path + "/log")
    hosts.up()
    terminal.wait_for(b"Ctrl-Q", back)
    with open(hosts.path + "/log", encoding="utf-8") as log:
        expect(log.read().split() == ["serve", "attach"], "the host was asked twice")
    terminal.type(LEAVE)
    expect(terminal.end() == 0, terminal.text)


class Shell(Terminal):
    """It stays when the command ends, so that no hangup ends what that has started."""

    program = ("sh", "-c", '"$@"; read word', "sh", "agentdeck")


def case_attach_that_is_killed_here_leaves_no_ssh(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    socket = json.loads(hosts.there("show", "talk", "--json"))["tmux"]["socket"]

    def clients():
        return subprocess.run(["tmux", "-S", socket, "list-clients"], check=True, stdout=subprocess.PIPE).stdout.splitlines()

    shell = Shell(hosts, "attach", "gpu1:talk")
    shell.wait_for(b"Ctrl-Q")
    [attached, *left] = with_start_times(hosts.children(shell.process))
    expect(left and len(clients()) == 1, f"{left}, {clients()}")
    os.kill(attached[0], signal.SIGKILL)
    wait_for(lambda: have_ended(left), f"it has left {left}")
    wait_for(lambda: clients() == [], f"{clients()} is left there")
    shell.type(b"\n")
    shell.end()
    expect(len(hosts.masters()) == 1, f"{hosts.masters()} instead of one connection")


def case_attach_that_is_killed_there_ends(hosts):
    """The host answers, so the line that it does not is there once."""
    write(hosts.path + "/prog", f'#!/bin/sh\ncase "$*" in *attach*) [ ! -e {hosts.path}/flag ] || kill -KILL $$;; esac\nexec agentdeck "$@"\n', 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/prog"\n')
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    write(hosts.path + "/flag", "")
    terminal = Terminal(hosts, "attach", "gpu1:talk")
    expect(terminal.end() == UNREACHABLE and b"gpu1 answers, but attach ends there each time" in terminal.text, terminal.text)
    expect(terminal.text.count(b"does not answer") == 1, terminal.text)


def case_attach_tells_an_end_from_a_lost_link(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    terminal = attach(hosts)
    hosts.there("stop", "talk")
    expect(terminal.end() in (0, 1) and b"talk is stopped" in terminal.text and b"does not answer" not in terminal.text, terminal.text)
    hosts.there("start", "talk")
    terminal = attach(hosts)
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    hosts.there("stop", "talk")
    hosts.up()
    expect(terminal.end() == 1 and b"talk was stopped meanwhile" in terminal.text, f"a session that was stopped meanwhile: {terminal.text}")
    expect(json.loads(hosts.there("show", "talk", "--json"))["status"] == "stopped", "it was started again")
    hosts.there("start", "talk")
    terminal = attach(hosts)
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    back = len(terminal.text)
    hosts.there("restart", "talk")
    hosts.up()
    terminal.wait_for(b"talk was restarted meanwhile", back)
    terminal.wait_for(b"Ctrl-Q", back)
    terminal.type(LEAVE)
    expect(terminal.end() == 0, terminal.text)


def case_attach_returns_to_the_session_that_it_showed(hosts):
    """Not to the one that waits then."""
    for title in ("talk", "other"):
        hosts.there("launch", hosts.path + "/work", "-t", title, "--agent", "demo")
    terminal = attach(hosts, "attach", "gpu1:other")
    hosts.down()
    terminal.wait_for(b"Ctrl-Q leaves")
    back = len(terminal.text)
    hosts.there("rename", "other", "renamed")
    hosts.up()
    terminal.wait_for(b"renamed", back)
    terminal.type(LEAVE)
    expect(terminal.end() == 0, terminal.text)


def case_half_open_is_noticed(hosts):
    """A relay keeps the connection and passes nothing on, as a firewall does."""
    relay = Relay(hosts.port)
    try:
        hosts.configure_ssh(port=relay.port)
        hosts.trust_port(relay.port)
        hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
        terminal = attach(hosts)
        relay.drops = True
        begun = time.monotonic()
        terminal.wait_for(b"gpu1 does not answer")
        print(f"   half-open: noticed after {time.monotonic() - begun:.1f} s")
        back = len(terminal.text)
        relay.drops = False
        begun = time.monotonic()
        terminal.wait_for(b"Ctrl-Q", back + 200)
        print(f"   back: on the screen after {time.monotonic() - begun:.1f} s")
        terminal.type(LEAVE)
        expect(terminal.end() == 0, terminal.text)
    finally:
        relay.end()


@contextlib.contextmanager
def own_network():
    """A network whose addresses a case can change, for what it starts."""
    libc, new_network = ctypes.CDLL(None, use_errno=True), 0x40000000
    with open("/proc/self/ns/net", "rb") as before:
        if libc.unshare(new_network) < 0:
            raise PermissionError("no network of its own")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield lambda: [subprocess.run(["ip", "address", one, "192.0.2.1/32", "dev", "lo"], check=True) for one in ("add", "del")]
        finally:
            libc.setns(before.fileno(), new_network)


def case_a_change_of_the_network_replaces_only_what_is_silent(hosts):
    """agentdeck there may be slow.  Then the connection is a good one."""
    if os.geteuid() != 0:
        raise Skipped("root")
    hosts.down()
    with own_network() as change:
        hosts.up()
        write(hosts.path + "/slow", f'#!/bin/sh\ncase "$*" in *serve*) [ ! -e {hosts.path}/flag ] || exec sleep 60 ;; esac\nexec agentdeck "$@"\n', 0o755)
        hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/slow"\ntimeout = 60\n')
        hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
        terminal = attach(hosts)
        write(hosts.path + "/flag", "")
        change()

        def is_looked_at():
            expect(terminal.reads(b"talk") and b"does not answer" not in terminal.text, f"a connection that works was replaced: {terminal.text}")
            return b"agentdeck-check" in open(hosts.path + "/sshd.log", "rb").read()

        wait_for(is_looked_at, "no look at the connection")
        typed = len(terminal.text)
        terminal.type(b"still here\r")
        terminal.wait_for(b"> still here", typed)
        expect(b"does not answer" not in terminal.text, terminal.text)
        os.remove(hosts.path + "/flag")
        [stopped] = hosts.masters()
        os.kill(stopped, signal.SIGSTOP)

        def is_noticed():
            change()
            return terminal.reads(b"gpu1 does not answer")

        wait_for(is_noticed, "nothing noticed that the connection is silent")
        back = len(terminal.text)
        terminal.wait_for(b"Ctrl-Q", back + 200)
        terminal.type(LEAVE)
        expect(terminal.end() == 0, terminal.text)
        hosts.there("stop", "--all")


def case_what_was_stopped_while_packets_are_dropped_stays_so(hosts):
    """The end of the session comes through to the host's terminal, and not to the user's."""
    relay = Relay(hosts.port)
    try:
        hosts.configure_ssh(port=relay.port)
        hosts.trust_port(relay.port)
        hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
        terminal = attach(hosts)
        [name] = os.listdir(f"{hosts.far}/run/seats")
        with open(f"{hosts.far}/run/seats/{name}", encoding="utf-8") as note:
            holder = note.read().split()[0]
        relay.drops = True
        hosts.there("stop", "talk")
        wait_for(lambda: not command_of(holder), "attach there does not end")
        terminal.wait_for(b"gpu1 does not answer")
        relay.drops = False
        expect(terminal.end() == 1 and b"talk was stopped meanwhile" in terminal.text, terminal.text)
        expect(json.loads(hosts.there("show", "talk", "--json"))["status"] == "stopped", "it was started again")
    finally:
        relay.end()


def case_seats_of_terminals_that_never_return_are_swept(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "talk", "--agent", "demo")
    seats = f"{hosts.far}/run/seats"
    attach_once = attach(hosts)
    [name] = os.listdir(seats)
    with open(f"{seats}/{name}", encoding="utf-8") as note:
        text = note.read().split()
    attach_once.type(LEAVE)
    expect(attach_once.end() == 0 and not os.listdir(seats), "its seat is left")
    gone, lives = " ".join(["999999999", "1", *text[2:]]) + "\n", " ".join([str(os.getpid()), start_time(os.getpid()), *text[2:]]) + "\n"
    names = {str(uuid.uuid4()): (note, days) for note, days in ((gone, 31), (gone, 29), (lives, 31))}
    for one, (note, days) in names.items():
        write(f"{seats}/{one}", note)
        os.utime(f"{seats}/{one}", (time.time() - days * 86400,) * 2)
    terminal = attach(hosts)
    terminal.type(LEAVE)
    expect(terminal.end() == 0, terminal.text)
    expect({one for one, (note, days) in names.items() if note != gone or days < 30} == set(os.listdir(seats)), os.listdir(seats))


class Fleet:
    """Hosts of all kinds: gpu1 and gpu2 are there, each with a session; the others are not, or not yet."""

    def __init__(self, hosts):
        self.hosts, self.second = hosts, hosts.path + "/second"
        os.mkdir(self.second, 0o700)
        shutil.copy(hosts.far + "/config.toml", self.second)
        os.mkfifo(hosts.path + "/fifo")
        for name, lines in (("second", ""), ("slow", f"read word < {hosts.path}/fifo\n")):
            write(f"{hosts.path}/run-{name}", f'#!/bin/sh\n{lines}export HOME={self.second} AGENTDECK_HOME={self.second}\nexec agentdeck "$@"\n', 0o755)
        self.hole = socket.create_server(("127.0.0.1", 0))
        config = open(hosts.path + "/ssh_config", encoding="utf-8").read()
        write(hosts.path + "/ssh_config", f"Host hole\n  Port {self.hole.getsockname()[1]}\nHost down\n  Port {free_port()}\n" + config)
        hosts.there("add", hosts.path + "/work", "-t", "api", "-c", "cat")
        self.there("add", hosts.path + "/work", "-t", "db", "-c", "cat")
        hosts.run("add", hosts.path + "/work", "-t", "mine", "-c", "cat")

    def there(self, *words):
        return subprocess.run(["agentdeck", *words], env={**self.hosts.far_environment, "HOME": self.second, "AGENTDECK_HOME": self.second}, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout

    def settings(self, *names):
        known = {"gpu1": "", "gpu2": f'program = "{self.hosts.path}/run-second"', "again": "", "slow": f'program = "{self.hosts.path}/run-slow"\ntimeout = 60',
                 "down": "", "hole": "timeout = 2"}
        self.hosts.settings("".join(f"[hosts.{name}]\n{known[name]}\n" for name in names))

    def end(self):
        self.hole.close()
        self.there("session", "stop", "--all", "--quiet")


@contextlib.contextmanager
def fleet_of(hosts, *names):
    fleet = Fleet(hosts)
    try:
        fleet.settings(*names)
        yield fleet
    finally:
        fleet.end()


def case_all_hosts_answer_as_they_can(hosts):
    """The slow one is not waited for, and each that does not answer ends within its own time."""
    with fleet_of(hosts, "gpu1", "gpu2", "down", "hole", "slow"):
        process = subprocess.Popen(["agentdeck", "list", "-A"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seen = b""
        while not all(title in seen for title in (b"mine", b"api", b"db")):
            piece = os.read(process.stdout.fileno(), 4096)
            expect(piece, f"it ended with {seen}")
            seen += piece
        told = b""
        while not all(name in told for name in (b"down is unreachable (since ", b"hole is unreachable (since ")):
            piece = os.read(process.stderr.fileno(), 4096)
            expect(piece, f"it ended with {told}")
            told += piece
        expect(process.poll() is None, "it did not wait for the slow one")
        with open(hosts.path + "/fifo", "w", encoding="utf-8") as fifo:
            fifo.write("go\n")
        process.communicate(timeout=DEADLINE_S)
        expect(process.returncode == UNREACHABLE, process.returncode)
        expect(re.search(rb"gpu1 +api ", seen) and re.search(rb"local +mine ", seen), seen)


def case_all_hosts_as_json(hosts):
    with fleet_of(hosts, "gpu1", "gpu2", "down"):
        done = hosts.run("list", "-A", "--json")
        found = {(one["via"], one.get("title") or one["code"]): one for one in json.loads(done.stdout)}
        expect(done.returncode == UNREACHABLE and set(found) == {("local", "mine"), ("gpu1", "api"), ("gpu2", "db"), ("down", "UNREACHABLE")}, done)
        machine = found["local", "mine"]["via_machine_id"]
        expect(all(one.get("via_machine_id") == machine for key, one in found.items() if key[0] != "down"), found)
        expect(machine or not os.path.exists("/etc/machine-id"), "no machine id")
        done = hosts.run("status", "-A", "--json")
        counts = {one["via"]: one.get("counts", {}).get("total") for one in json.loads(done.stdout)}
        expect(counts == {"local": 1, "gpu1": 1, "gpu2": 1, "down": None}, counts)
        done = hosts.run("recover", "-A", "--json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        expect({one["via"] for one in lines if one.get("event") == "summary"} == {"local", "gpu1", "gpu2"}, lines)
        for words in (("doctor",), ("history", "nothing has this")):
            done = hosts.run(*words, "-A", "--json")
            expect({one["via"] for one in json.loads(done.stdout)} == {"local", "gpu1", "gpu2", "down"}, done)


def conversation_there(fleet, title="db"):
    """An agent of gpu2 that runs, and its conversation."""
    hosts = fleet.hosts
    fleet.there("launch", hosts.path + "/work", "-t", title, "--agent", "demo", "-m", "hello")
    [row] = [one for one in json.loads(fleet.there("list", "--json")) if one["title"] == title]
    return row["id"], row["session_id"]


def case_a_conversation_that_another_host_has_open_is_refused(hosts):
    """Where this machine was told so; the host is asked again, and where it cannot be asked there is a warning."""
    with fleet_of(hosts, "gpu1", "gpu2") as fleet:
        session, conversation = conversation_there(fleet, "talk")
        hosts.run("add", hosts.path + "/work", "-t", "other", "--agent", "demo", "--session-id", str(uuid.uuid4()))
        hosts.run("list", "-A")
        told = f"open in session 'talk' on gpu2: two agents on one conversation would split its history; attach to that one with agentdeck attach gpu2:{session}, or stop"
        refused(hosts, 1, told, "launch", hosts.path + "/work", "-t", "same", "--agent", "demo", "--session-id", conversation)
        expect(not [one for one in json.loads(hosts.run("list", "--json").stdout) if one["title"] == "same"], "the launch left a session")
        hosts.run("add", hosts.path + "/work", "-t", "same", "--agent", "demo", "--session-id", conversation)
        for words in (("start", "same"), ("restart", "same")):
            refused(hosts, 1, f"first with agentdeck stop gpu2:{session}; if no agent runs there, add --take-over", *words)
        refused(hosts, 1, told, "session", "move", "same", "--to", "gpu1")
        expect(agents_of(hosts.near) == [], "an agent runs")
        expect(hosts.run("start", "other").returncode == 0, "another conversation")
        # it cannot be asked: a warning, with since when
        hosts.run("stop", "--all")
        program = open(f"{hosts.path}/run-second", encoding="utf-8").read()
        os.remove(f"{hosts.path}/run-second")
        done = hosts.run("start", "same")
        expect(done.returncode == 0 and b"was open in session 'talk' on gpu2" in done.stderr and b"gpu2 is unreachable (since " in done.stderr, done)
        hosts.run("stop", "--all")
        # it says that its agent has ended, though the list of this machine is older
        write(f"{hosts.path}/run-second", program, 0o755)
        fleet.there("stop", "talk")
        done = hosts.run("start", "same")
        expect(done.returncode == 0 and b"talk" not in done.stderr, done)
        hosts.run("stop", "--all")
        fleet.there("start", "talk")
        refused(hosts, 1, told, "start", "same")
        expect(hosts.run("start", "--take-over", "same").returncode == 0, "its user says that it does not run there")


def case_an_import_of_a_conversation_that_another_host_has_open_is_refused(hosts):
    with fleet_of(hosts, "gpu1", "gpu2") as fleet:
        hosts.environment["HOME"] = hosts.near
        session, _ = conversation_there(fleet, "talk")
        fleet.there("stop", "talk")
        fleet.there("session", "export", "talk", hosts.path + "/file")
        fleet.there("start", "talk")
        hosts.run("list", "-A")
        refused(hosts, 1, f"agentdeck stop gpu2:{session}", "session", "import", hosts.path + "/file")
        fleet.there("stop", "talk")
        done = hosts.run("session", "import", hosts.path + "/file")
        expect(done.returncode == 0, done)


def kept(hosts):
    """The titles of what this machine knows to be open elsewhere."""
    titles = []
    for name in glob.glob(hosts.near + "/run/links/*.live"):
        with open(name, encoding="utf-8") as file:
            titles += [row["title"] for row in json.load(file).values()]
    return sorted(titles)


@contextlib.contextmanager
def events_of(hosts, *words):
    """Once they have told all; what they tell then is read and left."""
    events = subprocess.Popen(["agentdeck", "-H", *words, "--json"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        line = b"begin"
        while line and b"snapshot_complete" not in line:
            line = events.stdout.readline()
        expect(line, "events has ended")
        yield
    finally:
        events.kill()
        events.communicate()


def case_the_deck_tells_which_conversations_are_open(hosts):
    """Also after its first list, and what ended there is forgotten."""
    with fleet_of(hosts, "gpu2") as fleet:
        with events_of(hosts, "gpu2", "events"):
            conversation_there(fleet, "talk")
            wait_for(lambda: kept(hosts) == ["talk"], "it is not kept")
            fleet.there("stop", "talk")
            wait_for(lambda: kept(hosts) == [], "it is kept")


def case_two_that_hear_of_a_host_lose_nothing(hosts):
    with fleet_of(hosts, "gpu2") as fleet:
        fleet.there("-p", "other", "add", hosts.path + "/work", "-t", "idle", "-c", "cat")
        with events_of(hosts, "gpu2", "-p", "other", "events"):
            conversation_there(fleet, "talk")
            hosts.run("list", "-A", "--json")
            expect(kept(hosts) == ["talk"], kept(hosts))
            fleet.there("-p", "other", "launch", hosts.path + "/work", "-t", "more", "--agent", "demo", "-m", "hello")
            wait_for(lambda: "more" in kept(hosts), "it is not kept")
            expect(kept(hosts) == ["more", "talk"], kept(hosts))
            fleet.there("-p", "other", "session", "stop", "--all", "--quiet")


def case_a_list_of_some_sessions_tells_of_no_others(hosts):
    """A group can be called like the command, and another profile was told by "events -a"."""
    with fleet_of(hosts, "gpu2") as fleet:
        conversation_there(fleet, "talk")
        fleet.there("-p", "other", "launch", hosts.path + "/work", "-t", "more", "--agent", "demo", "-m", "hello")
        with events_of(hosts, "gpu2", "events", "-a"):
            wait_for(lambda: kept(hosts) == ["more", "talk"], kept(hosts))
        for words in (("list", "--json"), ("list", "--json", "--group", "list"), ("list", "--json", "--status", "stopped"), ("list", "--archived", "--json"), ("events", "--json")):
            if words[0] == "events":
                with events_of(hosts, "gpu2", "events"):
                    pass
            else:
                expect(hosts.run("-H", "gpu2", *words).returncode == 0, words)
            expect(kept(hosts) == ["more", "talk"], f"{words}: {kept(hosts)}")
        fleet.there("-p", "other", "session", "stop", "--all", "--quiet")
        with events_of(hosts, "gpu2", "events", "-a"):
            wait_for(lambda: kept(hosts) == ["talk"], kept(hosts))


def case_another_ssh_config_keeps_what_a_host_told(hosts):
    hosts.environment["HOME"] = hosts.near
    with fleet_of(hosts, "gpu2") as fleet:
        _, conversation = conversation_there(fleet, "talk")
        hosts.run("list", "-A")
        os.mkdir(hosts.near + "/.ssh", 0o700)
        write(hosts.near + "/.ssh/config", "# new\n")
        refused(hosts, 1, "open in session 'talk' on gpu2", "launch", hosts.path + "/work", "--agent", "demo", "--session-id", conversation)


def interrupted(hosts, *words):
    """Ctrl-C once the host is asked."""
    process = subprocess.Popen(["agentdeck", *words], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: os.path.exists(hosts.path + "/asked"), f"{words}: the host is not asked")
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    told = process.communicate(timeout=DEADLINE_S)[1]
    os.remove(hosts.path + "/asked")
    expect(process.returncode == 1 and b"given up while gpu2 was asked" in told and time.monotonic() - started < 15, f"{words}: exit {process.returncode}: {told}")


def case_ctrl_c_while_a_host_is_asked_ends_the_command(hosts):
    with fleet_of(hosts, "gpu1", "gpu2") as fleet:
        _, conversation = conversation_there(fleet, "talk")
        hosts.run("list", "-A")
        hosts.run("add", hosts.path + "/work", "-t", "same", "--agent", "demo", "--session-id", conversation)
        hello = json.dumps({"frame": "hello", "oldest": 1, "newest": 1, "version": "x"})
        for says in ("", f"echo '{hello}'; read hello; read request; "):
            write(f"{hosts.path}/run-second", f"#!/bin/sh\n{says}touch {hosts.path}/asked; sleep 60\n", 0o755)
            for words in (("start", "same"), ("restart", "same"), ("launch", hosts.path + "/work", "-t", "new", "--agent", "demo", "--session-id", conversation),
                          ("session", "move", "same", "--to", "gpu1")):
                interrupted(hosts, *words)
        # a connection that is being made is not told apart from other work: the signal ends the process
        signal_all(hosts.masters(), signal.SIGKILL)
        config = open(hosts.path + "/ssh_config", encoding="utf-8").read()
        write(hosts.path + "/ssh_config", f"Host gpu2\n  Port {fleet.hole.getsockname()[1]}\n{config}")
        process = subprocess.Popen(["agentdeck", "launch", hosts.path + "/work", "-t", "new", "--agent", "demo", "--session-id", conversation], env=hosts.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        fleet.hole.accept()[0].close()
        fleet.hole.accept()
        process.send_signal(signal.SIGINT)
        expect(process.wait(DEADLINE_S) in (1, -signal.SIGINT), process.returncode)
        rows = {one["title"]: one["status"] for one in json.loads(hosts.run("list", "--json").stdout)}
        expect(rows == {"mine": "stopped", "same": "stopped"} and agents_of(hosts.near) == [], rows)


def case_a_session_that_sleeps_wakes_to_no_conversation_of_another_host(hosts):
    with fleet_of(hosts, "gpu2") as fleet:
        session, conversation = conversation_there(fleet, "talk")
        hosts.run("list", "-A")
        hosts.run("add", hosts.path + "/work", "-t", "same", "--agent", "demo", "--session-id", conversation)
        [row] = [one for one in json.loads(hosts.run("list", "--json").stdout) if one["title"] == "same"]
        [manifest] = [name for name in glob.glob(f"{hosts.near}/**/{row['id']}/*.json", recursive=True) if '"desired"' in open(name, encoding="utf-8").read()]
        text = open(manifest, encoding="utf-8").read()
        write(manifest, re.sub(r'"desired": *"stopped"', '"desired": "asleep"', text))
        expect([one["is_asleep"] for one in json.loads(hosts.run("list", "--json").stdout) if one["title"] == "same"] == [True], "it does not sleep")
        refused(hosts, 1, f"agentdeck stop gpu2:{session}", "send", "same", "hello")
        expect(agents_of(hosts.near) == [], "an agent runs")


def told_by(hosts, *rows):
    """What gpu1 answers to each request."""
    text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n" if len(rows) != 1 else json.dumps(rows[0]) + "\n"
    data = [{"frame": "data", "id": "1", "stream": "output", "text": text[at:at + 16000]} for at in range(0, len(text), 16000)]
    fake(hosts, *data, {"frame": "exit", "id": "1", "status": 0})


def case_a_host_that_does_not_know_is_no_consent(hosts):
    """Its sessions may live, also where another machine has them, and each of many counts."""
    row = {"id": "abcdefg1", "profile": "default", "agent": "demo", "title": "t" * 3000, "session_id": str(uuid.uuid4()), "status": "unknown"}
    many = [{**row, "id": f"abcd{i:04}", "title": "t" * 1000, "session_id": str(uuid.uuid4()), "status": "running"} for i in range(4600)]
    hosts.run("add", hosts.path + "/work", "-t", "same", "--agent", "demo", "--session-id", row["session_id"])
    for doubt in ({"status": "unknown"}, {"status": "running", "other_host": "gpu9"}):
        told_by(hosts, {**row, **doubt}, {**row, "id": "abcdefg2", "status": "stopped"})
        expect(hosts.run("-H", "gpu1", "list", "--json").returncode == 0, "list")
        told_by(hosts, {**row, **doubt})
        done = hosts.run("start", "same")
        expect(done.returncode == 0 and b"it does not know whether that agent still runs" in done.stderr, done)
        hosts.run("stop", "same")
    told_by(hosts, *many)
    expect(hosts.run("-H", "gpu1", "list", "--json").returncode == 0, "list")
    told_by(hosts, many[-1])
    refused(hosts, 1, "is open in session", "launch", hosts.path + "/work", "--agent", "demo", "--session-id", many[-1]["session_id"])
    told_by(hosts, {**many[-1], "status": "stopped"})
    expect(hosts.run("launch", hosts.path + "/work", "--agent", "demo", "--session-id", many[-1]["session_id"]).returncode == 0, "it has ended")


def case_a_hostile_host_is_one_of_all(hosts):
    """What it says is shown as its own, reaches no terminal raw, and holds up no other."""
    data = {"frame": "data", "id": "1", "stream": "output"}
    rows = '[\n{"id":"x","title":"\\u001b[2Jevil","status":"\u009b","activity":["a"],"path":7,"via":"local"},7\n]\n'
    with fleet_of(hosts, "gpu1", "gpu2") as fleet:
        for frames in (({**data, "text": rows}, {**data, "stream": "errors", "text": "\033[2Jwords"}, {"frame": "exit", "id": "1", "status": 0}),
                       ({**data, "text": "[\n{\n}\n"}, {"frame": "exit", "id": "1", "status": 0}), ("x" * (1 << 20),)):
            fake(hosts, *frames, state="\033[2J", now="\033[2J")
            fake_settings = f'[hosts.evil]\nssh = "gpu1"\nprogram = "{hosts.path}/fake"\n'
            fleet.settings("gpu1", "gpu2")
            with open(hosts.near + "/config.toml", "a", encoding="utf-8") as file:
                file.write(fake_settings)
            text, _ = on_terminal(hosts, "list", "-A")
            expect(all(title in text for title in (b"mine", b"api", b"db")) and not any(one in text for one in (b"\033[2J", b"\xc2\x9b")), text)
            done = hosts.run("list", "-A", "--json")
            found = [one["via"] for one in json.loads(done.stdout)]
            expect(b"\033" not in done.stdout + done.stderr and found.count("local") == found.count("gpu1") == found.count("gpu2") == 1, done)
            done = hosts.run("attach", "--next", "-A")
            expect(0 < done.returncode < 128, done)


def case_a_host_with_two_names_is_one(hosts):
    with fleet_of(hosts, "gpu1", "again", "gpu2"):
        for _ in range(2):  # the first time nothing is known of them
            titles = sorted(one["title"] for one in json.loads(hosts.run("list", "-A", "--json").stdout))
            expect(titles == ["api", "db", "mine"], titles)
        done = hosts.run("status", "-A")
        expect(b"again is left out" in done.stderr or b"gpu1 is left out" in done.stderr, done)
        expect(done.returncode == 0 and done.stdout.count(b"\n") == 3, done)


def case_all_hosts_as_text(hosts):
    with fleet_of(hosts, "gpu1", "gpu2"):
        done = hosts.run("status", "-A")
        expect(set(done.stdout.splitlines()) == {b"local: 1 stopped, 1 in all", b"gpu1: 1 stopped, 1 in all", b"gpu2: 1 stopped, 1 in all"}, done)
        for words in (("doctor",), ("history", "nothing has this"), ("recover",)):
            done = hosts.run(*words, "-A")
            expect(all(f"{name}:\n".encode() in done.stdout for name in ("local", "gpu1", "gpu2")), done)
        events = subprocess.Popen(["agentdeck", "events", "-A"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        text = b""
        while text.count(b"changes follow") < 3:
            text += os.read(events.stdout.fileno(), 4096)
        hosts.there("rename", "api", "renamed")
        while b"renamed" not in text:
            text += os.read(events.stdout.fileno(), 4096)
        expect(re.search(rb"gpu1: .*renamed", text), text)
        events.send_signal(signal.SIGINT)
        expect(events.wait(DEADLINE_S) == 130, events.returncode)
        events.stdout.close()
        refused(hosts, 64, "omit api", "status", "-A", "--wait", "idle", "api")
        refused(hosts, 64, "needs --next", "attach", "-A")


def case_who_waits_on_any_host(hosts):
    with fleet_of(hosts, "gpu1", "gpu2", "down") as fleet:
        refused(hosts, 2, "no session waits", "attach", "--next", "-A")
        waits = subprocess.Popen(["agentdeck", "status", "-A", "--wait", "waiting"], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        fleet.there("launch", hosts.path + "/work", "-t", "asks", "--agent", "demo", "-m", "/run ls")
        text = waits.communicate(timeout=DEADLINE_S)[0]
        expect(waits.returncode == 0 and text.startswith(b"gpu2:\nasks ("), f"exit {waits.returncode}: {text}")
        refused(hosts, UNREACHABLE, "gpu2: 1 asks, 1 stopped, 2 in all", "status", "-A")
        second = types.SimpleNamespace(environment={**hosts.far_environment, "HOME": fleet.second, "AGENTDECK_HOME": fleet.second})
        text, _ = on_terminal(second, "list", "--watch", until=b"q quits")
        expect(b"2 sessions, 1 asks, 0 waiting; q quits" in text, text)
        text, status = on_terminal(hosts, "list")
        expect(status == 0 and b"1 waits on gpu2 (" in text and b"agentdeck list -A" in text and b"asks" not in text, text)
        expect(b"waits on" not in hosts.run("list").stdout, "a program reads it")
        terminal = attach(hosts, "attach", "-nA")
        terminal.wait_for(b"asks")
        terminal.type(LEAVE)
        expect(terminal.end() == 0, terminal.text)


def environment_of(process):
    with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
        return file.read()
    return b""


class Deck:
    """The deck on a terminal of its own, which is a tmux."""

    def __init__(self, hosts, *words):
        self.socket = hosts.path + "/deck"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "130", "-y", "40", "-s", "deck", "agentdeck", *words, env={**hosts.environment, "SHELL": "/bin/sh"})

    def tmux(self, *words, **more):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S, **more).stdout.decode()

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "deck")

    def lines(self, text):
        """The lines of the list with this text, without the news and the keys below it."""
        return [line[:65] for line in self.screen().split("\n")[1:34] if text in line[:65]]

    def wait(self, condition, what):
        try:
            wait_for(condition, what)
        except Failed as failure:
            raise Failed(f"{failure}:\n{self.screen()}") from None

    def wait_for(self, text, what=None):
        self.wait(lambda: text in self.screen(), what or f"the deck does not show '{text}'")

    def type(self, *keys):
        self.tmux("send-keys", "-t", "deck", *keys)

    def go_to(self, title):
        """Search, which leaves the cursor on the session."""
        self.type("/", *title, "Enter", "End")
        self.wait_for(f" {title} ─")
        self.type("Escape")
        wait_for(lambda: "search " + title not in self.screen(), "the search stays")

    def end(self):
        self.tmux("kill-server")


def case_the_deck_shows_the_sessions_of_hosts(hosts):
    hosts.settings('[hosts.gpu1]\n[hosts.gone]\nssh = "no-such-host.invalid"\ntimeout = 5\n')
    write(hosts.path + "/ssh_config", open(hosts.path + "/ssh_config", encoding="utf-8").read().replace("Host *", "Host gpu1"))
    hosts.run("add", hosts.path + "/work", "-t", "nearby", "--agent", "demo")
    hosts.there("launch", hosts.path + "/work", "-t", "faraway", "-g", "team", "--agent", "demo")
    deck = Deck(hosts)
    try:
        for text in ("local", "nearby", "gone", "gpu1", "team", "faraway", "unreachable since"):
            deck.wait_for(text)
        deck.wait(lambda: deck.lines("faraway") and "idle" in deck.lines("faraway")[-1], "what the session does")
        deck.go_to("faraway")
        deck.type("m")
        deck.wait_for("Send to faraway")
        deck.type(*"hello", "Space", *"there", "Enter")
        deck.wait(lambda: b"hello there" in hosts.there("output", "faraway", "--pane"), "the message did not arrive")
        deck.wait_for("hello there", "the preview has no screen of the other host")
        deck.wait_for("faraway: submitted")
        deck.type("/", *"remember")
        deck.wait(lambda: any("faraway  in its reply" in line for line in deck.lines("faraway")), "a reply there is not found")
        deck.type("Escape")
        deck.wait(lambda: "search remember" not in deck.screen(), "the search stays")
        deck.type("x")
        deck.wait_for("Stop faraway?")
        deck.type("y")
        deck.wait(lambda: json.loads(hosts.there("show", "faraway", "--json"))["status"] == "stopped", "it was not stopped there")
        deck.wait(lambda: deck.lines("faraway") and "stopped" in deck.lines("faraway")[-1], "the deck does not show that")
        deck.type("s")
        deck.wait(lambda: json.loads(hosts.there("show", "faraway", "--json"))["status"] == "running", "it was not started there")
        deck.type("d")
        deck.wait_for("Stop and remove faraway?")
        deck.type("y")
        deck.wait(lambda: json.loads(hosts.there("list", "--json")) == [] and not deck.lines("faraway"), "it was not removed there")
        deck.type("u")
        deck.wait(lambda: deck.lines("faraway"), "undo is not for the host")
    finally:
        deck.end()


def followers(hosts):
    """The processes that follow a host for this machine's deck."""
    return [name for name in os.listdir("/proc") if name.isdigit() and b"events" in command_of(name).split(b"\0") and hosts.is_ours(name)]


def case_the_deck_shows_a_host_again_that_was_away(hosts):
    """Its rows stay meanwhile, one that was removed there goes, and a host without sessions stays in the list."""
    for title in ("faraway", "removed"):
        hosts.there("add", hosts.path + "/work", "-t", title, "--agent", "demo")
    deck = Deck(hosts)
    try:
        deck.wait(lambda: deck.lines("faraway") and deck.lines("removed"), "they are not shown")
        hosts.down()
        deck.wait_for("unreachable since")
        expect(deck.lines("faraway") and deck.lines("removed"), deck.screen())
        hosts.there("remove", "removed")
        hosts.up()
        deck.wait(lambda: deck.lines("faraway") and not deck.lines("removed") and "unreachable" not in deck.screen(), "it is not shown as it is")
        hosts.there("remove", "faraway")
        deck.wait(lambda: not deck.lines("faraway") and deck.lines("gpu1"), "the host went with its last session")
        hosts.there("add", hosts.path + "/work", "-t", "later", "--agent", "demo")
        deck.wait(lambda: deck.lines("later"), "what is new there is not shown")
        expect(followers(hosts), "nothing follows the host")
    finally:
        deck.end()
    wait_for(lambda: not followers(hosts), "what follows the host outlives the deck")


def case_a_question_of_a_host_is_answered_in_the_deck(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "asks", "--agent", "demo", "-m", "/run ls")
    deck = Deck(hosts)
    try:
        deck.wait(lambda: any(line.count("asks") > 1 for line in deck.lines("asks")), "it does not wait")
        deck.type("n", "A")
        deck.wait_for("Give this permission?")
        deck.type("y")
        deck.wait(lambda: b"1 asks" not in hosts.run("-H", "gpu1", "status").stdout, "it was not answered")
        deck.go_to("asks")
        deck.type("Enter")
        deck.wait(lambda: "TITLE" not in deck.screen() and "asks" in deck.screen(), "it is not attached")
        deck.type("C-q")
        deck.wait_for("TITLE")
        deck.type("i")
        deck.wait_for("Typing without attaching is not possible on another host yet: use agentdeck -H gpu1 attach")
    finally:
        deck.end()


def case_a_host_that_is_a_black_hole_delays_no_key_of_the_deck(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 5\n")
    for title, where in (("nearby", lambda *words: hosts.run(*words).stdout), ("faraway", hosts.there)):
        where("add", hosts.path + "/work", "-t", title, "--agent", "demo")
    deck = Deck(hosts)
    try:
        deck.wait_for("faraway")
        stopped = [hosts.sshd.pid, *hosts.children(), *hosts.masters()]
        signal_all(stopped, signal.SIGSTOP)
        deck.go_to("nearby")
        deck.type("s")
        deck.wait(lambda: json.loads(hosts.run("show", "nearby", "--json").stdout)["status"] == "running", "a key waits for the host")
        deck.wait_for("unreachable since")
        expect(deck.lines("faraway"), deck.screen())
        signal_all(stopped, signal.SIGCONT)
        hosts.there("add", hosts.path + "/work", "-t", "later", "--agent", "demo")
        deck.type("C-l")
        deck.wait(lambda: deck.lines("later") and deck.lines("faraway") and not deck.lines("unreachable"), "the host does not come back")
    finally:
        deck.end()
    wait_for(lambda: not [process for process in os.listdir("/proc") if process.isdigit() and b"events\0--json" in command_of(int(process)) and hosts.near.encode() in environment_of(process)], "a link outlives the deck")


def case_a_host_that_is_slower_than_the_typing_gets_the_last_search(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 60\n")
    for title, run in (("nearby", lambda *words: hosts.run(*words).stdout), ("faraway", hosts.there)):
        run("launch", hosts.path + "/work", "-t", title, "--agent", "demo", "-m", "remember this")
        wait_for(lambda: b"remember" in run("output", title), f"{title} has no reply")

    def searches():
        return [name for name in os.listdir("/proc") if name.isdigit() and b"gpu1\0search\0--json" in command_of(name) and hosts.near.encode() in environment_of(name)]

    deck = Deck(hosts)
    try:
        deck.wait(lambda: deck.lines("nearby") and deck.lines("faraway"), "a session is not shown")
        stopped = hosts.masters()
        signal_all(stopped, signal.SIGSTOP)
        deck.type("/", *"re")
        wait_for(searches, "the host is not asked")
        deck.type(*"member")
        deck.wait(lambda: any("in its reply" in line for line in deck.lines("nearby")), "a reply here is not found")
        expect(not any("in its reply" in line for line in deck.lines("faraway")) and searches(), deck.screen())
        signal_all(stopped, signal.SIGCONT)
        deck.wait(lambda: any("in its reply" in line for line in deck.lines("faraway")), "a reply there is not found")
    finally:
        deck.end()


def faketime():
    """The library that gives a program another clock; None: it is not installed, or cannot be used."""
    with open(shutil.which("agentdeck"), "rb") as file:
        if b"__asan_init" in file.read():
            print("   a program with AddressSanitizer does not start with libfaketime")
            return None
    found = [path for pattern in ("/usr/lib*", "/usr/lib/*") for path in glob.glob(pattern + "/faketime/libfaketime.so.1")]
    return found[0] if found else None


class Clock:
    """Another time of day for a home: that of this machine, and seconds more.  Only steps of it are seen, as in reality."""

    def __init__(self, hosts, name, home, library):
        self.file, self.program, self.hosts = f"{hosts.path}/clock-{name}", f"{hosts.path}/at-{name}", hosts
        self.own = {"HOME": home, "AGENTDECK_HOME": home, "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": self.file, "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        write(self.program, "#!/bin/sh\n" + "".join(f"export {key}={value}\n" for key, value in self.own.items()) + 'exec agentdeck "$@"\n', 0o755)

    def set(self, seconds):
        write(self.file + ".new", f"{seconds:+d}\n")
        os.rename(self.file + ".new", self.file)

    def there(self, *words):
        return subprocess.run(["agentdeck", *words], env={**self.hosts.far_environment, **self.own}, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def ask(self, title, age_s):
        """A session that has waited so long for an answer."""
        self.there("launch", self.hosts.path + "/work", "-t", title, "--agent", "demo", "-m", "/run ls")
        wait_for(lambda: b'"waiting"' in self.there("show", title, "--json"), f"{title} does not wait")
        path = json.loads(self.there("show", title, "--json"))["tmux"]["socket"].rpartition("/")[0] + "/activity.json"

        def written():
            with open(path, encoding="utf-8") as file:
                return json.load(file)

        # Its screen may have been seen first: its report would take the place of what is written here.
        wait_for(lambda: (written()["activity"], written()["source"]) == ("waiting", "report"), f"{title} does not report that it waits")
        activity = written()
        since = datetime.datetime.fromisoformat(activity["since"].replace("Z", "+00:00")) - datetime.timedelta(seconds=age_s)
        activity.update(since=since.strftime("%Y-%m-%dT%H:%M:%S.000Z"), since_boot_ms=activity["since_boot_ms"] - age_s * 1000)
        write(path + ".new", json.dumps(activity))
        os.rename(path + ".new", path)


def case_the_clock_of_a_host_is_another_one(hosts):
    """An hour off, either way, and set back: who waits longest is the same."""
    if not (library := faketime()):
        raise Skipped("a libfaketime that works")
    with fleet_of(hosts, "gpu1", "gpu2") as fleet:
        ahead, behind, here = (Clock(hosts, name, home, library) for name, home in (("ahead", fleet.second), ("behind", hosts.far), ("here", hosts.near)))
        hosts.settings(f'[hosts.gpu1]\nprogram = "{behind.program}"\n[hosts.gpu2]\nprogram = "{ahead.program}"\n')
        for clock, seconds, title, age_s in ((ahead, 3600, "first", 2000), (here, 0, "second", 1400), (behind, -3600, "third", 800)):
            clock.set(seconds)
            clock.ask(title, age_s)

        def longest():
            terminal = attach(hosts, "attach", "-nA")
            terminal.type(LEAVE)
            expect(terminal.end() == 0, terminal.text)
            return next(title for title in ("first", "second", "third") if title.encode() in terminal.text)

        def ages():
            """In minutes, by the clock of each host."""
            rows = [one for one in json.loads(hosts.run("list", "-A", "--json").stdout) if one["activity"] == "waiting"]
            times = {one["title"]: [seconds_of(one.get("via_now_at")), seconds_of(one["since_at"])] for one in rows}
            return {title: round(((now or time.time()) - since) / 60) // 10 for title, (now, since) in times.items()}

        expect(longest() == "first", "not the one that waits longest")
        expect(ages() == {"first": 3, "second": 2, "third": 1}, ages())
        deck = Deck(hosts)

        def order():
            found = [re.search("first|second|third|fourth", line) for line in deck.lines("demo  asks")]
            return [one.group() for one in found if one]

        try:
            deck.wait(lambda: sorted(set(order())) == ["first", "second", "third"], "not all wait")
            deck.wait(lambda: order()[:3] == ["first", "second", "third"], "not in their order")
            # set back while the link is there
            ahead.set(0)
            ahead.ask("fourth", 0)
            deck.wait(lambda: order()[:4] == ["first", "second", "third", "fourth"], "the clock that was set back counts as before")
        finally:
            deck.end()
        expect(longest() == "first", "not the one that waits longest, after its clock was set back")
        expect(ages() == {"first": 3, "second": 2, "third": 1, "fourth": 0}, ages())
        here.there("stop", "--all")
        behind.there("stop", "--all")
        ahead.there("stop", "--all")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else None


def case_the_deck_takes_nothing_from_the_second_name_of_a_host(hosts):
    hosts.settings('[hosts.gpu1]\n[hosts.gpu2]\nssh = "gpu1"\n')
    hosts.there("add", hosts.path + "/work", "-t", "faraway", "--agent", "demo")
    hosts.run("host", "check")
    deck = Deck(hosts)
    try:
        deck.wait(lambda: deck.lines("faraway") and any("cannot be listed" in line for line in deck.lines("gpu2")), "the second name is not known")
        hosts.there("remove", "faraway")
        deck.wait(lambda: not deck.lines("faraway"), "a row of it is left")
    finally:
        deck.end()


def case_the_deck_outlives_its_program(hosts):
    """Its file goes while it runs, as in an upgrade."""
    here = os.path.dirname(shutil.which("agentdeck"))
    for name in os.listdir(here):
        if re.fullmatch("agentdeck(-[a-z]+)*", name) and os.path.isfile(f"{here}/{name}"):
            shutil.copy(f"{here}/{name}", hosts.bin)
    hosts.there("add", hosts.path + "/work", "-t", "faraway", "--agent", "demo")
    deck = Deck(hosts)
    try:
        deck.wait_for("faraway")
        os.unlink(hosts.bin + "/agentdeck")
        hosts.down()
        deck.wait_for("cannot be listed")
        expect(deck.lines("faraway"), deck.screen())
    finally:
        deck.end()


def case_more_logins_than_sshd_takes(hosts):
    """MaxStartups: sshd refuses while another login has not ended."""
    hosts.down()
    hosts.up("MaxStartups 1")
    with contextlib.ExitStack() as others:

        def is_taken():
            """The last one that was refused may count for a moment."""
            with contextlib.suppress(ConnectionResetError):
                return others.enter_context(socket.create_connection(("127.0.0.1", hosts.port))).recv(100).startswith(b"SSH-")

        wait_for(is_taken, "sshd takes no connection")
        message = refused(hosts, UNREACHABLE, "gpu1 is unreachable (since ", "-H", "gpu1", "list")
        expect("onnection" in message and message.count("\n") == 1, message)
    wait_for(lambda: hosts.run("-H", "gpu1", "list").returncode == 0, "it does not come back")


def case_a_login_that_waits_for_its_user(hosts):
    """The banner names an address to visit, and sshd waits until that was done.  In the background nothing waits for it."""
    if os.geteuid() != 0:
        raise Skipped("root")
    os.mkfifo(hosts.path + "/visited")
    write(hosts.path + "/banner", "Visit https://login.example/abc\n", 0o644)
    hosts.down()
    hosts.up(f"AuthorizedKeysFile none\nAuthorizedKeysCommand {os.path.realpath(shutil.which('cat'))} {hosts.path}/visited\nAuthorizedKeysCommandUser root\nBanner {hosts.path}/banner")
    for timeout in (3, 10, 40):  # a busy machine gets to the banner later
        hosts.settings(f"[hosts.gpu1]\ntimeout = {timeout}\n")
        message = refused(hosts, UNREACHABLE, "gpu1 is unreachable (since ", "-H", "gpu1", "list")
        if "login.example" in message:
            break
    expect(re.search("Visit https://login.example/abc.*: log in with agentdeck host login gpu1\n", message) and message.count("\n") == 1, message)
    wait_for(lambda: not hosts.masters(), "its ssh is left")
    hosts.settings("[hosts.gpu1]\ntimeout = 60\n")
    for name in os.listdir("/proc"):
        if name.isdigit() and f"{hosts.path}/visited".encode() in command_of(name).split(b"\0"):
            os.kill(int(name), signal.SIGKILL)  # of the login that was given up
    terminal, visited = Terminal(hosts, "host", "login", "gpu1"), threading.Event()
    terminal.wait_for(b"https://login.example/abc")

    def visit():
        """sshd asks for the key twice."""
        while not visited.wait(0.05):
            with contextlib.suppress(OSError), open(hosts.path + "/key.pub", "rb") as key, open(os.open(hosts.path + "/visited", os.O_WRONLY | os.O_NONBLOCK), "wb") as to:
                to.write(key.read())

    visitor = threading.Thread(target=visit, daemon=True)
    visitor.start()
    status = terminal.end()
    visited.set()
    visitor.join()
    expect(status == 0 and b"gpu1 is connected" in terminal.text, (status, terminal.text))
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "list")


def agents_of(home):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and command_of(name).split(b"\0")[0].endswith(b"agentdeck-demo-agent")
            and f"AGENTDECK_HOME={home}".encode() in environment_of(name).split(b"\0")]


def case_a_home_that_two_hosts_share(hosts):
    """Its session is listed once, by the host that runs it, and no other one starts it."""
    if os.geteuid() != 0:
        raise Skipped("root")
    write(hosts.path + "/id", "0123456789abcdef0123456789abcdef\n", 0o644)
    os.mkfifo(hosts.path + "/turn")
    # in the list, the one that runs it comes last
    write(hosts.path + "/box2", f'#!/bin/sh\nunshare -m -u sh -c \'hostname box2 && mount --bind {hosts.path}/id /etc/machine-id && exec agentdeck "$@"\' box2 "$@"\n'
                                f"[ ! -e {hosts.path}/turns ] || echo now >{hosts.path}/turn\n", 0o755)
    write(hosts.path + "/box1", f'#!/bin/sh\n[ ! -e {hosts.path}/turns ] || read word <{hosts.path}/turn\nexec agentdeck "$@"\n', 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/box2"\n[hosts.gpu2]\nprogram = "{hosts.path}/box1"\ntimeout = 60\n')
    hosts.there("launch", hosts.path + "/work", "-t", "api", "--agent", "demo")
    running = agents_of(hosts.far)
    expect(len(running) == 1, running)
    for _ in range(2):
        write(hosts.path + "/turns", "")
        rows = [(one["via"], one["title"], one["status"]) for one in json.loads(hosts.run("list", "-A", "--json").stdout)]
        os.remove(hosts.path + "/turns")
        expect(rows == [("gpu2", "api", "running")], rows)
    for words in (("start", "gpu1:api"), ("restart", "gpu1:api"), ("stop", "gpu1:api")):
        refused(hosts, 1, os.uname().nodename, *words)
    hosts.run("recover", "-A")
    deck = Deck(hosts)
    try:
        deck.wait(lambda: deck.lines("api") and not deck.lines("unreachable"), "it is not shown")
        deck.wait(lambda: [line for line in deck.lines("gpu2") + deck.lines("gpu1") if "api" in line] == [] and len(deck.lines("api")) == 1, "it is shown twice")
    finally:
        deck.end()
    expect(agents_of(hosts.far) == running, "another agent runs")


def case_another_version_there(hosts):
    """Older or newer: what both know works, what one of them does not know is said, and no agent is restarted."""
    here = os.path.dirname(os.path.realpath(shutil.which("agentdeck")))
    os.mkdir(hosts.path + "/other")
    for name in os.listdir(here):
        if re.fullmatch("agentdeck(-[a-z]+)*", name) and os.path.isfile(f"{here}/{name}"):
            shutil.copy(f"{here}/{name}", hosts.path + "/other")
    own = hosts.run("--version").stdout.split()[1]
    with open(hosts.path + "/other/agentdeck", "r+b") as program:
        text = program.read()
        program.seek(0)
        program.write(text.replace(b"\0" + own + b"\0", b"\0" + own[:-1] + b"~\0"))
    other = f'[hosts.gpu1]\nprogram = "{hosts.path}/other/agentdeck"\n'
    hosts.settings(other)
    expect(own[:-1].decode() + "~" in hosts.run("host", "check", "gpu1").stdout.decode(), "it is not another version")
    expect(hosts.run("-H", "gpu1", "launch", hosts.path + "/work", "-t", "api", "--agent", "demo").returncode == 0, "launch")
    running = agents_of(hosts.far)
    for settings in ("[hosts.gpu1]\n", other):
        hosts.settings(settings)
        for words in (("list", "-A"), ("rename", "gpu1:api", "api"), ("send", "gpu1:api", "hello"), ("start", "gpu1:api"), ("output", "gpu1:api", "--pane"), ("-H", "gpu1", "recover")):
            done = hosts.run(*words)
            expect(done.returncode == 0, (words, done))
    expect(len(running) == 1 and agents_of(hosts.far) == running, "its agent was restarted")
    fake(hosts, {"frame": "exit", "id": "1", "status": 0, "later": [1]}, oldest=1, newest=7, later={})
    expect(hosts.run("-H", "gpu1", "list").returncode == 0, "a newer one that speaks our protocol")
    for frames in ({"frame": "error", "id": "1", "code": "USAGE", "error": "there is no command 'list'"},), ({"frame": "exit", "id": "1", "status": 64},):
        fake(hosts, *frames)
        refused(hosts, 64, "gpu1 has agentdeck x, and this is " + own.decode(), "-H", "gpu1", "list")
    for oldest, newest in ((2, 7), (0, 0)):
        fake(hosts, oldest=oldest, newest=newest)
        refused(hosts, 1, "agentdeck x there and this one have no protocol in common", "-H", "gpu1", "list")


class Echo(threading.Thread):
    """A program there that listens: it answers each caller with its name and what it was sent."""

    def __init__(self, name=b"there"):
        super().__init__(daemon=True)
        self.name_, self.socket = name, socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.answer, args=(self.socket.accept()[0],), daemon=True).start()

    def answer(self, caller):
        with caller:
            caller.sendall(self.name_ + b" " + caller.recv(100))

    def end(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def call(port, word=b"hello"):
    """The answer at a port of this machine, which may take as long as a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as caller:
        caller.sendall(word)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := caller.recv(100):
                answer += piece
        return answer


def forwards(hosts, *words):
    return json.loads(hosts.run("forward", *words, "--list", "--json").stdout)


def is_free(port):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return True
    return False


def case_a_port_of_a_session_leads_there(hosts):
    hosts.there("launch", hosts.path + "/work", "-t", "api", "-c", "cat")
    [there] = json.loads(hosts.there("list", "--json"))
    echo, port = Echo(), free_port()
    expect(json.loads(hosts.run("session", "address", "gpu1:api", "--json").stdout)["address"] == "localhost", "no address")
    done = hosts.run("forward", "gpu1:api", f"{port}:{echo.port}", "--json")
    expect(done.returncode == 0, done)
    answer = json.loads(done.stdout)
    expect(answer["success"] and answer["port"] == port and answer["target_port"] == echo.port and answer["id"] == there["id"] and answer["via"] == "gpu1" and answer["note"] is None, answer)
    expect(call(port) == b"there hello", "not led there")
    expect([call(port, b"%d" % i) for i in range(20)] == [b"there %d" % i for i in range(20)], "not each of twenty")
    with open("/proc/net/tcp", encoding="utf-8") as file:
        expect([line.split()[1] for line in file if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"] == [f"0100007F:{port:04X}"], "not on 127.0.0.1 only")
    [one] = forwards(hosts)
    expect((one["port"], one["title"], one["is_connected"]) == (port, "api", True), one)
    listed = [json.loads(hosts.run(*words, "--list", "--json").stdout) for words in (("forward", "gpu1:api"), ("-H", "gpu1", "forward", "api"), ("-H", "gpu1", "forward"), ("forward", "gpu1:other"))]
    expect(listed == [[one], [one], [one], []], listed)
    refused(hosts, 1, "is forwarded already: agentdeck forward --list", "forward", "gpu1:api", f"{port}")
    refused(hosts, 1, f"another program uses port {echo.port} here", "forward", "gpu1:api", f"{echo.port}")
    expect(forwards(hosts) == [one], "a failure has left a port")
    # a connection that is replaced: who calls meanwhile waits
    signal_all(hosts.masters(), signal.SIGKILL)
    expect(call(port) == b"there hello", "not led there any more")
    wait_for(lambda: forwards(hosts)[0]["is_connected"], "not connected again")
    # a program that restarts its agent is the same session
    hosts.there("restart", "api")
    expect(call(port) == b"there hello" and forwards(hosts), "a restart has ended it")
    hosts.there("stop", "api")
    wait_for(lambda: forwards(hosts) == [], "it outlives its session")
    expect(is_free(port), "the port is in use")
    echo.end()


def case_a_caller_waits_without_work_while_its_host_is_silent(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 5\n")
    hosts.there("launch", hosts.path + "/work", "-t", "api", "-c", "cat")
    echo, port = Echo(), free_port()
    expect(hosts.run("forward", "gpu1:api", f"{port}:{echo.port}").returncode == 0, "not forwarded")
    [keeper] = [process for process in hosts.keepers() if b"keep-forward" in command_of(process).split(b"\0")]

    def ticks():
        with open(f"/proc/{keeper}/stat", encoding="ascii") as file:
            return sum(int(word) for word in file.read().rpartition(")")[2].split()[11:13])

    wait_for(lambda: forwards(hosts)[0]["is_connected"], "not connected")
    signal_all(hosts.masters(), signal.SIGKILL)
    stopped = [hosts.sshd.pid, *hosts.children()]
    signal_all(stopped, signal.SIGSTOP)
    wait_for(lambda: not forwards(hosts)[0]["is_connected"], "the link is not lost")
    with socket.create_connection(("127.0.0.1", port)) as caller:
        before = ticks()
        for _ in range(2):
            refused(hosts, UNREACHABLE, "unreachable", "-H", "gpu1", "list")
        expect(ticks() - before < 20, f"{ticks() - before} ticks of the processor")
        signal_all(stopped, signal.SIGCONT)
        caller.settimeout(2 * DEADLINE_S)
        caller.sendall(b"hello")
        expect(caller.recv(100) == b"there hello", "who waited is not led there")
    echo.end()


def case_a_forwarded_port_is_ended(hosts):
    for title in ("api", "web"):
        hosts.there("launch", hosts.path + "/work", "-t", title, "-c", "cat")
    echo, ports = Echo(), [free_port() for _ in range(3)]
    for title, port in zip(("api", "api", "web"), ports):
        expect(hosts.run("forward", f"gpu1:{title}", f"{port}:{echo.port}").returncode == 0, f"{title} {port}")
    expect(len(hosts.masters()) == 1, "not one connection")
    refused(hosts, 2, "no such port is forwarded", "forward", "gpu1:web", str(ports[0]), "--stop")
    refused(hosts, 64, "name the session", "forward", "--stop")
    with socket.create_connection(("127.0.0.1", ports[0])) as caller:
        wait_for(lambda: any(b"-W" in command_of(process).split(b"\0") for process in hosts.keepers()), "no ssh for the caller")
        expect(b"no longer forwarded" in hosts.run("forward", "gpu1:api", str(ports[0]), "--stop").stdout, "not ended")
        caller.settimeout(DEADLINE_S)
        with contextlib.suppress(ConnectionResetError):
            expect(caller.recv(10) == b"", "who used it still does")
    expect([one["port"] for one in forwards(hosts)] == sorted(ports[1:]), "another one was ended")
    expect(len(json.loads(hosts.run("forward", "gpu1:web", "--stop", "--json").stdout)) == 1, "not one")
    # one that is killed leaves nothing that counts
    signal_all(hosts.keepers(), signal.SIGKILL)
    wait_for(lambda: forwards(hosts) == [], "a killed one is listed")
    expect(os.listdir(hosts.near + "/run/forwards") == [], "its files are left")
    expect(hosts.run("forward", "gpu1:api", f"{ports[1]}:{echo.port}").returncode == 0 and call(ports[1]) == b"there hello", "the port is not usable again")
    hosts.there("remove", "--force", "api")
    wait_for(lambda: forwards(hosts) == [], "it outlives its session, which is removed")
    echo.end()


def case_a_port_of_another_host_or_profile_is_not_ended(hosts):
    hosts.settings('[hosts.gpu1]\n[hosts.gpu2]\nssh = "gpu1"\n')
    hosts.there("launch", hosts.path + "/work", "-t", "api", "-c", "cat")
    hosts.there("-p", "other", "launch", hosts.path + "/work", "-t", "api", "-c", "cat")
    echo, ports = Echo(), [free_port() for _ in range(3)]
    for words, port in zip((["gpu1:api"], ["gpu2:api"], ["-p", "other", "gpu1:api"]), ports):
        done = hosts.run("forward", *words, f"{port}:{echo.port}")
        expect(done.returncode == 0, done)
    refused(hosts, 64, "name the host", "forward", "api", "--stop")
    expect(len(forwards(hosts)) == 3, "one was ended")
    expect(hosts.run("forward", "gpu1:api", "--stop").stdout == f"Port {ports[0]} (gpu1:api) is no longer forwarded.\n".encode(), "not ended")
    expect([one["port"] for one in forwards(hosts)] == sorted(ports[1:]), "another one was ended")
    expect(hosts.run("forward", "-p", "other", "api", "--stop").stdout == f"Port {ports[2]} (gpu1:api) is no longer forwarded.\n".encode(), "not ended by its profile")
    expect([one["port"] for one in forwards(hosts)] == [ports[1]], "another one was ended")
    hosts.there("-p", "other", "stop", "api")
    echo.end()


def case_what_cannot_be_forwarded_is_said(hosts):
    hosts.settings("[hosts.gpu1]\ntimeout = 60\n")  # an attempt that takes a third of it counts as one that is led there
    hosts.there("add", hosts.path + "/work", "-t", "cold", "-c", "cat")
    hosts.there("launch", hosts.path + "/work", "-t", "api", "-c", "cat")
    port = str(free_port())
    refused(hosts, 2, "there is no host 'gpu2'", "-H", "gpu2", "forward", "api", port)
    refused(hosts, 2, "no session", "forward", "gpu1:nothing", port)
    refused(hosts, 1, "start it first: agentdeck -H gpu1 start", "forward", "gpu1:cold", port)
    refused(hosts, 1, "is on this machine", "forward", "api", port)
    for text in ("0", "70000", "3000:", "x", "3000:8080:1"):
        refused(hosts, 64, "is no port", "forward", "gpu1:api", text)
    refused(hosts, 64, "name a session and a port", "forward", "gpu1:api")
    done = hosts.run("forward", "gpu1:api", f"{port}:{free_port()}")
    expect(done.returncode == 0 and b"nothing answers at its port" in done.stdout, done)
    hosts.run("forward", "gpu1:api", "--stop")
    hosts.down()
    hosts.up("AllowTcpForwarding no")
    refused(hosts, 3, "AllowTcpForwarding", "forward", "gpu1:api", port)
    hosts.down()
    refused(hosts, UNREACHABLE, "unreachable", "forward", "gpu1:api", port)
    expect(forwards(hosts) == [] and is_free(int(port)), "a failure has left a port")


def main(module):
    if not SSHD or not all(shutil.which(name) for name in ("ssh", "ssh-keygen", "tmux")):
        print("skipped: no sshd, ssh or tmux")
        return 77
    shell = pwd.getpwuid(os.getuid()).pw_shell
    if os.path.basename(shell) in ("nologin", "false"):
        print(f"skipped: this user cannot log in ({shell})")
        return 77
    cases = {name[5:]: case for name, case in module.items() if name.startswith("case_")}
    failures = 0
    root = tempfile.mkdtemp(prefix="agentdeck-hosts-")
    try:
        for name in sys.argv[1:] or cases:
            hosts = Hosts(root)
            try:
                cases[name](hosts)
                print(f"ok {name}", flush=True)
            except Skipped as what:
                print(f"skipped {name}: {what}", flush=True)
            except (Failed, OSError, KeyError, ValueError, subprocess.SubprocessError) as failure:
                failures += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                hosts.end()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(globals()))
