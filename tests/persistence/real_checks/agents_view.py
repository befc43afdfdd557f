# SPDX-License-Identifier: GPL-3.0-or-later
"""claude's agents view, and the daemon behind it, which belongs to the first session that started it."""

import json
import re

from real_checks import check
from real_home import must
from real_machine import look_until

DAEMON = re.compile(r"claude(\.exe)? (daemon run|--?bg-|bg-)")


def daemons(home):
    return [line for line in home.processes() if DAEMON.search(line)]


def must_have_no_daemon(home, after):
    found = look_until(lambda: daemons(home), 3)
    must(not found, f"there is a daemon after {after}: {found}")


@check(agents=["claude", "claude-new"], otherwise="it has no agents view")
def agents_view(home):
    """a left arrow at the empty prompt, /background, an agents view by default: no daemon, the same conversation"""
    settings = json.loads(home.read(".claude.json"))
    home.write(".claude.json", json.dumps({**settings, "defaultToAgentsView": True}))
    session = home.add()
    session.start()
    first, _ = session.say()
    before = session.show()["claude_session_id"]
    for after in ("Left", "/background"):
        if after == "Left":
            session.keys("Left")
        else:
            session.type_in(after)
        must_have_no_daemon(home, after)
        second, turn = session.say()
        session.must_carry(turn, first)
        session.kill_and_start()
        _, turn = session.say()
        session.must_carry(turn, first)
        session.must_carry(turn, second)
        must(session.show()["claude_session_id"] == before, "the conversation has another id")
    session.stop()
    must(look_until(lambda: not home.processes(), 10), f"left behind: {home.processes()}")
