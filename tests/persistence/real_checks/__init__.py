# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of real-agents: every module in this directory is searched for them.

A check is a function with a home (real_home.Home) that raises a Failure.  Its name, with "-" for
"_", is the argument of --check; --list shows the first line of its comment:

    @check(agents=["claude", "claude-new"], otherwise="it has no /cd")
    def cd(home):
        \"""After /cd and a kill the conversation comes back.\"""
        session = home.add("--model", "opus")
        session.start()
        said, _ = session.say()
        session.type_in("/cd ../other")
        ...
        session.kill_and_start()
        _, turn = session.say()
        session.must_carry(turn, said)

Each check gets its own home and runs beside the others.  The steps of a Story share a home, one
after the other.
"""

import importlib
import pkgutil

STORIES = []


class Check:
    def __init__(self, function, agents, otherwise):
        self.function, self.agents, self.otherwise = function, agents, otherwise
        self.name = function.__name__.replace("_", "-")
        self.summary = (function.__doc__ or "").strip().split("\n")[0]

    def reason_against(self, name, agent):
        """Why it does not apply to the agent; None: it does."""
        if self.name in agent.not_applicable:
            return agent.not_applicable[self.name]
        return None if self.agents is None or name in self.agents else self.otherwise


class Story:
    def __init__(self, name, slow=()):
        self.name, self.checks, self.slow = name, [], slow
        STORIES.append(self)

    def step(self, function, agents=None, otherwise="it is about other agents"):
        self.checks.append(Check(function, agents, otherwise))
        return function

    def until(self, names):
        """The steps that must run for those; [] if none of them is in it. names: empty means
        all."""
        wanted = [i for i, check in enumerate(self.checks) if not names or check.name in names]
        return self.checks[:wanted[-1] + 1] if wanted else []


def check(agents=None, otherwise="it is about other agents", slow=()):
    """agents: those that it applies to (all); otherwise: why not to the others; slow: agents that a
    short run leaves out."""
    def add(function):
        return Story(function.__name__.replace("_", "-"), slow).step(function, agents, otherwise)
    return add


def load():
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    STORIES.sort(key=lambda story: story.name != "life")
    return STORIES
