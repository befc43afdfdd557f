# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversations that claude itself moves to another directory."""

import json
import time

from real_checks import check
from real_home import must

CLAUDE = {"agents": ["claude", "claude-new"], "otherwise": "it keeps its conversations where they began"}


def stands_in(home, session):
    pid = session.show()["agent_pid"]
    return home.host.root(["readlink", "-n", f"/proc/{pid}/cwd"]).stdout


def must_stand_in(home, session, directory):
    must(stands_in(home, session) == directory, f"it stands in {stands_in(home, session)}, not in {directory}")


@check(**CLAUDE)
def cd(home):
    """/cd, with and without a turn behind it, /clear behind it; killed each time: the next request carries the turns"""
    session = home.add()
    session.start()
    first, _ = session.say()
    other = f"{home.path}/other"
    session.type_in(f"/cd {other}")
    session.wait_for("Moved to")
    time.sleep(1)
    session.kill_and_start()
    second, turn = session.say()
    session.must_carry(turn, first)
    must_stand_in(home, session, other)
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, first)
    session.must_carry(turn, second)
    work = f"{home.path}/work"
    session.type_in(f"/cd {work}")
    time.sleep(2)
    session.type_in("/clear")
    time.sleep(3)
    new, turn = session.say()
    session.must_not_carry(turn, first)
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, new)
    must_stand_in(home, session, work)


def worktrees(home):
    return sorted(home.host.user(["ls", f"{home.path}/work/.claude/worktrees"]).stdout.split())


def make_repository(home):
    script = 'cd "$1" && git init -q && git -c user.email=a@b -c user.name=n commit -q --allow-empty -m begin'
    answer = home.host.user(["sh", "-c", script, "sh", f"{home.path}/work"])
    must(answer.returncode == 0, f"git: {answer.stderr}")
    settings = json.loads(home.read(".claude.json"))
    settings["projects"][f"{home.path}/work"] = {"hasTrustDialogAccepted": True}
    home.write(".claude.json", json.dumps(settings))


def live_in_a_worktree(home, words, name):
    make_repository(home)
    session = home.add(*words)
    session.start()
    made = worktrees(home)
    must(len(made) == 1 and name in ("", made[0]), f"worktrees: {made}")
    session.kill_and_start()
    must(worktrees(home) == made, f"killed before the first turn: {worktrees(home)}, not {made}")
    must_stand_in(home, session, f"{home.path}/work/.claude/worktrees/{made[0]}")
    first, _ = session.say()
    session.kill_and_start()
    second, turn = session.say()
    session.must_carry(turn, first)
    session.stop()
    session.start()
    _, turn = session.say()
    session.must_carry(turn, first)
    session.must_carry(turn, second)
    must(worktrees(home) == made, f"{worktrees(home)}, not {made}")
    must_stand_in(home, session, f"{home.path}/work/.claude/worktrees/{made[0]}")


@check(**CLAUDE)
def worktree(home):
    """-w makes one worktree, and the session comes back in it"""
    live_in_a_worktree(home, ["-w"], "")


@check(**CLAUDE)
def worktree_of_a_name(home):
    """the same of -w NAME"""
    live_in_a_worktree(home, ["-w", "feature"], "feature")


@check(**CLAUDE)
def renamed(home):
    """its directory is renamed, and set: 2.1.330 finds the conversation, 2.1.197 with a copy, and nothing is begun anew"""
    session = home.add()
    session.start()
    first, _ = session.say()
    before = session.show()["claude_session_id"]
    session.kill()
    new = f"{home.path}/renamed"
    home.host.user(["mv", f"{home.path}/work", new])
    answer = home.deck("session", "set", session.id, "path", new)
    must(answer.returncode == 0, f"session set path: {answer.stderr}")
    answer = home.deck("session", "start", session.id)
    must(session.show()["claude_session_id"] == before, "the conversation has another id")
    if answer.returncode:
        must("does not find its conversation" in answer.stderr, answer.stderr)
        must(home.name == "claude", f"{home.name} does not find it: {answer.stderr}")
        session.stop()
        answer = home.deck("session", "set", session.id, "path", new, "--copy-transcript")
        must("was copied to" in answer.stdout, f"no copy: {answer.stdout}{answer.stderr}")
    else:
        session.shown = session.show()
        session.wait_ready()
        _, turn = session.say()
        session.must_carry(turn, first)
        session.kill()
    session.start()
    must_stand_in(home, session, new)
    _, turn = session.say()
    session.must_carry(turn, first)


@check(**CLAUDE)
def continue_by_hand(home):
    """a turn by hand, then --continue in a new session: it goes on with that; a second session may not, a copy may"""
    answer = home.run(["sh", "-c", 'cd "$1/work" && exec claude -p "said by hand"', "sh", home.path])
    must(answer.returncode == 0, f"claude -p: {answer.stderr}")
    session = home.add("--continue")
    session.start()
    _, turn = session.say()
    session.must_carry(turn, "said by hand")
    session.kill_and_start()
    first, turn = session.say()
    session.must_carry(turn, "said by hand")
    answer = home.deck("add", f"{home.path}/work", "-t", "second", "-c", "claude -c")
    must(answer.returncode and "session fork" in answer.stderr, f"{answer.returncode}: {answer.stderr}")
    answer = home.deck("launch", f"{home.path}/work", "-c", "claude -p 'say it'")
    must(answer.returncode and "answers once" in answer.stderr, f"{answer.returncode}: {answer.stderr}")
    copy = home.add("--continue", "--fork-session", title="copy")
    copy.start()
    second, turn = copy.say()
    copy.must_carry(turn, first)
    copy.kill_and_start()
    _, turn = copy.say()
    copy.must_carry(turn, second)
    _, turn = session.say()
    session.must_not_carry(turn, second)
