# SPDX-License-Identifier: GPL-3.0-or-later
"""The conversation of a session after a fork, a restart in place, an agent inside the agent, and in
another home."""

import uuid

from real_checks import check
from real_home import Session, must
from real_machine import look_until

CLAUDES = ["claude", "claude-new"]


def identifier(session):
    return session.show().get(f"{session.home.agent_name}_session_id")


@check(agents=CLAUDES + ["codex"], otherwise="it cannot copy a conversation")
def fork(home):
    """a fork, killed before and after its first turn, comes back as itself, and so does its parent"""
    parent = home.add()
    parent.start()
    before, _ = parent.say()
    copy = Session(home, home.deck_json("session", "fork", parent.id)["id"])
    copy.shown = copy.show()
    copy.wait_ready()
    copy.kill_and_start()
    in_copy, turn = copy.say()
    copy.must_carry(turn, before)
    in_parent, _ = parent.say()
    must(identifier(copy) != identifier(parent), "the fork is in its parent's conversation")
    copy.kill_and_start()
    parent.kill_and_start()
    _, turn = copy.say()
    copy.must_carry(turn, in_copy)
    copy.must_not_carry(turn, in_parent)
    _, turn = parent.say()
    parent.must_carry(turn, in_parent)
    parent.must_not_carry(turn, in_copy)


@check(agents=CLAUDES, otherwise="it makes the copy, or it cannot copy a conversation")
def fork_point(home):
    """a fork that is killed before its first turn does not get what was said to its parent meanwhile"""
    parent = home.add()
    parent.start()
    before, _ = parent.say()
    copy = Session(home, home.deck_json("session", "fork", parent.id)["id"])
    copy.shown = copy.show()
    copy.wait_ready()
    later, _ = parent.say()
    copy.kill_and_start()
    _, turn = copy.say()
    copy.must_carry(turn, before)
    copy.must_not_carry(turn, later)
    must(identifier(copy) != identifier(parent), "the fork is in its parent's conversation")


@check(agents=CLAUDES, otherwise="it does not execute itself in place")
def in_place(home):
    """/tui before the first turn: another id in the same process; what follows comes back after a kill"""
    session = home.add()
    session.start()
    first, agent = identifier(session), session.show()["agent_pid"]
    # Switch to its other renderer.
    session.type_in("/tui default" if home.name == "claude-new" else "/tui fullscreen")
    must(look_until(lambda: "counts from its first turn" in home.log()), f"no other id:\n{session.screen()}")
    session.wait_ready()
    said, _ = session.say()
    must(session.show()["agent_pid"] == agent, "it is another process")
    must(identifier(session) != first, f"it is in conversation {first} still")
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, said)


@check(agents=CLAUDES, otherwise="it has no /branch, or says nothing of it before the next turn")
def branch(home):
    """/branch, and a kill before the next turn: the branch comes back, not its original"""
    session = home.add()
    session.start()
    said, _ = session.say()
    original = identifier(session)
    session.type_in("/branch")
    must(look_until(lambda: identifier(session) != original), f"it is in its original:\n{session.screen()}")
    branched = identifier(session)
    session.kill_and_start()
    must(identifier(session) == branched, f"it came back in {identifier(session)}")
    _, turn = session.say()
    session.must_carry(turn, said)


@check(agents=["codex"], otherwise="its word for it is /clear, or it has none")
def new(home):
    """/new, which it reports as a startup: what follows comes back, and nothing from before"""
    session = home.add()
    session.start()
    old, _ = session.say()
    session.type_in("/new")
    said, turn = session.say()
    session.must_not_carry(turn, old)
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, said)
    session.must_not_carry(turn, old)


@check(agents=CLAUDES, otherwise="its hooks are not given to an agent that it starts")
def nested(home):
    """a claude that claude's shell starts, with the same hooks, moves nothing"""
    session = home.add()
    session.start()
    said, _ = session.say()
    before, inside = identifier(session), str(uuid.uuid4())
    argv = session.manifest()["run"]["attempts"][0]["argv"]
    settings = argv[argv.index("--settings") + 1]
    for flag in ("--session-id", "--resume"):
        session.type_in(f"!claude --settings {settings} {flag} {inside} -p 'inside {flag}'")
        must(look_until(lambda f=flag: home.turn_with(f"inside {f}")), f"none answers:\n{session.screen()}")
        must(look_until(lambda: f"SessionStart of {inside} ignored" in home.log()), f"no report:\n{home.log()}")
    must(identifier(session) == before, "the session is in the inner one's conversation")
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, said)


@check(agents=CLAUDES + ["codex", "qwen", "pi"], otherwise="agentdeck cannot pack its conversations")
def export(home):
    """exported, and imported into a home that has nothing of it: the next request carries the turn"""
    session = home.add()
    session.start()
    said, _ = session.say()
    before = identifier(session)
    session.stop()
    file = f"{home.path}/session.tar"
    home.deck_json("session", "export", session.id, file, "--remove")
    home.forget()
    moved = Session(home, home.deck_json("session", "import", file)["id"])
    moved.start()
    must(identifier(moved) == before, "it has another conversation")
    _, turn = moved.say()
    moved.must_carry(turn, said)


def git(home, directory, *words):
    answer = home.run(["git", "-C", f"{home.path}/{directory}", "-c", "user.name=ann", "-c", "user.email=ann@host", *words])
    must(answer.returncode == 0, f"git {words}: {answer.stderr}")
    return answer.stdout


def tree_of(session):
    """Below the home."""
    return session.show()["path"][len(session.home.path) + 1:]


@check(agents=CLAUDES, otherwise="export shows that its conversation moves, and trees are not the agent's")
def another_host(home):
    """moved to another host with its worktree, and back: each request carries all turns, and the work that was done there is a branch"""
    far = home.elsewhere("gpu1")
    git(home, "work", "init", "-q", "-b", "main")
    git(home, "work", "commit", "-q", "--allow-empty", "-m", "first")
    git(home, ".", "clone", "-q", f"{home.path}/work", f"{far.path}/work")
    session = home.add(options=("--worktree",))
    session.start()
    said, _ = session.say()
    before = identifier(session)
    session.stop()
    home.write(f"{tree_of(session)}/here", "made here\n")
    home.deck_json("session", "move", session.id, "--to", "gpu1", "--path", f"{far.path}/work", "--with-tree")
    there = Session(far, session.id)
    there.start()
    must(identifier(there) == before, "it has another conversation there")
    must(far.read(f"{tree_of(there)}/here") == "made here\n", "its file is not there")
    said_there, turn = there.say()
    there.must_carry(turn, said)
    there.stop()
    far.write(f"{tree_of(there)}/there", "made there\n")
    moved = home.deck_json("session", "move", f"gpu1:{session.id}", "--to", "local", "--with-tree")
    must(git(home, "work", "show", f"{moved['tree_branch']}:there") == "made there\n", "its file is not in the branch")
    must(home.read(f"{tree_of(session)}/here") == "made here\n", "the tree here was changed")
    session.start()
    must(identifier(session) == before, "it has another conversation here")
    _, turn = session.say()
    for text in (said, said_there):
        session.must_carry(turn, text)
