# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversations that one session owns and another one wants."""

import time

from real_checks import check
from real_home import must

CLAUDE = {"agents": ["claude", "claude-new"], "otherwise": "its /resume takes no id"}


def conversation(session):
    return session.manifest()["conversation"]["session_id"]


@check(**CLAUDE)
def of_another(home):
    """/resume of what another session owns, both killed: the owner has it, the other one its own and is told so"""
    owner, taker = home.add(title="owner"), home.add(title="taker", directory="work")
    owner.start()
    taker.start()
    owners, _ = owner.say()
    takers, _ = taker.say()
    taker.type_in(f"/resume {conversation(owner)}")
    time.sleep(3)
    _, turn = taker.say()
    taker.must_carry(turn, owners)
    must(conversation(taker) != conversation(owner), "both have one conversation")
    must("shares conversation" in home.deck("list").stdout, f"list does not say it: {home.deck('list').stdout}")
    owner.kill()
    taker.kill()
    taker.start()
    must("belongs to that session" in str(taker.show()["resume"]), f"it is not told: {taker.show()['resume']}")
    owner.start()
    for session, own, foreign in ((taker, takers, owners), (owner, owners, takers)):
        _, turn = session.say()
        session.must_carry(turn, own)
        session.must_not_carry(turn, foreign)


@check(**CLAUDE)
def owned_id(home):
    """--session-id and --resume of what a stopped session owns are refused, in capitals, too"""
    owner = home.add(title="owner")
    owner.start()
    said, _ = owner.say()
    owner.stop()
    for number, identifier in enumerate((conversation(owner), conversation(owner).upper())):
        for words in (["--session-id", identifier, "--agent", home.agent_name],
                      ["-c", f"claude --resume {identifier}"]):
            answer = home.deck("add", f"{home.path}/work", "-t", f"taker {number}", *words)
            must(answer.returncode != 0, f"taken: {words}: {answer.stdout}")
    owner.start()
    _, turn = owner.say()
    owner.must_carry(turn, said)
