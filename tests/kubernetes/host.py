# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that Kubernetes makes, and the terminal of its user."""
import contextlib
import glob
import json
import os
import pty
import select
import time

from image import IMAGE
from tools import DEADLINE_S, expect, read, run, wait_for

SAID = "remember me"
LEAVE = b"\x11"
VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {{name: "{name}"}}
spec:
  capacity: {{storage: 20Gi}}
  accessModes: [ReadWriteOnce]
  claimRef: {{namespace: default, name: "home-{name}-0"}}
  local: {{path: "{path}"}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [node1]}}]}}]}}}}
"""


class Host:
    """A StatefulSet that host manifest has printed, and its volume."""

    def __init__(self, cluster, name, *options):
        self.cluster, self.name, self.options = cluster, name, options
        self.volume, self.near = f"{cluster.work}/volumes/{name}", f"{cluster.work}/near/{name}"
        for path in (self.volume, self.near):
            os.mkdir(path, 0o700)
        cluster.kubectl("apply", "-f", "-", input=VOLUME.format(name=name, path=self.volume).encode())
        self.apply(self.manifest())

    def manifest(self):
        return self.deck("host", "manifest", self.name, "--kubernetes", "--image", IMAGE, *self.options)

    def apply(self, text):
        self.cluster.kubectl("apply", "-f", "-", input=text.encode())

    def environment(self):
        return {**self.cluster.environment, "AGENTDECK_HOME": self.near}

    def try_deck(self, *words):
        return run("agentdeck", *words, check=False, env=self.environment(), cwd="/tmp")

    def deck(self, *words):
        return run("agentdeck", *words, env=self.environment(), cwd="/tmp").stdout.decode()

    def there(self, *words):
        return self.deck("-H", self.name, *words)

    def add(self):
        wait_for(lambda: self.try_deck("host", "add", self.name, "--kubernetes").returncode == 0, lambda: f"not added: {self.state()}")
        return self

    def state(self):
        return self.cluster.kubectl("get", "pod,pvc", "-o", "wide", check=False).stdout.decode() + self.log() + repr(self.try_deck("host", "check", self.name))

    def engine(self):
        """What the engine says when it does not bring the Pod back."""
        events = self.cluster.kubectl("describe", "pod", self.name + "-0", check=False).stdout.decode()[-2000:]
        return events + self.cluster.in_node("ctr", "-n", "k8s.io", "tasks", "ls", check=False).stdout.decode() + self.cluster.said("kubelet") + self.cluster.said("containerd")

    def log(self):
        return self.cluster.kubectl("logs", self.name + "-0", check=False).stdout.decode()[-2000:]

    def inside(self, *words, **more):
        return self.cluster.kubectl("exec", "-i", self.name + "-0", "--", *words, **more).stdout.decode()

    def launch(self, title="one", count=1):
        self.inside("mkdir", "-p", "/home/agent/" + title)
        self.there("launch", "/home/agent/" + title, "-t", title, "-c", "agentdeck-demo-agent", "-m", SAID)
        return self.running(count)

    def sessions(self):
        done = self.try_deck("-H", self.name, "list", "--json")
        return json.loads(done.stdout or b"[]") if done.returncode == 0 else []

    def running(self, count=1, seconds=DEADLINE_S):
        """The conversation of each session, when all run."""
        def look():
            self.cluster.keep()
            found = self.sessions()
            return len(found) == count and all(one["status"] == "running" for one in found) and found
        found = wait_for(look, lambda: f"{self.name} does not run: {self.state()} {self.sessions()} {self.engine()}", seconds)
        return {one["id"]: one["session_id"] for one in found}

    def transcripts(self):
        return [read(path) for path in glob.glob(self.volume + "/.local/share/agentdeck-demo-agent/projects/*/*.jsonl")]

    def pod(self):
        return self.cluster.kubectl("get", "pod", self.name + "-0", "-o", "jsonpath={.metadata.uid}/{.status.containerStatuses[0].restartCount}", check=False).stdout.decode()

    def unreachable(self):
        done = self.try_deck("list", "-A")
        return done.stderr.decode() if done.returncode == 69 else ""


def turn(text):
    """As the stand-in agent writes down what its user said."""
    return f'"content":"{text}"'


class Terminal:
    """A command on a terminal, which a test reads and types into."""

    def __init__(self, host, *words):
        self.text = b""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.execvpe("agentdeck", ["agentdeck", *words], host.environment())

    def wait_for(self, text, since=0):
        until = time.monotonic() + DEADLINE_S
        while text not in self.text[since:]:
            expect(select.select([self.fd], [], [], max(0, until - time.monotonic()))[0], f"no {text!r} on the terminal: {self.text[-2000:]!r}")
            try:
                self.text += os.read(self.fd, 4096)
            except OSError:
                expect(text in self.text[since:], f"it ended without {text!r}: {self.text[-2000:]!r}")

    def type(self, text):
        os.write(self.fd, text)

    def leave_after(self, text):
        """It is attached again after it has said that."""
        self.wait_for(text)
        self.wait_for(b"Ctrl-Q: leave", self.text.rindex(text) + len(text))
        self.type(LEAVE)
        expect(self.end() == 0 and b"one keeps running" in self.text, self.text[-2000:])

    def end(self):
        with contextlib.suppress(OSError):
            while select.select([self.fd], [], [], DEADLINE_S)[0] and (piece := os.read(self.fd, 4096)):
                self.text += piece
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
