# SPDX-License-Identifier: GPL-3.0-or-later
"""The real claude, which goes from this machine to an ssh host, into a Slurm job, into a Pod, and back."""
import json
import os
import subprocess

from cluster import NODE_ADDRESS
from host import LEAVE, Host, Terminal
from site_of_slurm import Site, slurm
from tools import TESTS, expect, read, wait_for, write

THERE = "/home/agent/work"
# A file of the node in the Pod: the image need not have it.
MOUNT = "            - {{name: claude, mountPath: /usr/local/bin/claude, readOnly: true}}\n"
VOLUME = "        - {{name: claude, hostPath: {{path: \"{claude}\", type: File}}}}\n"


class Journey:
    """The home of this machine's user, the stub of the model, and the Pod where claude runs, too."""

    def __init__(self, cluster, claude):
        self.cluster, self.claude = cluster, os.path.realpath(claude)
        self.home, self.stub = cluster.work + "/journey", cluster.work + "/stub"
        for path in (self.home, self.home + "/work", self.home + "/bin", self.stub):
            os.mkdir(path, 0o700)
        os.symlink(self.claude, self.home + "/bin/claude")
        cluster.start("stub", TESTS + "/helper/model-api-stub", "--address", "0.0.0.0", "--port-file", self.stub + "/port", "--log", self.stub + "/log")
        self.port = wait_for(lambda: os.path.exists(self.stub + "/port") and read(self.stub + "/port").strip(), "no stub")
        self.variables = self.variables_at(NODE_ADDRESS)
        write(self.home + "/.claude.json", self.settings(self.home + "/work"))
        self.said, self.at, self.left = [], "local", set()
        self.host = self.make_host()

    def variables_at(self, address):
        return {"ANTHROPIC_BASE_URL": f"http://{address}:{self.port}", "ANTHROPIC_AUTH_TOKEN": "stub", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1"}

    @staticmethod
    def settings(*directories):
        return json.dumps({"hasCompletedOnboarding": True, "projects": {one: {"hasTrustDialogAccepted": True} for one in directories}})

    def make_host(self):
        journey = self

        class OfClaude(Host):
            """Its client has the home of the journey."""

            def manifest(self):
                text = super().manifest()
                for after, more in (("          volumeMounts:\n", MOUNT), ("      volumes:\n", VOLUME)):
                    text = text.replace(after, after + more.format(claude=journey.claude))
                variables = "".join(f'            - {{name: {name}, value: "{value}"}}\n' for name, value in journey.variables.items())
                return text.replace("          env:\n", "          env:\n" + variables)

            def environment(self):
                own = super().environment()
                return {**own, **journey.variables, "HOME": journey.home, "PATH": f"{journey.home}/bin:{own['PATH']}"}
        host = OfClaude(self.cluster, "claude").add()
        host.inside("mkdir", "-p", THERE)
        host.inside("sh", "-c", 'cat >"$HOME/.claude.json"', input=self.settings(THERE).encode())
        return host

    def turn(self, text):
        """The request in which the user said that."""
        turns = [json.loads(line) for line in read(self.stub + "/log").splitlines()]
        return next((turn for turn in turns if turn["kind"] == "turn" and any(text in said for said in turn["texts"][-1:])), None)

    def say(self, text):
        self.host.deck("-H", self.at, "send", "trip", text)
        self.must_carry(text)

    def must_carry(self, text):
        """The request has all that was said before, once, and the answer has been written down."""
        found = wait_for(lambda: self.turn(text), lambda: f"no request with {text}: {self.host.try_deck('-H', self.at, 'session', 'output', 'trip')}")
        texts = "\n".join(found["texts"])
        expect(all(texts.count(one) == 1 for one in self.said), f"{text} has not once what was said before it: {texts}")
        wait_for(lambda: json.loads(self.host.deck("-H", self.at, "show", "trip", "--json"))["activity"] == "idle", "its turn does not end")
        self.said.append(text)

    def move(self, to, path):
        """Nothing that was left behind can start."""
        self.host.deck("-H", self.at, "stop", "trip")
        self.host.deck("session", "move", f"{self.at}:trip", "--to", to, "--path", path)
        self.left = self.left - {to} | {self.at}
        self.at = to
        for place in self.left:
            refused = self.host.try_deck("-H", place, "start", "trip")
            expect(refused.returncode == 1 and b"moved to" in refused.stderr, f"the copy at {place}: {refused}")
        self.host.deck("-H", to, "start", "trip")


def travel(cluster, claude):
    journey = Journey(cluster, claude)
    host, home, site = journey.host, journey.home + "/work", None
    host.deck("launch", home, "-t", "trip", "--agent", "claude", "-m", "first-word")
    journey.must_carry("first-word")
    if what := slurm.missing():
        print(f"the real claude goes to no Slurm: missing: {what}", flush=True)
    else:
        site = Site(journey)
    between = site.places if site else []
    for place, path in [*between, ("claude", THERE)]:
        journey.move(place, path)
        journey.say("word-at-" + place)
        terminal = Terminal(host, "attach", place + ":trip")
        terminal.wait_for(b"Ctrl-Q: leave")
        terminal.type(LEAVE)
        expect(terminal.end() == 0 and b"trip keeps running" in terminal.text, terminal.text[-2000:])
    before = host.pod()
    cluster.kubectl("delete", "pod", "claude-0")
    wait_for(lambda: host.pod() not in (before, "", "/"), "no other Pod")
    host.running()
    journey.say("word-in-the-next-Pod")
    # A session comes back the way it went.
    for place, path in [*reversed(between), ("local", home)]:
        journey.move(place, path)
    journey.say("last-word")
    host.deck("stop", "trip")
    print(f"moved: {', '.join(journey.said)}: one conversation, and no copy that is left can start", flush=True)
    if site:
        site.end()


def install():
    """The program; None: it cannot be had here."""
    cache = os.environ.get("AGENTDECK_TEST_CACHE", "/var/cache/agentdeck-tests")
    done = subprocess.run([TESTS + "/helper/install-agents", "claude", cache + "/claude"], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout.decode().strip().splitlines()[-1] if done.returncode == 0 else None
