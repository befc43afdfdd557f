#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-main.py - the main program of a Pod or a job, agentdeck supervise --main, in real PID namespaces

USAGE
  test-main.py [CASE...]   only these; agentdeck and its helpers are found in PATH

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux, or no PID namespace can be made
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DEADLINE_S, ORPHANS, CONNECTIONS, STRANGER = 60, 5, 64, 54321
NAMESPACES = ["--pid", "--fork", "--mount", "--mount-proc", "--kill-child"]
USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
OTHER_BOOT = "11111111-2222-4333-8444-555555555555"


class Failed(Exception):
    """What was expected, and what was there."""


class Skipped(Exception):
    """What is missing."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def wait_for(condition, what):
    until = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        expect(time.monotonic() < until, f"{what}, {DEADLINE_S} s later")
        time.sleep(0.05)
    return value


def children(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    return []


def state_of(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    return None


def blocks(pid, number):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return any(line.startswith("SigBlk") and int(line.split()[1], 16) >> (number - 1) & 1 for line in file)
    return False


def below(pid):
    """All descendants."""
    return [one for child in children(pid) for one in [child, *below(child)]]


def marked(incarnation):
    """Every process that a main program has started."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"AGENTDECK_MAIN={incarnation}".encode() in file.read().split(b"\0"):
                    found.add(int(name))
    return found


def outside(home, *words):
    """A command in another namespace, such as that of a login node."""
    return subprocess.run(["unshare", *USER, *NAMESPACES, "--", "agentdeck", *words], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)


