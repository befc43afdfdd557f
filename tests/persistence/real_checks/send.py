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


@check(agents=["claude", "claude-new"], otherwise="its queue was not looked at")
def send_wait(home):
    """--wait to an agent that works prints the reply to this message"""
    session = home.add()
    session.start()
    must(send(session, "first stub:wait=4000").returncode == 0, f"send:\n{session.visible()}")
    answer = send(session, "second stub:wait=2000", "--wait")
    must(answer.returncode == 0 and "last=second" in answer.stdout, f"{answer.returncode}: {answer.stderr}{answer.stdout}")


@check(agents=["claude", "claude-new", "codex"], otherwise="a pasted ! is no command, or was compared by hand")
def send_shell(home):
    """a command for the agent's shell: refused before it is typed, and sent with --raw; the next message arrives"""
    session = home.add()
    session.start()
    session.say()
    answer = send(session, "!echo not-raw")
    must(answer.returncode == 1 and "--raw" in answer.stderr, f"{answer.returncode}: {answer.stderr}")
    must("not-raw" not in session.visible(), f"it was typed:\n{session.visible()}")
    answer = send(session, "!echo raw-$((6 * 7))", "--raw")
    must(answer.returncode == 0, f"send --raw: {answer.stderr}\n{session.visible()}")
    session.wait_for("raw-42", 20)
    answer = send(session, "behind the command")
    must(answer.returncode == 0, f"send: {answer.stderr}\n{session.visible()}")
    must(look_until(lambda: home.turn_with("behind the command"), 20), f"it does not arrive:\n{session.screen()}")


@check(agents=["gemini", "qwen", "copilot"], otherwise="it has the same box in its permissive mode, or none")
def send_permissive(home):
    """a message arrives in the agent's permissive mode, and right after a restart"""
    session = home.add("--allow-all-tools" if home.name == "copilot" else "--yolo")
    session.start()
    for number in range(3):
        answer = send(session, f"permitted {number}")
        must(answer.returncode == 0, f"send: {answer.stderr}\n{session.visible()}")
        must(look_until(lambda n=number: home.turn_with(f"permitted {n}"), 20), f"it does not arrive:\n{session.screen()}")
        home.run(["agentdeck", "session", "restart", session.id])


@check(agents=["gemini", "qwen", "copilot", "opencode", "pi", "cn", "codex"], otherwise="the others do more")
def send_box(home):
    """a line, two lines, paragraphs, many lines, a long one, a backslash arrive whole; a draft is left alone"""
    session = home.add()
    session.start()
    texts = ["a line", "two\nlines", "one\n\nand\n\n\nanother paragraph", "\n".join(f"row {n}" for n in range(30)),
             "word " * 180 + "end", "two \\ and one\\", "long " * 240 + "end\\"]
    for text in texts:
        answer = send(session, text)
        must(answer.returncode == 0, f"send: {answer.stderr}\n{session.visible()}")
        wanted = text.split()

        # Agents also ask on their own account.
        def arrived(words=wanted):
            return any(found.split() == words for found in said(session))
        must(look_until(arrived, 20), f"arrived: {said(session)[-2:]}\n{session.visible()}")
        time.sleep(1)
    session.tmux("send-keys", "-l", "--", "half a thought")
    session.wait_for("half a thought")
    answer = send(session, "the message")
    must(answer.returncode == 1 and "unsent text" in answer.stderr, f"{answer.returncode}: {answer.stderr}")
    must("half a thought" in session.visible() and not home.turn_with("the message"), "the draft was sent")
