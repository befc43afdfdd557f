# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the chaos test and their order: a seed gives a plan."""

import random

# How often each happens, in the test host and in the virtual machine.
WEIGHTS = {
    "start": (10, 2), "stop": (7, 1), "restart": (6, 1), "send": (20, 4), "rename": (3, 1), "clear": (7, 1), "exit": (6, 1),
    "kill-server": (6, 0), "kill-agent": (6, 0), "kill-many": (4, 1), "strike": (7, 1), "kill-supervisor": (5, 0),
    "kill-helpers": (5, 1), "kill-command": (9, 2), "race": (7, 0), "freeze": (4, 0), "logout": (3, 0), "full": (4, 1),
    "manager": (3, 0), "reboot": (3, 0), "power": (5, 9), "clock": (3, 1), "pick": (4, 1), "edit": (5, 1), "lose": (3, 0),
    "work": (12, 0), "bin": (8, 0), "container": (6, 0), "kill-inside": (8, 0), "eject": (3, 0), "engine": (4, 0),
}


# What these have to themselves, in the test host: the virtual machine has no git and no engine.
TREES = {4: "worktree", 6: "clone", 8: "worktree", 10: "clone"}
PLACES = {8: "docker", 10: "podman"}


def name_of(index):
    return f"s{index:02d}"


def policy_of(index):
    return {0: "always", 1: "always", 2: "no"}.get(index, "default")


def is_confirmed(index):
    return index == 3


def runs_first(index):
    return index % 4 != 3 or is_confirmed(index)


def directory_of(index):
    """Some instances share a directory."""
    return f"/home/deck/d{index // 2 * 2 if index in (5, 7, 9) else index}"


# ---- the plan: the same seed, the same steps ----------------------------------------------------------------------


