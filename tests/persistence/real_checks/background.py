# SPDX-License-Identifier: GPL-3.0-or-later
"""A conversation in the background of claude: agentdeck leaves it there until its user ends it."""

from real_checks import check
from real_home import must
from real_machine import look_until

# The entry turns the background off. A user can turn it on again.
ON = '[environment]\nset = ["CLAUDE_CODE_FORCE_SESSION_PERSISTENCE=1"]\n'


def in_scope(home, session):
    """The processes of the session's slice, by pid."""
    script = 'find "/sys/fs/cgroup$1" -name cgroup.procs -exec cat {} + 2>/dev/null; :'
    return set(home.host.root(["sh", "-c", script, "sh", session.shown["scope"]["cgroup"]]).stdout.split())


@check(agents=["claude", "claude-new"], otherwise="it has no background")
def background(home):
    """/background: held; neither a start nor recover ends the daemon; after a stop it resumes"""
    home.write(".config/agentdeck/agents/claude.toml", ON)
    session = home.add()
    session.start()
    first, _ = session.say()
    before = session.show()["claude_session_id"]
    session.type_in("/background")
    must(look_until(lambda: session.show()["held"], 30), f"it is not held:\n{session.visible()}")
    held = session.show()["held"]
    must(held.startswith("in the background of claude: "), held)
    daemons = in_scope(home, session)
    must(daemons, "no process is left in its scope")
    answer = home.deck("session", "start", session.id)
    must(answer.returncode == 1 and "session stop" in answer.stderr, f"{answer.stdout}{answer.stderr}")
    answer = home.deck("recover", "--json")
    must('"outcome":"held"' in answer.stdout, answer.stdout + answer.stderr)
    # Some of them end by themselves.
    must(daemons & in_scope(home, session), f"{daemons} became {in_scope(home, session)}")
    session.stop()
    must(look_until(lambda: not in_scope(home, session), 10), "a stop leaves it")
    session.start()
    _, turn = session.say()
    session.must_carry(turn, first)
    must(session.show()["claude_session_id"] == before, "the conversation has another id")
    session.stop()


@check(agents=["claude-new"], otherwise="its --bg with --resume makes a copy")
def background_elsewhere(home):
    """claude --bg --resume in another terminal: a start is held, and begins no new conversation"""
    session = home.add()
    session.start()
    first, _ = session.say()
    before = session.show()["claude_session_id"]
    session.stop()
    script = 'cd "$HOME/work" && exec claude --bg --resume "$1" "say something"'
    answer = home.run(["sh", "-c", script, "sh", before])
    must(answer.returncode == 0, f"claude --bg: {answer.stdout}{answer.stderr}")
    must(look_until(lambda: home.turn_with("say something"), 60), "its background asks its model nothing")
    answer = home.deck("session", "start", session.id)
    must(answer.returncode == 1, f"it started: {answer.stdout}{answer.stderr}")
    held = session.show()["held"] or ""
    must(held.startswith("in the background of claude: "), held)
    must(session.show()["claude_session_id"] == before, "the conversation has another id")
    short = before.split("-")[0]
    answer = home.run(["claude", "stop", short])
    must(answer.returncode == 0, f"claude stop: {answer.stdout}{answer.stderr}")
    answer = home.deck("recover", "--json")
    must('"outcome":"revived"' in answer.stdout, answer.stdout + answer.stderr)
    session.shown = session.show()
    session.wait_ready()
    _, turn = session.say()
    session.must_carry(turn, first)
    session.stop()
