# SPDX-License-Identifier: GPL-3.0-or-later
"""Agents that begin another conversation without reporting it."""

from real_checks import check


@check(agents=["gemini", "copilot"], otherwise="it reports /clear")
def unheard_clear(home):
    """/clear, which no hook tells, a turn, kill -9, start: what was before comes back, and nothing else"""
    session = home.add()
    session.start()
    before, _ = session.say()
    session.type_in("/clear")
    after, turn = session.say()
    session.must_not_carry(turn, before)
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, before)
    session.must_not_carry(turn, after)
