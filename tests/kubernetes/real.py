# SPDX-License-Identifier: GPL-3.0-or-later
"""The real claude, which goes from this machine into a Pod and back."""
import json
import os
import subprocess

from cluster import NODE_ADDRESS
from host import Host
from tools import TESTS, expect, read, wait_for, write

THERE = "/home/agent/work"
# A file of the node in the Pod: the image need not have it.
MOUNT = "            - {{name: claude, mountPath: /usr/local/bin/claude, readOnly: true}}\n"
VOLUME = "        - {{name: claude, hostPath: {{path: \"{claude}\", type: File}}}}\n"


class Journey:
    def __init__(self, cluster, claude):
        self.cluster, self.claude = cluster, os.path.realpath(claude)
        self.home, self.stub = cluster.work + "/journey", cluster.work + "/stub"
        for path in (self.home, self.home + "/work", self.home + "/bin", self.stub):
            os.mkdir(path, 0o700)
        os.symlink(self.claude, self.home + "/bin/claude")
        cluster.start("stub", TESTS + "/helper/model-api-stub", "--address", NODE_ADDRESS, "--port-file", self.stub + "/port", "--log", self.stub + "/log")
        port = wait_for(lambda: os.path.exists(self.stub + "/port") and read(self.stub + "/port").strip(), "no stub")
        self.variables = {"ANTHROPIC_BASE_URL": f"http://{NODE_ADDRESS}:{port}", "ANTHROPIC_AUTH_TOKEN": "stub", "DISABLE_AUTOUPDATER": "1",
                          "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1"}
        write(self.home + "/.claude.json", self.settings(self.home + "/work"))
        self.host = self.make_host()

    @staticmethod
    def settings(directory):
        return json.dumps({"hasCompletedOnboarding": True, "projects": {directory: {"hasTrustDialogAccepted": True}}})

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

    def must_carry(self, show, text, *before):
        """The request has all that was said before, once, and the answer has been written down."""
        found = wait_for(lambda: self.turn(text), f"no request with {text}")
        texts = "\n".join(found["texts"])
        expect(all(texts.count(one) == 1 for one in before), f"{text} has not once what was said before it: {texts}")
        wait_for(lambda: json.loads(show("show", "trip", "--json"))["activity"] == "idle", "its turn does not end")


def travel(cluster, claude):
    journey = Journey(cluster, claude)
    host, deck, there = journey.host, journey.host.deck, journey.host.there
    deck("launch", journey.home + "/work", "-t", "trip", "--agent", "claude", "-m", "first-word")
    journey.must_carry(deck, "first-word")
    deck("stop", "trip")
    deck("session", "move", "trip", "--to", "claude", "--path", THERE)
    there("start", "trip")
    there("send", "trip", "second-word")
    journey.must_carry(there, "second-word", "first-word")
    before = host.pod()
    cluster.kubectl("delete", "pod", "claude-0")
    wait_for(lambda: host.pod() not in (before, "", "/"), "no other Pod")
    host.running()
    there("send", "trip", "third-word")
    journey.must_carry(there, "third-word", "first-word", "second-word")
    there("stop", "trip")
    deck("session", "move", "claude:trip", "--to", "local", "--path", journey.home + "/work")
    refused = host.try_deck("-H", "claude", "start", "trip")
    expect(refused.returncode != 0, f"the copy in the Pod starts: {refused}")
    deck("start", "trip")
    deck("send", "trip", "fourth-word")
    journey.must_carry(deck, "fourth-word", "first-word", "second-word", "third-word")
    deck("stop", "trip")


def install():
    """The program; None: it cannot be had here."""
    cache = os.environ.get("AGENTDECK_TEST_CACHE", "/var/cache/agentdeck-tests")
    done = subprocess.run([TESTS + "/helper/install-agents", "claude", cache + "/claude"], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout.decode().strip().splitlines()[-1] if done.returncode == 0 else None
