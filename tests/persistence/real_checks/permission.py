# SPDX-License-Identifier: GPL-3.0-or-later
"""The activity that agentdeck shows while an agent asks for a permission, and after it."""

from real_checks import check
from real_machine import Failure, look_until

WORDS = {"claude": ["--permission-mode", "default"], "codex": ["-a", "on-request"]}


@check(agents=["claude", "claude-new", "codex", "qwen"], otherwise="it does not report what it does")
def permission(home):
    """it waits while it asks for a permission, works when it has it, and is idle at its prompt"""
    session = home.add(*WORDS.get(home.agent_name, []))
    session.start()
    session.ask(f"{session.marker()} stub:run=curl+-m+1+http://127.0.0.1:1/ stub:wait=4000")
    # qwen thinks about it for a quarter of a minute.
    session.must_become("waiting", 60)
    # The answer to the tool's result takes a while, in which the agent works.
    look_until(lambda: session.keys("Enter") or session.activity() != "waiting", 20)
    session.must_become("busy", 3)
    session.must_become("idle")
    # Some report only a moment later that they wait for their user.
    if look_until(lambda: session.activity() != "idle", 4):
        raise Failure(f"it is {session.activity()} at its prompt:\n{session.visible()}")