class Home:
    """A volume: what the incarnations of one host share."""

    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)
        self.work, self.state = self.path + "/work", self.path + "/d"
        os.mkdir(self.work)
        os.mkdir(self.state, 0o700)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AGENTDECK_", "TMUX", "XDG_", "DBUS_"))}
        self.environment = {**kept, "HOME": self.path, "AGENTDECK_HOME": self.state, "TMPDIR": root}

    def record(self):
        with contextlib.suppress(OSError, ValueError):
            with open(self.state + "/main.json", encoding="utf-8") as file:
                return json.load(file)
        return {}

    def beat(self):
        with open(f"{self.state}/main-{self.record()['id']}.beat", encoding="utf-8") as file:
            return file.read().strip()

    def note(self, **members):
        record = {**self.record(), **members}
        with open(self.state + "/main.new", "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.chmod(self.state + "/main.new", 0o600)
        os.rename(self.state + "/main.new", self.state + "/main.json")


class Main:
    """A main program, as PID 1 of a namespace of its own or (is_first=False) in this one."""

    def __init__(self, home, *words, is_first=True, before=(), uid=None, fenced=True):
        self.home, self.is_first, self.uid, self.errors = home, is_first, uid, tempfile.TemporaryFile()
        earlier = home.record().get("id")
        argv = [*before, "agentdeck", "supervise", "--main", *(["--fenced"] if fenced else []), *words]
        if is_first:
            argv = ["unshare", *USER, *NAMESPACES, "--", *argv]
        self.process = subprocess.Popen(argv, env=home.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, start_new_session=True)
        wait_for(lambda: home.record().get("id") != earlier or self.process.poll() is not None, "no main program")
        expect(self.process.poll() is None, f"it ended: {self.said()}")
        self.pid = wait_for(lambda: children(self.process.pid), "no PID 1")[0] if is_first else self.process.pid
        wait_for(lambda: os.path.exists(home.record()["runtime"] + "/main.sock"), "no socket")

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def inside(self, *words, check=True):
        enter = ["nsenter", "-t", str(self.pid), "-p", "-m", *(["-U", "--preserve-credentials"] if USER else []), "--"] if self.is_first else []
        become = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"] if self.uid else []
        done = subprocess.run([*enter, *become, *words], env=self.home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        expect(done.returncode == 0 or not check, f"{words}: {done.returncode}: {done.stderr}")
        return done.stdout.decode()

    def deck(self, *words, check=True):
        return self.inside("agentdeck", *words, check=check)

    def launch(self, title="one"):
        return json.loads(self.deck("launch", self.home.work, "-t", title, "-c", "agentdeck-demo-agent", "--json", "-m", "remember me"))

    def sessions(self):
        return json.loads(self.deck("list", "--json"))

    def running(self, title="one"):
        def look():
            return [one for one in self.sessions() if one["title"] == title and one["status"] == "running"]
        return wait_for(look, f"{title} does not run: {self.said()}")[0]

    def server(self):
        return json.loads(self.deck("session", "show", "one", "--json"))["tmux"]["server_pid"]

    def wait(self):
        return self.process.wait(timeout=DEADLINE_S)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        status = self.wait()
        expect(status == 0, f"it ended with {status}: {self.said()}")


def case_a_killed_incarnation_is_followed_by_one_with_the_same_conversation(home):
    first = Main(home, "--incarnation", "pod-a")
    first.launch()
    conversation, host = first.running()["session_id"], home.record()["host"]
    first.kill()
    expect(home.record()["name"] == "pod-a", f"{home.record()}")
    second = Main(home, "--incarnation", "pod-b")
    session = second.running()
    expect(session["session_id"] == conversation, f"another conversation: {session}")
    expect(home.record()["host"] == host and home.record()["name"] == "pod-b", f"{home.record()}")
    run = json.loads(second.deck("session", "show", "one", "--json"))
    expect("resume" in json.dumps(run), f"it does not resume: {run}")
    second.end()


def case_agents_end_in_order_and_come_back(home):
    first = Main(home, "--grace", "30")
    first.launch()
    conversation, runtime = first.running()["session_id"], home.record()["runtime"]
    first.end()
    expect(home.beat() == "over", f"it is not over: {home.beat()}")
    expect(not os.path.exists(runtime), "its runtime directory is left")
    with open(f"{home.state}/logs/agentdeck.log", encoding="utf-8") as file:
        expect("ended with its host" in file.read(), "the agent was not ended in order")
    start = outside(home, "session", "start", "one")
    expect(start.returncode != 0 and b"does not belong" in start.stderr, f"a command started it outside: {start}")
    second = Main(home)
    expect(second.running()["session_id"] == conversation, "another conversation")
    second.deck("session", "stop", "one")
    second.end()
    third = Main(home)
    expect([one["status"] for one in third.sessions()] == ["stopped"], f"a stop was forgotten: {third.sessions()}")
    third.end()


def case_a_volume_that_was_opened_to_a_group_is_closed_again(home):
    first = Main(home)
    first.launch()
    conversation = first.running()["session_id"]
    first.end()
    for directory, _, _ in os.walk(home.state):
        os.chmod(directory, 0o2770)
    second = Main(home)
    expect(second.running()["session_id"] == conversation, "another conversation")
    expect(os.stat(home.state).st_mode & 0o077 == 0, "others can still write it")
    second.end()


def case_an_ordinary_host_is_not_taken_over_while_it_works(home):
    with open(home.state + "/config.toml", "w", encoding="utf-8") as file:
        file.write("[supervise]\nauto = false\n")

    def deck(*words):
        return subprocess.run(["agentdeck", *words], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    supervisor = subprocess.Popen(["agentdeck", "supervise"], env=home.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: deck("supervise", "--status").returncode == 0, "no supervisor")
        refused = deck("supervise", "--main", "--fenced")
        expect(refused.returncode == 1 and b"a supervisor" in refused.stderr, f"{refused}")
    finally:
        supervisor.terminate()
        supervisor.wait()
    launched = deck("launch", home.work, "-t", "one", "-c", "agentdeck-demo-agent")
    expect(launched.returncode == 0, f"{launched}")
    refused = deck("supervise", "--main", "--fenced")
    expect(refused.returncode == 1 and b"'one' runs" in refused.stderr and not home.record(), f"{refused}")
    expect(deck("session", "stop", "one").returncode == 0, "it does not stop")
    main = Main(home, is_first=False)
    main.deck("session", "start", "--take-over", "one")
    main.running()
    main.end()
    # The way back.
    os.unlink(home.state + "/main.json")
    started = deck("session", "start", "--take-over", "one")
    expect(started.returncode == 0, f"{started}")
    expect(deck("session", "stop", "one").returncode == 0, "it does not stop")


def case_every_orphan_is_reaped(home):
    main = Main(home)
    known = set(below(main.pid))
    # They keep no pipe open.
    script = "import os\nfor _ in range(%d):\n    if os.fork() == 0:\n        if os.fork() == 0:\n            os.closerange(0, 3)\n            os.execvp('sleep', ['sleep', '3600'])\n        os._exit(0)\n    os.wait()" % ORPHANS
    main.inside(sys.executable, "-c", script)
    orphans = wait_for(lambda: (found := set(children(main.pid)) - known) and len(found) == ORPHANS and found, "no orphans")
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not [pid for pid in orphans if state_of(pid)], "zombies are left")
    main.end()


def case_a_second_one_is_refused_while_the_first_lives(home):
    first = Main(home, "--incarnation", "pod-a")
    first.launch()
    record = home.record()
    other = subprocess.run(["unshare", *USER, *NAMESPACES, "--", "agentdeck", "supervise", "--main", "--fenced"], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    expect(other.returncode == 1 and b"another main program" in other.stderr and b"pod-a" in other.stderr, f"{other}")
    expect(home.record() == record, "it changed the record")
    look = outside(home, "session", "start", "one")
    expect(look.returncode != 0 and b"does not belong" in look.stderr, f"{look}")
    first.end()


def case_what_a_command_starts_is_in_the_tree_of_the_main_program(home):
    main = Main(home, is_first=False)
    main.launch()
    conversation = main.running()["session_id"]
    server = main.server()
    expect(server in below(main.pid), f"the server {server} is elsewhere")
    supervisor = children(main.pid)[0]
    os.kill(supervisor, signal.SIGKILL)
    wait_for(lambda: subprocess.run(["agentdeck", "supervise", "--status"], env=home.environment, check=False, stdout=subprocess.DEVNULL).returncode == 0 and not state_of(supervisor), "no supervisor again")
    expect(server in below(main.pid), "the session did not survive that")
    main.kill()
    refused = subprocess.run(["agentdeck", "launch", home.work, "-t", "two", "-c", "agentdeck-demo-agent"], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    expect(refused.returncode != 0 and b"does not answer" in refused.stderr, f"{refused}")
    expect(state_of(server), "the server ended with a main program that was not PID 1")
    earlier = home.record()["id"]
    left = marked(earlier)
    expect(server in left and len(left) > 2, f"{server} is not among what it has left: {left}")
    # Its own supervisor would hold the lock of the next one's.
    again = Main(home, is_first=False)
    expect(not marked(earlier), f"the next one in this namespace left it running: {marked(earlier)}")
    expect(again.running()["session_id"] == conversation, "another conversation")
    ours = home.record()["id"]
    again.end()
    expect(home.beat() == "over" and not marked(ours), f"it is not over: {marked(ours)}")


def case_a_record_that_proves_nothing_is_respected(home):
    first = Main(home)
    first.launch()
    first.running()
    first.kill()
    home.note(boot_id=OTHER_BOOT)
    nobody = subprocess.run(["agentdeck", "session", "start", "one"], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    expect(nobody.returncode != 0 and b"does not belong" in nobody.stderr, f"{nobody}")
    other = subprocess.run(["agentdeck", "supervise", "--main"], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    expect(other.returncode == 1 and b"--fenced" in other.stderr, f"{other}")
    Main(home).end()


def case_a_short_grace_and_one_of_no_main_program_are_refused(home):
    for words in (["--main", "--grace", "4"], ["--grace", "5"]):
        refused = subprocess.run(["agentdeck", "supervise", *words], env=home.environment, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        expect(refused.returncode == 64 and b"grace" in refused.stderr, f"{refused}")


def case_a_signal_ends_a_wait(home):
    first = Main(home, fenced=False)
    first.kill()
    home.note(boot_id=OTHER_BOOT)
    for number in (signal.SIGUSR1, signal.SIGTERM):
        with subprocess.Popen(["unshare", *USER, *NAMESPACES, "--", "agentdeck", "supervise", "--main"], env=home.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            pid = wait_for(lambda: children(process.pid), "no PID 1")[0]
            # From its start on: PID 1 loses a signal that it does not wait for. unshare(1) blocks others for a moment.
            wait_for(lambda: blocks(pid, signal.SIGUSR1), "it does not wait for the signal")
            os.kill(pid, number)
            try:
                process.wait(timeout=DEADLINE_S)
            finally:
                process.kill()
            expect(process.returncode == 0, f"{number}: {process.returncode}: {process.stderr.read()}")
    expect(home.record()["boot_id"] == OTHER_BOOT, "it took over")


def case_one_that_was_replaced_ends_its_agents(home):
    main = Main(home, fenced=False)
    main.launch()
    main.running()
    home.note(id=OTHER_BOOT)
    expect(main.wait() == 1, f"it ended otherwise: {main.said()}")
    expect("another main program" in main.said(), main.said())
    expect(home.record()["id"] == OTHER_BOOT, "it changed the other's record")


def case_the_lease_ends_the_agents_of_a_main_program_that_hangs(home):
    main = Main(home, fenced=False, is_first=False)
    main.launch()
    main.running()
    server = main.server()
    os.kill(main.pid, signal.SIGSTOP)
    home.note(id=OTHER_BOOT)
    wait_for(lambda: state_of(server) in (None, "Z"), "the agent runs on")
    os.kill(main.pid, signal.SIGCONT)
    expect(main.wait() == 1, f"it ended otherwise: {main.said()}")


def keeper_of(main):
    """The child that has executed nothing."""
    def look():
        for pid in children(main.pid):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/cmdline", "rb") as own, open(f"/proc/{main.pid}/cmdline", "rb") as its:
                    if own.read() == its.read():
                        return pid
        return None
    return wait_for(look, "no keeper")


def case_without_its_keeper_a_main_program_ends_its_agents(home):
    main = Main(home, fenced=False, is_first=False)
    main.launch()
    main.running()
    server = main.server()
    os.kill(keeper_of(main), signal.SIGKILL)
    expect(main.wait() == 1, f"it ended otherwise: {main.said()}")
    expect(state_of(server) in (None, "Z"), "the agent runs on")


def case_a_killed_renewer_is_followed_by_another(home):
    main = Main(home, fenced=False)
    keeper = keeper_of(main)
    renewer = wait_for(lambda: children(keeper), "no renewer")[0]
    before = home.beat()
    os.kill(renewer, signal.SIGKILL)
    wait_for(lambda: (now := children(keeper)) and now != [renewer] and home.beat() != before, "no other renewer")
    main.end()


def case_the_keeper_ends_what_a_killed_main_program_ran(home):
    main = Main(home, fenced=False, is_first=False)
    main.launch()
    main.running()
    server, ours = main.server(), home.record()["id"]
    main.kill()
    wait_for(lambda: state_of(server) in (None, "Z") and not marked(ours), "the agent runs on")


def case_connections_that_ask_nothing_are_dropped(home):
    main = Main(home, is_first=False)
    with contextlib.ExitStack() as stack:
        for _ in range(2 * CONNECTIONS):
            one = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            one.setblocking(False)
            try:
                one.connect(home.record()["runtime"] + "/main.sock")
            except BlockingIOError:
                break
        # It waits for its turn.
        main.launch()
        main.running()
        held = os.listdir(f"/proc/{main.pid}/fd")
        expect(len(held) < 2 * CONNECTIONS, f"it holds {len(held)} descriptors")
    main.end()


def case_it_needs_no_user_no_machine_id_and_no_writable_root(home):
    if os.geteuid() != 0:
        raise Skipped("root")
    for directory, names, files in os.walk(home.path):
        for name in [directory, *(f"{directory}/{one}" for one in names + files)]:
            os.chown(name, STRANGER, STRANGER)
    os.chmod(os.path.dirname(home.path), 0o711)
    # The volume stays writable, and so does /dev/shm; /tmp does not.
    prepare = f"mount --bind {home.path} {home.path} && mount --bind /dev/null /etc/machine-id && mount -o remount,bind,ro / && exec setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups -- \"$@\""
    before = ["sh", "-c", prepare, "sh"]
    del home.environment["TMPDIR"]
    first = Main(home, before=before, uid=STRANGER)
    expect(home.record()["runtime"].startswith("/dev/shm/"), f"{home.record()}")
    first.launch()
    conversation = first.running()["session_id"]
    first.kill()
    second = Main(home, before=before, uid=STRANGER)
    expect(second.running()["session_id"] == conversation, "another conversation")
    second.end()


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    if subprocess.run(["unshare", *USER, *NAMESPACES, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no PID namespace can be made")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failures = 0
    root = tempfile.mkdtemp(prefix="agentdeck-main-")
    mains = []
    start = Main.__init__

    def keep(self, *words, **more):
        mains.append(self)
        start(self, *words, **more)
    Main.__init__ = keep
    try:
        for name in sys.argv[1:] or cases:
            try:
                cases[name](Home(root))
                print(f"ok {name}", flush=True)
            except Skipped as what:
                print(f"skipped {name}: {what}", flush=True)
            except (Failed, OSError, KeyError, ValueError, IndexError, subprocess.SubprocessError) as failure:
                failures += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                for one in mains:
                    for pid in [*below(one.process.pid), one.process.pid]:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    one.process.wait()
                mains.clear()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
