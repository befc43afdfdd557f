#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-cluster.py - a host that Kubernetes has made, with tests/helper/fake-kubectl in the place of kubectl

USAGE
  test-cluster.py [CASE...]   only these; agentdeck and its helpers are found in PATH

The Pod is real as far as it can be: the main program is PID 1 of a PID namespace, and an exec enters it.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux, or no PID namespace can be made
"""
import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 120
USAGE, UNREACHABLE, UNKNOWN = 64, 69, 70
HERE = os.path.dirname(os.path.abspath(__file__))
NAMESPACES = ["--pid", "--fork", "--mount", "--mount-proc", "--kill-child"]
USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
SETTINGS = "[tmux]\nlaunch_in_user_scope = false\nlinger = false\n"
AGENTS = '[hosts.agents]\nkubernetes = "agents"\n'
LAB = 'context = "lab"\n'
UID, ANOTHER = "6f1c2a94-0b52-4a57-9a30-5d0a9a3f7c11", "11111111-2222-4333-8444-555555555555"
LEAVE = b"\x11"
HOSTILE = "\033[2J\u202e\nnext"


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
        select.select([], [], [], 0.05)
    return value


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o600)


def children(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]
    return []


def below(pid):
    return [one for child in children(pid) for one in [child, *below(child)]]


class Cluster:
    """This machine, and a cluster with the StatefulSet "agents" and its volume."""

    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)
        self.near, self.state, self.volume, self.bin = (f"{self.path}/{name}" for name in ("near", "cluster", "volume", "bin"))
        for name in (self.near, self.state, self.volume, self.volume + "/work", self.volume + "/state", self.bin):
            os.mkdir(name, 0o700)
        os.symlink(f"{HERE}/../helper/fake-kubectl", self.bin + "/kubectl")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AGENTDECK_", "TMUX", "XDG_", "DBUS_"))}
        self.environment = {**kept, "PATH": f"{self.bin}:{kept['PATH']}", "AGENTDECK_HOME": self.near, "FAKE_CLUSTER": self.state, "TERM": "xterm-256color"}
        pod = {key: kept[key] for key in ("PATH", "LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS") if key in kept}
        write(self.state + "/environment", json.dumps({**pod, "HOME": self.volume, "AGENTDECK_HOME": self.volume + "/state", "TMPDIR": root}))
        self.settings(AGENTS)

    def settings(self, text):
        write(self.near + "/config.toml", SETTINGS + text)

    def config(self):
        with open(self.near + "/config.toml", encoding="utf-8") as file:
            return file.read()

    def calls(self):
        with open(self.state + "/calls", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def replicas(self):
        with open(self.state + "/replicas", encoding="utf-8") as file:
            return file.read()

    def start(self):
        """The Pod, as the engine starts it."""
        self.kubectl("scale", "statefulset/agents", "--replicas=1")

    def kubectl(self, *words):
        subprocess.run(["kubectl", *words], env=self.environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=DEADLINE_S)

    def set(self, name, text=""):
        write(f"{self.state}/{name}", text)

    def unset(self, name):
        os.remove(f"{self.state}/{name}")

    def run(self, *words, **more):
        return subprocess.run(["agentdeck", *words], env={**self.environment, **more.pop("environment", {})}, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)

    def there(self, *words):
        done = self.run("-H", "agents", *words)
        expect(done.returncode == 0, f"{words}: {done}")
        return done.stdout

    def refused(self, status, told, *words, **more):
        done = self.run(*words, **more)
        message = (done.stderr + done.stdout).decode()
        expect(done.returncode == status and told in message, f"{words}: exit {done.returncode} instead of {status}, without '{told}': {message}")
        expect("\033" not in message, f"an escape sequence: {message!r}")
        return message

    def launch(self):
        return json.loads(self.there("launch", self.volume + "/work", "-t", "talk", "-c", "agentdeck-demo-agent", "--json", "-m", "remember me"))

    def inside(self):
        """The words before a command in the mount namespace of the Pod."""
        with open(self.state + "/pid", encoding="utf-8") as file:
            [first] = children(int(file.read()))
        return ["nsenter", "-t", str(first), "-m", *(["-U", "--preserve-credentials"] if USER else []), "--"]

    def end(self):
        for name in ("cut", "hang", "status"):
            with contextlib.suppress(OSError):
                self.unset(name)
        with contextlib.suppress(OSError), open(self.state + "/pid", encoding="utf-8") as file:
            pid = int(file.read())
            for one in [*below(pid), pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)


class Terminal:
    """A command on a terminal, which a test reads and types into."""

    def __init__(self, cluster, *words):
        self.text = b""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.execvpe("agentdeck", ["agentdeck", *words], cluster.environment)

    def wait_for(self, text, since=0):
        deadline = time.monotonic() + DEADLINE_S
        while text not in self.text[since:]:
            expect(select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0], f"no {text!r} on the terminal: {self.text[since:]!r}")
            try:
                self.text += os.read(self.fd, 4096)
            except OSError:
                expect(text in self.text[since:], f"it ended without {text!r}: {self.text[since:]!r}")

    def type(self, text):
        os.write(self.fd, text)

    def end(self):
        with contextlib.suppress(OSError):
            while select.select([self.fd], [], [], DEADLINE_S)[0] and (piece := os.read(self.fd, 4096)):
                self.text += piece
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def case_a_pod_is_a_host(cluster):
    cluster.settings("")
    cluster.start()
    done = cluster.run("host", "add", "agents", "--kubernetes", "--json")
    expect(done.returncode == 0, done)
    added = json.loads(done.stdout)
    expect((added["kind"], added["ssh"], added["kubernetes"], added["context"], added["namespace"], added["uid"]) == ("kubernetes", None, "agents", "lab", "team", UID), added)
    expect(f'[hosts.agents]\nkubernetes = "agents"\ncontext = "lab"\nnamespace = "team"\nuid = "{UID}"\nmachine_id = "{added["machine_id"]}"\n' in cluster.config(), cluster.config())
    cluster.launch()
    [one] = json.loads(cluster.there("list", "--json"))
    expect(one["title"] == "talk" and one["via"] == "agents" and one["via_machine_id"] == added["machine_id"], one)
    called = ["--context=lab", "--namespace=team", "exec", "-i", "agents-0", "-c", "main", "--", "agentdeck", "serve", "--stdio"]
    expect(called in cluster.calls(), f"no {called} in {cluster.calls()}")
    check = cluster.run("host", "check", "agents")
    expect(check.returncode == 0 and b"logout" not in check.stdout, check)
    expect(b"kubernetes lab/team/agents" in cluster.run("host", "list").stdout, "host list")


def case_the_next_pod_is_the_same_host(cluster):
    cluster.start()
    cluster.settings("")
    expect(cluster.run("host", "add", "agents", "--kubernetes").returncode == 0, "host add")
    cluster.launch()
    conversation = json.loads(cluster.there("list", "--json"))[0]["session_id"]
    cluster.refused(1, "agents (kubernetes lab/team/agents) would be stopped", "host", "stop", "agents")
    ran = cluster.run("host", "start", "agents")
    expect(ran.returncode == 0 and b"has replicas 1 already" in ran.stdout, ran)
    expect(not any("scale" in call and "--replicas=0" in call for call in cluster.calls()), "it was scaled without a yes")
    cluster.set("replicas", "3")
    cluster.refused(1, "Expected replicas to be 1, was 3", "host", "stop", "agents", "--force")
    cluster.set("replicas", "1")
    stopped = json.loads(cluster.run("host", "stop", "agents", "--force", "--json").stdout)
    expect(stopped["success"] and stopped["replicas"] == 0, stopped)
    [one] = json.loads(cluster.run("host", "list", "--json").stdout)
    expect(one["problem"] == "scaled to 0" and one["unreachable_since_at"], one)
    message = cluster.refused(UNREACHABLE, "agents is unreachable (since ", "list", "-A")
    expect("): scaled to 0\n" in message, message)
    [one] = json.loads(cluster.run("host", "check", "--json").stdout)
    expect(one["problem"].endswith("): scaled to 0") and not one["is_reachable"], one)
    expect(os.path.isdir(cluster.volume + "/state"), "the volume is gone")
    started = cluster.run("host", "start", "agents")
    expect(started.returncode == 0 and b"agentdeck host check agents" in started.stdout, started)
    expect(json.loads(cluster.run("host", "list", "--json").stdout)[0]["problem"] is None, "it is still stopped")
    running = wait_for(lambda: [one for one in json.loads(cluster.there("list", "--json")) if one["status"] == "running"], "the session is not resumed")
    expect(running[0]["session_id"] == conversation, f"another conversation: {running}")


def case_another_statefulset_of_the_name_is_not_scaled(cluster):
    cluster.start()
    cluster.settings("")
    expect(cluster.run("host", "add", "agents", "--kubernetes").returncode == 0, "host add")
    expect(json.loads(cluster.run("host", "list", "--json").stdout)[0]["uid"] == UID, "host list")
    before = cluster.config()
    for uid, told in ((ANOTHER, f"another StatefulSet than before: its uid is {ANOTHER}, and config.toml has {UID}"), ("", "Kubernetes has no StatefulSet agents")):
        cluster.set("uid", uid)
        for words in (("stop", "agents", "--force"), ("start", "agents")):
            message = cluster.refused(1, told, "host", *words)
            expect(not uid or "agentdeck host add agents --again" in message, message)
    cluster.set("uid", ANOTHER)
    expect(not any("scale" in call and "statefulset/agents" in call and "--current-replicas" in " ".join(call) for call in cluster.calls()), f"it was scaled: {cluster.calls()}")
    # It was replaced after it was looked at.  A change of another kind, such as of its status, is no reason.
    cluster.set("uid", UID)
    cluster.set("meanwhile", ANOTHER)
    cluster.refused(1, f"another StatefulSet than before: its uid is {ANOTHER}", "host", "stop", "agents", "--force")
    expect(cluster.replicas() == "1", "the other one was scaled")
    cluster.set("uid", UID)
    cluster.set("meanwhile", UID)
    expect(cluster.run("host", "stop", "agents", "--force").returncode == 0, "a change of the status was a reason")
    cluster.run("host", "start", "agents")
    cluster.set("uid", ANOTHER)
    # Its user says that it is right.
    expect(cluster.run("host", "add", "agents", "--again").returncode == 0 and cluster.config() == before.replace(UID, ANOTHER), cluster.config())
    expect(cluster.run("host", "stop", "agents", "--force").returncode == 0, "host stop")
    cluster.set("hang")
    cluster.settings(before[before.index("[hosts"):] + "timeout = 1\n")
    cluster.refused(UNREACHABLE, "agents: nothing was changed: kubectl", "host", "start", "agents")
    cluster.unset("hang")
    # A Pod alone, or one of another kind, has no StatefulSet to know again.
    cluster.set("replicas", "1")
    cluster.start()
    cluster.settings("")
    cluster.set("uid", "")
    cluster.refused(1, "Kubernetes has no StatefulSet agents: name its Pod: pod/agents-0", "host", "add", "agents", "--kubernetes")
    done = cluster.run("host", "add", "agents", "pod/agents-0", "--kubernetes", "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["uid"] is None, done)


def case_attach_ends_when_the_pod_says_so(cluster):
    cluster.start()
    cluster.launch()
    terminal = Terminal(cluster, "attach", "agents:talk")
    terminal.wait_for(b"Ctrl-Q")
    # The kubelet dies: kubectl ends with 0, and attach runs on there.
    lost = len(terminal.text)
    cluster.set("cut")
    terminal.wait_for(b"agents does not answer (since ", lost)
    back = len(terminal.text)
    cluster.unset("cut")
    terminal.wait_for(b"Ctrl-Q", back)
    terminal.type(b"second\r")
    terminal.wait_for(b"> second", back)
    clients = subprocess.run(["tmux", "-S", json.loads(cluster.there("show", "talk", "--json"))["tmux"]["socket"], "list-clients"], check=False, stdout=subprocess.PIPE).stdout.splitlines()
    expect(len(clients) <= 1, f"{clients}")
    terminal.type(LEAVE)
    expect(terminal.end() == 0 and b"talk keeps running" in terminal.text[back:], terminal.text[back:])
    [shown] = [call for call in cluster.calls() if "-it" in call][:1]
    expect("TERM=xterm-256color" in shown and shown[shown.index("--"):][1] == "env", shown)
    # Its own exit status is that of the command there.
    terminal = Terminal(cluster, "-H", "agents", "attach", "no-such")
    expect(terminal.end() == 2 and b"no-such" in terminal.text, terminal.text)


def case_an_exec_that_ends_with_0_in_the_middle_proves_nothing(cluster):
    cluster.start()
    cluster.launch()
    with subprocess.Popen(["agentdeck", "-H", "agents", "events", "--json"], env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as events:
        expect(events.stdout.readline(), "no event")
        cluster.set("cut")
        expect(events.wait(DEADLINE_S) == UNREACHABLE, f"events: {events.returncode}")
    cluster.unset("cut")
    ended = f"{cluster.path}/ended"
    with subprocess.Popen(["agentdeck", "-H", "agents", "exec", "talk", "--", "sh", "-c", f"until test -e {ended}; do sleep 0.1; done; exit 3"],
                          env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as program:
        wait_for(lambda: any("exec" in call and "talk" in call for call in cluster.calls()), "no exec")
        cluster.set("cut")
        message = program.stderr.read().decode()
        expect(program.wait(DEADLINE_S) == UNKNOWN and "what it has done is unknown" in message, f"exec: {program.returncode}: {message}")
    cluster.unset("cut")
    write(ended, "")
    done = cluster.run("-H", "agents", "exec", "talk", "--", "sh", "-c", "echo said; exit 3")
    expect(done.returncode == 3 and done.stdout == b"said\n", done)
    done = cluster.run("-H", "agents", "exec", "talk", "--", "sh", "-c", "exit 255")
    expect(done.returncode == 255 and b"agentdeck: " not in done.stderr, done)


def case_a_refusal_of_the_pod_is_no_lost_link(cluster):
    cluster.start()
    cluster.launch()
    for status, told, words in ((2, b"no-such", ("-p", "no-such", "attach", "talk")), (64, b"no-such", ("attach", "--no-such", "talk"))):
        terminal = Terminal(cluster, "-H", "agents", *words)
        expect((ended := terminal.end()) == status and told in terminal.text and b"reconnecting" not in terminal.text, f"{words}: {ended}: {terminal.text}")


def runs(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return b"kubectl" in file.read()
    return False


def must_end_with(pid):
    """Its kubectl does, when it is killed."""
    started = wait_for(lambda: [one for one in children(pid) if runs(one)], "no kubectl")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not any(map(runs, started)), "it left its kubectl behind")


def case_a_command_that_is_killed_leaves_no_kubectl(cluster):
    cluster.start()
    cluster.launch()
    terminal = Terminal(cluster, "attach", "agents:talk")
    terminal.wait_for(b"Ctrl-Q")
    must_end_with(terminal.process)
    terminal.end()
    cluster.settings(AGENTS + LAB)
    for hang, words in ((False, ("-H", "agents", "exec", "talk", "--", "sleep", "1000")), (True, ("-H", "agents", "list")), (True, ("host", "start", "agents"))):
        if hang:
            cluster.set("hang")
        with subprocess.Popen(["agentdeck", *words], env=cluster.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
            must_end_with(command.pid)


def decks():
    """Where agentdeck looks for the program of the deck: beside itself, and where it is installed."""
    program = shutil.which("agentdeck")
    with open(program, "rb") as file:
        installed = re.findall(rb"\0(/[\w./-]+/libexec/agentdeck)\0", file.read())
    return [f"{directory}/agentdeck-ui" for directory in (os.path.dirname(program), *map(os.fsdecode, installed))]


def case_a_pod_without_the_deck_lists_its_sessions(cluster):
    cluster.start()
    cluster.launch()
    for deck in filter(os.path.exists, decks()):
        subprocess.run([*cluster.inside(), "mount", "--bind", "/dev/null", deck], check=True)
    terminal = Terminal(cluster, "-H", "agents", "ui")
    expect((ended := terminal.end()) == 0 and b"talk" in terminal.text, f"{ended}: {terminal.text}")


def case_the_end_of_a_deck_or_wall_is_told_by_the_pod(cluster):
    if not os.path.exists(decks()[0]):
        raise Skipped("a build with the deck")
    cluster.start()
    cluster.launch()
    for words, shown in ((("ui",), b"talk"), (("wall",), b"talk")):
        terminal = Terminal(cluster, "-H", "agents", *words)
        terminal.wait_for(shown)
        terminal.type(b"q")
        expect((ended := terminal.end()) == 0, f"{words}: {ended}: {terminal.text}")
        terminal = Terminal(cluster, "-H", "agents", *words)
        terminal.wait_for(shown)
        cluster.set("cut")
        ended = terminal.end()
        cluster.unset("cut")
        expect(ended == UNREACHABLE and b"agents: its kubectl has ended" in terminal.text, f"{words}, cut: {ended}: {terminal.text[-300:]}")


def case_attach_needs_no_room_on_the_volume(cluster):
    cluster.start()
    cluster.launch()
    there = f"{cluster.volume}/state/once"
    os.makedirs(there, mode=0o700, exist_ok=True)
    inside = cluster.inside()
    subprocess.run([*inside, "mount", "-t", "tmpfs", "-o", "size=4k,mode=0700", "tmpfs", there], check=True)
    subprocess.run([*inside, "dd", "if=/dev/zero", f"of={there}/full", "bs=4096", "count=1"], check=True, stderr=subprocess.DEVNULL)
    expect(b"No space left" in cluster.run("-H", "agents", "set", "talk", "title", "other").stderr, "the volume is not full")
    terminal = Terminal(cluster, "attach", "agents:talk")
    terminal.wait_for(b"Ctrl-Q")
    terminal.type(LEAVE)
    expect((ended := terminal.end()) == 0 and b"talk keeps running" in terminal.text and b"reconnecting" not in terminal.text, f"{ended}: {terminal.text}")
    done = cluster.run("-H", "agents", "exec", "talk", "--", "sh", "-c", "exit 3")
    expect(done.returncode == 3, done)


def case_a_pod_that_has_just_started_is_no_other_machine(cluster):
    cluster.start()
    cluster.settings("")
    expect(cluster.run("host", "add", "agents", "--kubernetes").returncode == 0, "host add")
    inside = cluster.inside()
    for path in filter(os.path.exists, ("/etc/machine-id", "/var/lib/dbus/machine-id")):
        subprocess.run([*inside, "mount", "--bind", "/dev/null", path], check=True)
    record = cluster.volume + "/state/main.json"
    os.rename(record, record + ".later")
    cluster.refused(UNREACHABLE, "does not know who it is yet", "-H", "agents", "set", "talk", "title", "other")
    os.rename(record + ".later", record)
    cluster.launch()


def case_kubernetes_says_why_a_host_is_not_there(cluster):
    def status(text, message=None, more=None):
        cluster.set("status", json.dumps({"phase": "Pending", **(more or {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]})}))
        found = cluster.refused(UNREACHABLE, f"): {text}\n", "list", "-A")
        expect(json.loads(cluster.run("host", "list", "--json").stdout)[0]["problem"] == text, "host list")
        return found
    status("Pending: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu", "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: none helps.")
    status("Pending: \\033[2J\\342\\200\\256; next", HOSTILE)
    waiting = [{"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\""}}}]
    status("Pending: ImagePullBackOff: Back-off pulling image \"x\"", more={"containerStatuses": [{"name": "other"}, *waiting]})
    status("CrashLoopBackOff", more={"phase": "Running", "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})
    status("Failed: Evicted", more={"phase": "Failed", "reason": "Evicted"})
    for odd in ({"containerStatuses": 7, "conditions": [1, None]}, {"containerStatuses": [{"name": "main", "state": []}], "reason": {}}):
        status("Pending", more=odd)
    cluster.unset("status")
    cluster.set("replicas", "0")
    cluster.refused(UNREACHABLE, "): scaled to 0\n", "-H", "agents", "list")
    # What the deck reads.
    cluster.refused(UNREACHABLE, "): scaled to 0", "-H", "agents", "events", "--json")
    cluster.settings('[hosts.agents]\nkubernetes = "others"\n')
    cluster.refused(UNREACHABLE, "): Kubernetes has no StatefulSet others\n", "-H", "agents", "list")
    cluster.settings('[hosts.agents]\nkubernetes = "pod/others"\n')
    cluster.refused(UNREACHABLE, "): Kubernetes has no pod/others\n", "-H", "agents", "list")
    cluster.refused(1, "only a StatefulSet is scaled", "host", "stop", "agents", "--force")


def case_a_cluster_that_does_not_answer(cluster):
    cluster.settings(AGENTS + 'context = "gone"\n')
    cluster.refused(UNREACHABLE, '): kubectl: error: context "gone" does not exist\n', "-H", "agents", "list")
    cluster.refused(1, 'agents: kubectl: error: context "gone" does not exist', "host", "stop", "agents", "--force")
    cluster.settings(AGENTS + 'namespace = "gone"\n')
    cluster.refused(UNREACHABLE, 'namespaces "gone" not found', "-H", "agents", "list")
    cluster.settings(AGENTS + "timeout = 1\n")
    cluster.set("hang")
    cluster.refused(UNREACHABLE, "kubectl", "-H", "agents", "list")
    cluster.settings(AGENTS + LAB + "timeout = 1\n")
    cluster.refused(UNKNOWN, "whether it was scaled is unknown: agentdeck host check agents", "host", "start", "agents")
    cluster.unset("hang")
    os.remove(cluster.bin + "/kubectl")
    if not shutil.which("kubectl", path=cluster.environment["PATH"]):
        cluster.refused(UNREACHABLE, "kubectl is not installed here", "-H", "agents", "list")
        cluster.settings(AGENTS + LAB)
        cluster.refused(1, "kubectl is not installed here", "host", "start", "agents")


def case_only_a_place_that_stays_is_added_and_scaled(cluster):
    cluster.refused(1, "host add agents --again --context", "host", "stop", "agents", "--force")
    cluster.refused(1, "host add agents --again --context", "host", "start", "agents")
    cluster.start()
    cluster.settings("")
    cluster.set("no-context")
    cluster.refused(1, "add --context", "host", "add", "agents", "--kubernetes")
    expect("hosts.agents" not in cluster.config(), "it was added")
    cluster.refused(UNREACHABLE, 'context "a b \\"c\\"" does not exist'.replace("\\", ""), "host", "add", "agents", "--kubernetes", "--context", 'a b "c"')


def case_what_does_not_work_there_is_said(cluster):
    for told, words in (("kubectl makes one for each command", ("host", "login", "agents")), ("kubectl port-forward", ("forward", "agents:talk", "3000"))):
        cluster.refused(1, told, *words)
    cluster.settings("[hosts.gpu1]\n")
    cluster.refused(1, "only a StatefulSet is scaled", "host", "stop", "gpu1", "--force")
    cluster.refused(1, "only a StatefulSet is scaled", "host", "start", "gpu1")


def case_a_manifest_has_what_was_said_and_no_more(cluster):
    words = ("host", "manifest", "agents", "--kubernetes")
    full = cluster.run(*words, "--image", "registry.example/agents:1", "--disk", "5Gi", "--cpus", "500m", "--memory", "8Gi", "--namespace", "team")
    expect(full.returncode == 0 and not full.stderr, full)
    text = full.stdout.decode()
    for line in ('  name: "agents"', '  namespace: "team"', '          image: "registry.example/agents:1"', '              cpu: "500m"', '              memory: "8Gi"',
                 '        resources: {requests: {storage: "5Gi"}}', '      automountServiceAccountToken: false', '        runAsNonRoot: true', '            allowPrivilegeEscalation: false',
                 '            readOnlyRootFilesystem: true', '            capabilities: {drop: [ALL]}'):
        expect(text.count(line + "\n") >= 1, f"no {line!r} in {text}")
    with contextlib.suppress(ImportError):
        import yaml
        pod = yaml.safe_load(text)["spec"]["template"]["spec"]
        expect(pod["containers"][0]["command"][:3] == ["agentdeck", "supervise", "--main"] and pod["containers"][0]["resources"]["limits"] == {"memory": "8Gi"}, pod)
    expect("replicas" not in text, "kubectl apply would undo host stop")
    few = cluster.run(*words, "--image", "a").stdout.decode()
    expect("namespace" not in few and "          resources" not in few and '"20Gi"' in few, few)
    dockerfile = cluster.run(*words, "--dockerfile", "--image", "debian:13").stdout.decode()
    expect(dockerfile.startswith("FROM debian:13\n") and "USER 1000:1000\n" in dockerfile, dockerfile)
    expect("\nUSER root\n" in dockerfile and "recommends" not in dockerfile and "getent passwd 1000" in dockerfile, dockerfile)
    for value in ("", "a\nb", 'a"', "$(x)", "-a", "a: b", "{}", "\033[2J"):
        for option in ("--image", "--disk", "--cpus", "--memory", "--namespace"):
            cluster.refused(USAGE, option, *words, "--image", "a", f"{option}={value}")
    for value in ("1e", "1e3Gi", "1e+-3", "1 e3", "Gi", "1.", "0", "0.0Gi", "0e3", "4x", "+4"):
        cluster.refused(USAGE, "--disk", *words, "--image", "a", "--disk", value)
    for value in ("1e3", "12E6", "1.5e+9", "5e-1", "1E", "100u", "100n"):
        expect(f'              cpu: "{value}"\n' in cluster.run(*words, "--image", "a", "--cpus", value).stdout.decode(), value)
    for name in ("Agents", "1a", "a.b", "a" * 53, "a\n", ""):
        cluster.refused(USAGE, "", "host", "manifest", "--kubernetes", "--image", "a", "--", name)
    cluster.refused(USAGE, "--image", *words)
    cluster.refused(USAGE, "--kubernetes", "host", "manifest", "agents", "--image", "a")
    expect(not os.path.exists(cluster.state + "/calls"), "kubectl was called")


def case_values_that_lead_elsewhere_are_refused(cluster):
    cluster.settings("")
    for words in (("a;b",), ("Agents",), ("-n",), ("a/b",), ("a..b",), ("pod/",), ("x" * 64,), ("agents", "--context", ""), ("agents", "--context", "a\nb"), ("agents", "--namespace", "a.b"),
                  ("agents", "--namespace", ""), ("agents", "--program", "~/agentdeck")):
        cluster.refused(USAGE, "", "host", "add", "one", "--kubernetes", *words)
    cluster.refused(USAGE, "--context and --namespace need --kubernetes", "host", "add", "one", "--context", "lab")
    expect(not os.path.exists(cluster.state + "/calls"), "kubectl was called")
    for text in ('ssh = "a"\nkubernetes = "b"', 'kubernetes = "$(x)"', 'kubernetes = "a"\nnamespace = "A"', 'kubernetes = "a"\nprogram = "~/a"', 'kubernetes = "a"\nforward_agent = true', 'forward_agent = 1', "kubernetes = 7"):
        cluster.settings(f"[hosts.one]\n{text}\n")
        expect(cluster.run("config", "check").returncode != 0, f"config.toml may have {text}")
    cluster.settings(AGENTS)
    cluster.refused(1, "there is a host 'agents' (kubernetes agents)", "host", "add", "agents", "--kubernetes")
    cluster.settings("[hosts.agents]\n")
    cluster.refused(USAGE, "agentdeck host remove agents", "host", "add", "agents", "--kubernetes", "--again")


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    if subprocess.run(["unshare", *USER, *NAMESPACES, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no PID namespace can be made")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failures = 0
    root = tempfile.mkdtemp(prefix="agentdeck-cluster-")
    try:
        for name in sys.argv[1:] or cases:
            cluster = Cluster(root)
            try:
                cases[name](cluster)
                print(f"ok {name}", flush=True)
            except Skipped as what:
                print(f"skipped {name}: {what}", flush=True)
            except (Failed, OSError, KeyError, ValueError, IndexError, subprocess.SubprocessError) as failure:
                failures += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                cluster.end()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
