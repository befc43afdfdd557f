# SPDX-License-Identifier: GPL-3.0-or-later
"""agentdeck session send: each message once, whole and in turn, and never into anything but the
prompt."""

import re
import time

from real_checks import check
from real_home import must
from real_machine import look_until

AGENTS = {"agents": ["claude", "claude-new", "codex"], "otherwise": "what its input box looks like is not known"}
# Views that take the keys; Escape leaves each.
VIEWS = {"claude": ["/config", "C-o"], "codex": ["/model"]}


def send(session, text, *options):
    return session.home.run(["agentdeck", "session", "send", session.id, *options, "--", text])


def said(session):
    """The user's words in each turn, in order, without those that an agent repeats after a tool."""
    return [turn["texts"][-1] for turn in session.home.turns() if turn["texts"]]


@check(**AGENTS)
def eight_sends(home):
    """eight sends in a row, and four at the same time: each is a message of its own, once; those in a row keep their order"""
    session = home.add()
    session.start()
    answer = home.run(["sh", "-c", 'for n in 1 2 3 4 5 6 7 8; do agentdeck session send "$1" "row $n end" || exit; done;'
                       'for n in 1 2 3 4; do agentdeck session send "$1" "side $n end" & done; wait', "sh", session.id])
    must(answer.returncode == 0, f"send: {answer.stderr}{answer.stdout}")
    wanted = sorted([f"row {n} end" for n in range(1, 9)] + [f"side {n} end" for n in range(1, 5)])

    def arrived():
        texts = home.turns()[-1]["texts"]
        return [word for text in texts for word in re.findall(r"(?:row|side) \d end", text)]
    look_until(lambda: len(arrived()) >= len(wanted), 30)
    must(sorted(arrived()) == wanted, f"arrived: {arrived()}")
    row = [word for word in arrived() if word.startswith("row")]
    must(row == sorted(row), f"the order is {row}")


@check(**AGENTS)
def draft(home):
    """unsent text in the box: send is refused, --replace-draft replaces it; a backslash at the end arrives"""
    session = home.add()
    session.start()
    session.say()
    session.tmux("send-keys", "-l", "--", "half a thought")
    session.wait_for("half a thought")
    answer = send(session, "the message")
    must(answer.returncode == 1 and "unsent text" in answer.stderr, f"{answer.returncode}: {answer.stderr}")
    time.sleep(2)
    must("half a thought" in session.visible() and not home.turn_with("the message"), "the draft was sent")
    answer = send(session, "the message", "--replace-draft")
    must(answer.returncode == 0, f"send --replace-draft: {answer.stderr}")
    must(look_until(lambda: home.turn_with("the message"), 20), f"it does not arrive:\n{session.screen()}")
    must(said(session)[-1] == "the message", f"arrived: {said(session)[-1]}")
    answer = send(session, "a path\\")
    must(answer.returncode == 0, f"send: {answer.stderr}")
    must(look_until(lambda: said(session)[-1] == "a path\\", 20), f"arrived: {said(session)[-1]}")


@check(**AGENTS)
def views(home):
    """a view that takes the keys: send is refused and types nothing; when it is left, a message arrives"""
    session = home.add()
    session.start()
    session.say()
    for number, opened in enumerate(VIEWS[home.agent_name]):
        if opened.startswith("/"):
            session.type_in(opened)
        else:
            session.keys(opened)
        time.sleep(2)
        answer = send(session, "into the view")
        must(answer.returncode != 0, f"sent into {opened}:\n{session.visible()}")
        must("into the view" not in session.visible(), f"typed into {opened}:\n{session.visible()}")

        def sent(n=number):
            session.keys("Escape")
            return send(session, f"behind the view {n}").returncode == 0
        must(look_until(sent, 20), f"{opened} is not left:\n{session.visible()}")
        must(look_until(lambda n=number: home.turn_with(f"behind the view {n}"), 20), "it does not arrive")
    must(not home.turn_with("into the view"), "what was refused arrived")
