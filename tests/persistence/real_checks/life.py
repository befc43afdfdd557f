# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of one session, from a kill before its first turn to its stop."""

import json
import re
import shlex
import time
import uuid

from real_checks import Story
from real_home import ENTER_AGAIN_S, Session
from real_machine import PATIENCE_S, PREFIX, Failure, look_until

life = Story("life")


@life.step
def early(home):
    """killed before its first turn, it starts again and works"""
    home.main = home.add()
    home.main.start()
    home.main.kill_and_start()
    home.first, _ = home.main.say()


@life.step
def resume(home):
    """a turn, kill -9 of the tmux server, start: the next request carries the turn"""
    home.main.kill_and_start()
    home.second, turn = home.main.say()
    home.main.must_carry(turn, home.first)


@life.step
def again(home):
    """and the same once more"""
    home.main.kill_and_start()
    _, turn = home.main.say()
    home.main.must_carry(turn, home.first)
    home.main.must_carry(turn, home.second)


@life.step
def double(home):
    """a second start changes nothing: same process, one agent"""
    before = home.main.show()
    home.deck("session", "start", home.main.id, "--json")
    after = home.main.show()
    for key in ("agent_pid", "status"):
        if before[key] != after[key]:
            raise Failure(f"{key} {before[key]} became {after[key]}")
    home.main.say()


@life.step
def rotated(home):
    """/clear or /new, a turn, kill -9, start: what followed comes back, and nothing from before"""
    session = home.main
    old, _ = session.say()
    session.type_in(home.agent.clear)
    time.sleep(ENTER_AGAIN_S)
    new, turn = session.say()
    session.must_not_carry(turn, old)
    session.kill_and_start()
    _, turn = session.say()
    session.must_carry(turn, new)
    session.must_not_carry(turn, old)


@life.step
def unknown(home):
    """the agent does with an unknown id what its entry in data/agents/ says"""
    slots = {"{session_id}": str(uuid.uuid4()), "{settings}": f"{home.path}/no-settings.json",
             "{state}": f"{home.path}/no-state", "{hook}": json.dumps([f"{PREFIX}/bin/agentdeck", "hook"],
                                                                    separators=(",", ":")),
             "{hook_command}": json.dumps(f"{PREFIX}/bin/agentdeck hook")}
    home.write("no-settings.json", "{}\n")
    words = [re.sub(r"\{[a-z_]+\}", lambda slot: slots.get(slot.group(), slot.group()), word)
             for word in home.entry["resume"]]
    socket = f"{home.path}/unknown.sock"
    command = shlex.join(words) + "; echo ended with $?; exec sleep 600"
    answer = home.run(["sh", "-c", f"cd {home.path}/work && exec tmux -S {socket} new-session -d -x 120 -y 40 \"$1\"",
                       "sh", command])
    if answer.returncode:
        raise Failure(f"tmux: {answer.stderr}")
    look = ["tmux", "-S", socket, "capture-pane", "-p", "-J", "-S", "-"]
    try:
        ended = look_until(lambda: re.search(r"ended with (\d+)", home.run(look).stdout),
                           10 if home.entry["unknown_id"] != "exits" else PATIENCE_S)
        screen = home.run(look).stdout
    finally:
        home.run(["tmux", "-S", socket, "kill-server"])
    if home.entry["unknown_id"] == "exits":
        if not ended or ended.group(1) == "0":
            raise Failure(f"it does not end with a failure:\n{screen}")
        pattern = home.entry["unknown_pattern"]
        if pattern and not re.search(pattern, screen):
            raise Failure(f"it does not say '{pattern}':\n{screen}")
    elif ended:
        raise Failure(f"it ends:\n{screen}")


@life.step
def adopted(home):
    """begun by hand in a tmux of the user's, with a turn, and adopted: the next request carries the turn"""
    # Its entry says what its last words are when the id appears nowhere else.
    home.main.stop()
    begun = home.run(["sh", "-c", 'cd "$2" && tmux -L "$1" -f /dev/null new-session -d -x 150 -y 50 -P -F '
                      '"#{pane_pid} #{socket_path}" sh', "sh", f"hand-{home.name}", f"{home.path}/work"])
    pid, _, socket = begun.stdout.strip().partition(" ")
    if not socket:
        raise Failure(f"tmux: {begun.stderr}")
    by_hand = Session(home, None)
    by_hand.shown = {"tmux": {"socket": socket}}
    try:
        by_hand.type_in(home.agent_name)
        by_hand.wait_ready()
        marker, _ = by_hand.say()
        answer = home.deck_json("adopt", pid, "--yes", "-t", "adopted")[0]
    finally:
        home.run(["tmux", "-S", socket, "kill-server"])
    if not answer.get("success"):
        raise Failure(f"adopt: {json.dumps(answer)}")
    home.main = session = Session(home, answer["id"])
    session.shown = session.show()
    if not session.shown["tmux"]["socket"]:
        raise Failure(f"it is over: {json.dumps(answer)}\n{json.dumps(session.shown, indent=1)}\n{home.log()}")
    session.wait_ready()
    _, turn = session.say()
    session.must_carry(turn, marker)


@life.step
def leftovers(home):
    """after a stop no process of it is left"""
    home.main.stop()
    if not look_until(lambda: not home.processes(), 10):
        raise Failure("left behind: " + "; ".join(home.processes()))
