# SPDX-License-Identifier: GPL-3.0-or-later
"""What agentdeck says during and after turns of which the agent does not report all."""

from real_checks import check
from real_machine import Failure, look_until

WORDS = {"claude": ["--permission-mode", "default"], "codex": ["-a", "on-request"]}

TASK = ('{"description":"task","run_in_background":true,"subagent_type":"general-purpose",'
        '"prompt":"stub:wait=9000"}')


def must_stay(session, activity, seconds):
    if look_until(lambda: session.activity() != activity, seconds):
        raise Failure(f"it is {session.activity()}, not {activity}:\n{session.visible()}")


@check(agents=["claude", "claude-new", "codex"], otherwise="its screen is not compared")
def interrupted(home):
    """it is idle after Esc in a turn"""
    session = home.add(*WORDS[home.agent_name])
    session.start()
    session.ask(f"{session.marker()} stub:wait=60000")
    session.must_become("busy")
    session.wait_for("esc to interrupt")
    session.keys("Escape")
    session.must_become("idle")


@check(agents=["claude-new", "codex"], otherwise="its queue was not looked at, or it reports its prompt only later")
def queued(home):
    """it is busy from a prompt to the end of the one that was queued behind it"""
    session = home.add(*WORDS[home.agent_name])
    session.start()
    session.ask(f"{session.marker()} stub:wait=6000")
    session.must_become("busy")
    second = session.marker()
    session.type_in(f"{second} stub:wait=6000")
    look_until(lambda: session.activity() != "busy" or home.turn_with(second), 40)
    if not home.turn_with(second):
        raise Failure(f"it is {session.activity()} before the queued prompt:\n{session.visible()}")
    must_stay(session, "busy", 4)
    session.must_become("idle")


@check(agents=["claude", "claude-new"], otherwise="it has no agents in the background")
def turns(home):
    """it is busy with a draft in its box, and while an agent works in the background; a full context is named"""
    session = home.add(*WORDS[home.agent_name])
    session.start()
    session.ask(f"{session.marker()} stub:wait=12000")
    session.tmux("send-keys", "-l", "--", "a draft")
    session.wait_for("^❯.a draft")
    must_stay(session, "busy", 5)
    session.keys("C-u")
    session.must_become("idle", 30)
    # The first wait is that of the turn itself.
    session.ask(f"{session.marker()} stub:wait=1 stub:tool=Agent:{TASK}")
    session.wait_for("Waiting for 1 background agent")
    must_stay(session, "busy", 5)
    session.must_become("idle", 30)
    session.type_in(f"{session.marker()} stub:full")

    def reason():
        return next(entry["reason"] for entry in home.deck_json("list") if entry["id"] == session.id)

    if not look_until(lambda: reason() == "failed: context full", 30):
        raise Failure(f"{reason()}:\n{session.visible()}")
