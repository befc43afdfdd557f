# SPDX-License-Identifier: GPL-3.0-or-later
"""One agent in its own home, and the sessions there: the tools of the checks of real-agents."""

import json
import os
import re
import shlex
import subprocess
import time
import uuid

from real_catalog import AGENTS
from real_machine import LOOK_AGAIN_S, PATIENCE_S, PREFIX, TESTS, USER, Failure, look_until

ENTER_AGAIN_S, STEADY_S = 3, 1
# It reaches the test host itself.
SSH = """#!/bin/sh
exec /usr/bin/ssh -i "$HOME/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile="$HOME/known" \\
    -o HostName="$(sed -n 's/^ListenAddress //p' /etc/ssh/sshd_config)" -o Port="$(sed -n 's/^Port //p' /etc/ssh/sshd_config)" "$@"
"""


class Home:
    """name: the agent's in real_catalog. Each check has its own home, with its own state of
    agentdeck and its own stub. "work" and "other" are directories that the agent trusts."""

    def __init__(self, host, name, check, program):
        self.host, self.name, self.program = host, name, program
        self.agent = AGENTS[name]
        self.agent_name = self.agent.agent or name
        self.path = f"/home/{USER}/{name}.{check}"
        self.variables, self.files, self.stub, self.number, self.model = {}, {}, None, 0, None

    # -- in there

    def environment(self):
        words = {"HOME": self.path, "PATH": f"{self.path}/bin:{PREFIX}/bin:/usr/local/bin:/usr/bin:/bin",
                 "LANG": "C.UTF-8", "COLORTERM": "truecolor", **self.variables}
        return ["env"] + [f"{name}={value}" for name, value in words.items()]

    def run(self, argv, **more):
        return self.host.user(self.environment() + argv, **more)

    def write(self, path, text, mode="0600"):
        path = f"{self.path}/{path}"
        script = 'mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$2" "$1"'
        answer = self.host.user(["sh", "-c", script, "sh", path, mode], text=text)
        if answer.returncode:
            raise Failure(f"{path} cannot be written: {answer.stderr}")

    def read(self, path):
        return self.host.user(["cat", f"{self.path}/{path}"]).stdout

    def deck(self, *words):
        """Run agentdeck in a new login, as its user would: the finished process."""
        return self.host.login(self.environment() + ["agentdeck", *words])

    def deck_json(self, *words):
        answer = self.deck(*words, "--json")
        try:
            data = json.loads(answer.stdout)
        except ValueError:
            data = None
        if answer.returncode or data is None:
            raise Failure(f"agentdeck {' '.join(words)}: {answer.returncode}: {answer.stderr}{answer.stdout}")
        return data

    def add(self, *words, title=None, directory="work", options=()):
        """Add a session without starting it. words: the user's own for the agent. options: of
        agentdeck add."""
        words = [word.replace("~", self.path) for word in self.agent.words] + list(words)
        title = title or self.name
        answer = self.deck("add", f"{self.path}/{directory}", "-t", title, "--agent", self.agent_name, "--json",
                           *options, *(["--"] + words if words else []))
        if answer.returncode:
            raise Failure(f"add: {answer.stderr}{answer.stdout}")
        return Session(self, json.loads(answer.stdout)["id"])

    def log(self):
        """The log of agentdeck."""
        return self.read(".local/state/agentdeck/logs/agentdeck.log")

    def processes(self):
        """The processes of this home, without the stub."""
        script = ('for d in /proc/[0-9]*; do tr "\\0" "\\n" <"$d/environ" 2>/dev/null | grep -qx "HOME=$1" &&'
                  ' echo "${d#/proc/} $(tr "\\0" " " <"$d/cmdline")"; done; :')
        lines = self.host.root(["sh", "-c", script, "sh", self.path]).stdout.splitlines()
        return [line for line in lines if "model-api-stub" not in line and len(line.split()) > 1]

    # -- what the model was sent

    def turns(self):
        """The turns that reached the stub, oldest first; tests/helper/model-api-stub describes the
        members."""
        lines = (json.loads(line) for line in self.read("stub.log").splitlines())
        return [line for line in lines if line["kind"] == "turn"]

    def turn_with(self, text):
        """The turn in which the user said that."""
        return next((turn for turn in self.turns() if any(text in said for said in turn["texts"][-1:])), None)

    # -- its life

    def begin(self):
        self.host.user(["mkdir", "-p"] + [f"{self.path}/{name}" for name in ("bin", "work", "other")])
        with open(os.path.join(TESTS, "helper", "model-api-stub"), encoding="utf-8") as file:
            self.write("model-api-stub", file.read(), "0700")
        # The pid must be the one inside.
        self.stub = self.host.background(self.environment() + [
            "sh", "-c", 'echo $$ >"$HOME/stub.pid"; exec "$@"', "sh", f"{self.path}/model-api-stub",
            "--port-file", f"{self.path}/stub.port", "--log", f"{self.path}/stub.log"])
        port = look_until(lambda: self.read("stub.port").strip(), 20)
        if not port:
            raise Failure("the stub does not start")
        self.settle(f"http://127.0.0.1:{port}")
        self.entry = self.deck_json("agents", "show", self.agent_name)

    def settle(self, model):
        """The agent, which asks the model at this address."""
        self.model = model
        self.variables, self.files = self.agent.prepare(self.path, model)
        for path, text in self.files.items():
            self.write(path, text)
        self.host.user(["ln", "-s", self.program, f"{self.path}/bin/{self.agent_name}"])
        node = os.path.join(os.path.dirname(self.program), "node")
        if os.path.exists(node):
            self.host.user(["ln", "-s", node, f"{self.path}/bin/node"])

    def elsewhere(self, name):
        """Another home, with the same agent and model. Here it is the home of the user on the host
        of that name, which ssh reaches."""
        far = Home(self.host, self.name, name, self.program)
        far.path, far.entry, far.turns = f"{self.path}/{name}", self.entry, self.turns
        self.host.user(["mkdir", "-p"] + [f"{far.path}/{directory}" for directory in ("bin", "work")])
        far.settle(self.model)
        # What a login there has.
        far.write(".bash_profile", "".join(f"export {word}\n" for word in map(shlex.quote, far.environment()[1:])))
        far.write("bin/there", f"#!/bin/bash\n. {far.path}/.bash_profile\nexec agentdeck \"$@\"\n", "0700")
        self.write(".config/agentdeck/config.toml", f'[hosts.{name}]\ntimeout = 30\nprogram = "{far.path}/bin/there"\n')
        self.write("bin/ssh", SSH, "0700")
        answer = self.run(["sh", "-c", 'ssh-keygen -q -t ed25519 -N "" -f "$HOME/key" && cat "$HOME/key.pub" >>"$(getent passwd "$(id -u)" | cut -d: -f6)/.ssh/authorized_keys"'])
        if answer.returncode:
            raise Failure(f"no key: {answer.stderr}")
        return far

    def forget(self):
        """As if neither the agent nor agentdeck had ever run here."""
        names = (f".{self.agent_name}", ".local/state/agentdeck")
        self.host.user(["rm", "-rf"] + [f"{self.path}/{name}" for name in names])
        for path, text in self.files.items():
            self.write(path, text)

    def end(self):
        """End it, so that it takes no processor time from the others."""
        if not self.stub:
            return
        self.host.user(["kill", self.read("stub.pid").strip()])
        try:
            self.stub.wait(timeout=30)
        except subprocess.TimeoutExpired:  # the way into the host, not the stub
            self.stub.kill()
            self.stub.wait()
        pids = [line.split()[0] for line in self.processes()]
        if pids:
            self.host.root(["kill", "-9", *pids])