class Plan:
    """The steps, chosen by a guess of what will run by then: the plan does not know what really
    runs."""

    def __init__(self, seed, count, instances, supervised, is_vm):
        self.random = random.Random(f"agentdeck-{seed}")
        self.supervised, self.up = supervised, [runs_first(index) for index in range(instances)]
        weights = {name: pair[is_vm] for name, pair in WEIGHTS.items() if supervised or name != "kill-supervisor"}
        self.steps = []
        for _ in range(count):
            action = self.random.choices(list(weights), list(weights.values()))[0]
            self.steps.append((action, *getattr(self, "plan_" + action.replace("-", "_"))()))

    def pick(self, running):
        fitting = [index for index, up in enumerate(self.up) if up == running]
        return self.random.choice(fitting or range(len(self.up)))

    def one(self, running, after=None):
        index = self.pick(running)
        if after is not None:
            self.up[index] = after
        return index

    def chance(self, probability):
        return self.random.random() < probability

    def milliseconds(self, most):
        return round(self.random.uniform(0, 1) ** 2 * most)

    def commands(self, count):
        """Verbs and instances for commands that run meanwhile."""
        chosen = []
        for _ in range(self.random.randint(0, count)):
            verb = self.random.choice(["start", "stop", "restart"])
            index = self.one(verb == "stop", verb != "stop")
            chosen.append((verb, index))
        return chosen

    def plan_start(self):
        return (self.one(False, True),)

    def plan_stop(self):
        return self.one(True, False), self.chance(0.4)

    def plan_restart(self):
        return self.one(True, True), self.chance(0.4)

    def plan_send(self):
        return (self.one(True),)

    plan_clear = plan_send

    def plan_rename(self):
        return (self.random.randrange(len(self.up)),)

    def plan_exit(self):
        index = self.one(True)
        self.up[index] = policy_of(index) == "always"
        return (index,)

    def killed(self, index):
        self.up[index] = not (self.supervised and policy_of(index) == "no")
        return index

    def plan_kill_server(self):
        index = self.killed(self.one(True))
        # (a dead one may leave anything: the next start ends it)
        return index, policy_of(index) != "no" and self.chance(0.4)

    plan_kill_agent = plan_kill_server

    def plan_kill_many(self):
        running = [index for index, up in enumerate(self.up) if up]
        chosen = self.random.sample(running, min(len(running), self.random.randint(2, 8)))
        return [self.killed(index) for index in chosen], self.random.choice(["server", "agent"])

    def plan_strike(self):
        return self.killed(self.one(True)), self.random.choice(["server", "agent"]), self.milliseconds(400)

    def plan_kill_helpers(self):
        return self.commands(3), self.milliseconds(120)

    def plan_kill_supervisor(self):
        """Some others die, too, while no supervisor can see it."""
        count = self.random.choice([0, 0, 1, 2, 3])
        running = [index for index, up in enumerate(self.up) if up]
        return [self.killed(index) for index in self.random.sample(running, min(len(running), count))],

    def plan_kill_command(self):
        verb, most = self.random.choice([("start", 80), ("start", 80), ("stop", 60), ("restart", 120), ("send", 250)])
        index = self.one(verb != "start", {"stop": False, "send": None}.get(verb, True))
        return verb, index, self.milliseconds(most)

    def plan_race(self):
        verbs = self.random.choices(["start", "stop", "restart", "send"], k=self.random.randint(2, 3))
        index = self.one(self.chance(0.5), verbs[-1] != "stop")
        return index, verbs

    def plan_freeze(self):
        return self.one(True), self.milliseconds(400), self.random.choice([[], ["list"], ["start"], ["show"]])

    def plan_logout(self):
        return (self.one(False, True),)

    def plan_full(self):
        actions = []
        for _ in range(self.random.randint(2, 4)):
            action = self.random.choice(["start", "stop", "restart", "send", "kill-server", "kill-agent", "exit"])
            actions.append((action, self.outside(action != "start")))
        return (actions,)

    def plan_manager(self):
        return self.commands(2), self.milliseconds(100)

    def plan_reboot(self):
        return self.commands(2), self.milliseconds(100)

    plan_power = plan_reboot

    def plan_pick(self):
        taker = self.one(True)
        others = [index for index in range(len(self.up)) if index != taker]
        return self.killed(taker), self.random.choice(others), self.random.choice(["server", "agent"])

    def plan_edit(self):
        what = self.random.choice(["directory", "socket", "server", "pane", "unit", "note"])
        # (a start that finds it running writes nothing, so the file would keep the forged text)
        verb = self.random.choice(["stop", "restart"] + ["start"] * (what in ("server", "pane", "note")))
        index = self.random.randrange(len(self.up))
        self.up[index] = verb != "stop"
        return index, what, self.random.randrange(len(self.up)), verb

    def plan_lose(self):
        running = [index for index, up in enumerate(self.up) if up]
        return self.random.sample(running, min(len(running), self.random.randint(1, 3))), self.chance(0.4)

    def with_tree(self):
        return self.random.choice([index for index in TREES if index < len(self.up)] or [0])

    def plan_work(self):
        return self.with_tree(), self.random.choice(["file", "commit", "stash"])

    def plan_bin(self):
        """Removed and brought back; some commands are killed."""
        index = self.with_tree()
        self.up[index] = False
        return index, self.milliseconds(150) if self.chance(0.4) else None

    def outside(self, running):
        """One on the host.  dockerd that cannot store the state of a container it has started says for ever that
        this one has exited."""
        index = self.pick(running)
        return index if index not in PLACES else 0

    def in_container(self):
        return self.random.choice([index for index in PLACES if index < len(self.up)] or [0])

    def plan_container(self):
        """Behind agentdeck's back."""
        return self.in_container(), self.random.choice(["stop", "kill", "rm", "restart"])

    def plan_kill_inside(self):
        return self.in_container(), self.random.choice(["capsule", "view", "view", "agent", "server"])

    def plan_eject(self):
        index = self.in_container()
        self.up[index] = False
        return index, self.milliseconds(300) if self.chance(0.5) else None

    def plan_engine(self):
        what = self.random.choice(["restart", "kill", "hang"])
        return self.random.choice(list(PLACES.values())), what, self.milliseconds(1000), self.commands(2)

    def plan_clock(self):
        """Mostly back; then a command that reads the clock."""
        running = [index for index, up in enumerate(self.up) if up]
        chosen = self.random.sample(running, min(len(running), self.random.randint(0, 3)))
        return self.random.choice([-86400, -7200, -3600, -90, -1, 3600]), [self.killed(index) for index in chosen]
