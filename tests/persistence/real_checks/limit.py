# SPDX-License-Identifier: GPL-3.0-or-later
"""A usage limit: it is shown with its end, and with on_limit the agent continues then, once."""

from real_checks import check
from real_machine import Failure, look_until

PATIENCE_S = 200  # the agents name a minute, and agentdeck waits for one more


def log_in(home):
    """The limits of claude are those of a subscription."""
    if home.agent_name == "claude":
        del home.variables["ANTHROPIC_AUTH_TOKEN"]
        home.variables["CLAUDE_CODE_OAUTH_TOKEN"] = "stub"


def entry(session):
    return next(one for one in session.home.deck_json("list") if one["id"] == session.id)


@check(agents=["claude", "claude-new", "codex"], otherwise="its usage limit was not seen", slow=["claude-new"])
def limit(home):
    """a usage limit is shown with its end, and the agent continues then, once"""
    log_in(home)
    home.write(".config/agentdeck/config.toml", '[session]\non_limit = "continue"\n')
    session = home.add()
    session.start()
    session.ask(f"{session.marker()} stub:limit=5")
    if not look_until(lambda: entry(session)["limit_ends_at"], 40):
        raise Failure(f"its limit is not shown: {entry(session)}\n{session.visible()}")
    if entry(session)["activity"] != "idle":
        raise Failure(f"it is {entry(session)['activity']}:\n{session.visible()}")
    # The agents name a whole minute, which may be over.
    if not entry(session)["reason"].startswith(("limited until ", "usage limit, over since ")):
        raise Failure(f"the reason is {entry(session)['reason']}")
    supervisor = home.host.background(home.environment() + ["agentdeck", "supervise"])
    try:
        # claude-new has words of its own, since it continues by itself.
        if not look_until(lambda: len(home.turns()) > 1, PATIENCE_S):
            raise Failure(f"it does not continue:\n{session.visible()}\n{home.log()}")
        session.must_become("idle", 40)
        if not look_until(lambda: not entry(session)["limit_ends_at"], 40):
            raise Failure(f"it is still limited: {entry(session)}")
        if look_until(lambda: len(home.turns()) > 2, 5):
            raise Failure(f"it was told twice: {home.turns()}")
        if home.name != "claude-new" and home.turns()[1]["texts"][-1] != "continue":
            raise Failure(f"it was told: {home.turns()[1]}")
    finally:
        supervisor.terminate()
        supervisor.wait()