class Session:
    """One session of agentdeck, and its pane."""

    def __init__(self, home, identifier):
        self.home, self.id, self.shown = home, identifier, None

    # -- agentdeck

    def show(self):
        """session show --json: the manifest's data, with the present state."""
        answer = self.home.run(["agentdeck", "session", "show", self.id, "--json"])
        if answer.returncode:
            raise Failure(f"session show: {answer.stderr}")
        return json.loads(answer.stdout)

    def manifest(self):
        return json.loads(self.home.read(f".local/state/agentdeck/default/{self.id}/instance.json"))

    def start(self):
        """Returns when the agent shows its prompt."""
        result = self.home.deck_json("session", "start", self.id)
        if not result.get("success"):
            raise Failure(f"session start: {json.dumps(result)}")
        self.shown = self.show()
        self.wait_ready()

    def activity(self):
        """The agent's activity according to agentdeck: "idle", "busy", "waiting" or "unknown"."""
        return self.show()["activity"]

    def must_become(self, activity, patience=20):
        if not look_until(lambda: self.activity() == activity, patience):
            raise Failure(f"it is {self.activity()}, not {activity}:\n{self.visible()}")

    def stop(self):
        answer = self.home.deck("session", "stop", self.id, "--json")
        if answer.returncode:
            raise Failure(f"session stop: {answer.stderr}{answer.stdout}")

    def kill(self):
        """kill -9 of the tmux server, as in a crash."""
        pids = [self.show()["tmux"]["server_pid"]]
        self.home.host.root(["sh", "-c", "kill -9 \"$@\"; while kill -0 \"$1\" 2>/dev/null; do sleep 0.05; done", "sh",
                             *map(str, pids)])

    def kill_and_start(self):
        self.kill()
        self.start()

    # -- its pane

    def tmux(self, *words):
        return self.home.run(["tmux", "-S", self.shown["tmux"]["socket"], *words])

    def screen(self):
        """With what has scrolled off."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-").stdout

    def visible(self):
        return self.tmux("capture-pane", "-p").stdout

    def keys(self, *names):
        """Press keys one by one, by their tmux names: "Left", "Enter", "C-o"."""
        for name in names:
            self.tmux("send-keys", "--", name)
            time.sleep(0.5)

    def wait_for(self, text, patience=PATIENCE_S):
        """Wait until the visible screen matches it, a regular expression."""
        if not look_until(lambda: re.search(text, self.visible(), re.M), patience):
            raise Failure(f"'{text}' is not on the screen:\n{self.screen()}")

    def is_ready(self):
        lines = self.visible().splitlines()
        for question, keys in self.home.agent.dialogs:
            if any(question in line for line in lines):
                self.keys(*keys)
                return False
        return any(re.search(pattern, line) for pattern in self.home.entry["ready"] for line in lines)

    def wait_ready(self):
        if not look_until(self.is_ready):
            raise Failure(f"{self.home.name} never gets ready:\n{self.screen()}")
        # Some show their prompt before they take keys.
        time.sleep(STEADY_S)

    def type_in(self, text):
        """Type it and send it. Some take an Enter too soon after a paste for a part of it."""
        self.tmux("send-keys", "-l", "--", text)
        if not look_until(lambda: text in self.screen(), 20):
            self.tmux("send-keys", "-l", "--", text)
        time.sleep(0.5)
        self.tmux("send-keys", "--", "Enter")

    # -- turns

    def marker(self):
        self.home.number += 1
        return f"marker {self.home.name} {self.home.number} {uuid.uuid4().hex[:8]}"

    def ask(self, text):
        """Type it and send it, until it has reached the model. Returns the request to the model."""
        self.type_in(text)
        turn = None
        for _ in range(PATIENCE_S // ENTER_AGAIN_S):
            turn = look_until(lambda: self.home.turn_with(text), ENTER_AGAIN_S)
            if turn:
                break
            self.tmux("send-keys", "--", "Enter")
        if not turn:
            raise Failure(f"{self.home.name} asks its model nothing:\n{self.screen()}")
        return turn

    def say(self):
        """A turn with a marker: (marker, the request to the model)."""
        marker = self.marker()
        turn = self.ask(marker)
        if not look_until(lambda: f"stub reply {turn['reply']}:" in self.screen()):
            raise Failure(f"{self.home.name} does not show the reply:\n{self.screen()}")
        # By then it is on disk; earlier a kill would lose it.
        time.sleep(STEADY_S)
        return marker, turn

    def must_carry(self, turn, marker):
        if not carried(turn, marker):
            raise Failure(f"'{marker}' is not in the request: {json.dumps(turn['texts'])}\n"
                          f"{json.dumps(self.show(), indent=1)}")

    def must_not_carry(self, turn, marker):
        if carried(turn, marker):
            raise Failure(f"'{marker}' is in the request: {json.dumps(turn['texts'])}")


def carried(turn, marker):
    return any(marker in text for text in turn["texts"])


def must(condition, text):
    if not condition:
        raise Failure(text)
