# SPDX-License-Identifier: GPL-3.0-or-later
"""An agent uses other agents, by agentdeck's server of the Model Context Protocol."""

import json

from real_checks import check
from real_home import Session, must
from real_machine import look_until

PREFIX = "mcp__agentdeck__"
# Each asks its user before it calls a tool, if it is not told.
WORDS = {"claude": ["--permission-mode", "default", "--allowedTools", "mcp__agentdeck"],
         "codex": ["-c", 'mcp_servers.agentdeck.default_tools_approval_mode="approve"']}


def use(home, caller, tool, **arguments):
    """Have the agent call that tool: what its model was then told of the result."""
    marker = caller.marker()
    words = json.dumps(arguments, separators=(",", ":")).replace(" ", "+")
    caller.ask(f"{marker} stub:tool={PREFIX}{tool}:{words}")
    answer = look_until(lambda: next((turn for turn in home.turns() if turn["result"] and turn["session"] ==
                                      home.turn_with(marker)["session"] and marker in turn["last"]), None), 90)
    must(answer, f"{tool} gives the model no result:\n{caller.screen()}")
    return answer["result"]


@check(agents=["claude", "claude-new", "codex"], otherwise="its way to such servers was not looked at")
def helpers(home):
    """it launches two others by MCP, waits for them, reads their answers and stops one"""
    answer = home.run(["env", "-C", f"{home.path}/work", home.agent_name, "mcp", "add", "agentdeck", "--",
                       "agentdeck", "mcp"])
    must(answer.returncode == 0, f"mcp add: {answer.stderr}{answer.stdout}")
    session = home.add(*WORDS[home.agent_name])
    session.start()
    for title in "one", "two":
        told = use(home, session, "launch", title=title, message=f"the task of {title}")
        must("submitted" in told, f"launch: {told}")
    told = use(home, session, "wait", sessions=["one", "two"], states=["idle"])
    for title in "one", "two":
        look_until(lambda: "stub reply" in use(home, session, "output", session=title), 40)
        told = use(home, session, "output", session=title)
        must("stub reply" in told and f"first=the task of {title}" in told, f"output: {told}")
    told = use(home, session, "stop", session="one")
    states = {entry["title"]: entry for entry in home.deck_json("list")}
    must(states["one"]["status"] == "stopped" and states["two"]["status"] != "stopped",
         f"{json.dumps(states)}\n{told}")
    for entry in states["one"], states["two"]:
        manifest = Session(home, entry["id"]).manifest()
        must(manifest["launched_by"] == session.id, json.dumps(manifest))
