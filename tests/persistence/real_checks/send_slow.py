# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of `agentdeck session send`: each arrives once, whole and in its turn, or not at all."""

import time

from real_checks import check
from real_home import must
from real_machine import look_until

BOXED = {"agents": ["claude", "claude-new"], "otherwise": "its screens were compared by hand (tests/unit/screens)"}
# The agent as on a machine that has no time for it: stopped most of the time. It runs until it has used
# processor time, since this machine may have no time for it either. A starved agent must not stay stopped.
STARVE = """
used() { read -r line </proc/$0/stat && set -- ${line##*) } && echo $((${12} + ${13})); }
trap 'kill -CONT $0; exit' TERM
while kill -STOP $0; do
	sleep 0.09
	before=$(used)
	kill -CONT $0
	looks=0
	while [ $looks -lt 20 ] && [ "$(used)" = "$before" ]; do
		sleep 0.005
		looks=$((looks + 1))
	done
done"""


def begin(home):
    session = home.add()
    session.start()
    return session


def send(home, session, *words):
    return home.deck("session", "send", session.id, *words)


def must_send(home, session, text, *words):
    answer = send(home, session, *words, text)
    must(answer.returncode == 0, f"{text}: {answer.stderr}{answer.stdout}\n{session.visible()}")


def last_texts(home, count):
    turns = home.turns()
    return turns[-1]["texts"][-count:] if turns else []


def must_arrive(home, texts):
    must(look_until(lambda: last_texts(home, len(texts)) == texts, 30),
         f"{texts} became {last_texts(home, len(texts) + 2)}")


@check(**BOXED)
def send_in_a_row(home):
    """eight messages in a row to a slow agent: each arrives once, whole and in order"""
    session = begin(home)
    first, _ = session.say()
    starving = home.host.background(["timeout", "300", "sh", "-c", STARVE, str(session.show()["agent_pid"])])
    texts = [f"message {number} of eight" for number in range(1, 9)]
    try:
        for text in texts:
            must_send(home, session, text)
    finally:
        starving.kill()
        home.host.root(["pkill", "-f", "kill -STOP [$]0"])
        home.host.root(["kill", "-CONT", str(session.show()["agent_pid"])])
    must_arrive(home, [first] + texts)


@check(**BOXED)
def send_draft(home):
    """a text that the user has typed and not sent is left alone, unless it is to be replaced"""
    session = begin(home)
    session.tmux("send-keys", "-l", "--", "half a thought")
    session.wait_for("half a thought")
    answer = send(home, session, "not for now")
    must(answer.returncode == 1 and "the input box contains unsent text" in answer.stderr,
         f"{answer.returncode}: {answer.stderr}")
    must("not for now" not in session.screen(), f"it was typed:\n{session.screen()}")
    must_send(home, session, "whole", "--replace-draft")
    must_arrive(home, ["whole"])


@check(**BOXED)
def send_backslash(home):
    """messages that end or begin in the agent's own syntax arrive as they are"""
    session = begin(home)
    texts = ["C:\\", "two lines\nand C:\\", "see @", "# no heading", "open (`", "the last"]
    for text in texts:
        must_send(home, session, text)
    must_arrive(home, texts)


@check(**BOXED)
def send_views(home):
    """nothing is typed into a view that takes the keys for itself"""
    session = begin(home)
    first, _ = session.say()
    for enter, leave in ((["/config", "Enter"], ["Escape", "Escape"]), (["C-o"], ["C-o"]),
                         (["/model", "Enter"], ["Escape"])):
        for key in enter:
            session.tmux("send-keys", "--", key)
            time.sleep(2)
        answer = send(home, session, "not for now")
        session.keys(*leave)
        must(answer.returncode == 1 and "not ready: " in answer.stderr,
             f"{enter}: {answer.returncode}: {answer.stderr}{answer.stdout}\n{session.screen()}")
        time.sleep(2)
    must_send(home, session, "now")
    must_arrive(home, [first, "now"])
