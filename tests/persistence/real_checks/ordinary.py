# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary use of any agent: two in one directory, and a kill in the middle of a turn."""

from real_catalog import AGENTS, NO_HISTORY
from real_checks import check

KEEPS_HISTORY = [name for name in AGENTS if "resume" not in AGENTS[name].not_applicable]
SLOW = ["opencode", "qwen"]


@check(agents=KEEPS_HISTORY, otherwise=NO_HISTORY, slow=SLOW)
def neighbours(home):
    """two sessions in one directory, both killed: each comes back with its own conversation"""
    one, other = home.add(title="one"), home.add(title="other")
    one.start()
    other.start()
    mine, _ = one.say()
    others, _ = other.say()
    one.kill()
    other.kill()
    other.start()
    one.start()
    for session, own, foreign in ((other, others, mine), (one, mine, others)):
        _, turn = session.say()
        session.must_carry(turn, own)
        session.must_not_carry(turn, foreign)


@check(agents=KEEPS_HISTORY, otherwise=NO_HISTORY, slow=SLOW)
def killed_in_turn(home):
    """killed in the middle of a turn it comes back with all that was before"""
    session = home.add()
    session.start()
    first, _ = session.say()
    session.ask(f"{session.marker()} stub:wait=60000")
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, first)
