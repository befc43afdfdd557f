#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-move.py - session move between two hosts, with a real ssh

USAGE
  test-move.py [CASE...]   only these; agentdeck and its helpers are found in PATH

Each case has the two homes of test-hosts.py.  After each step, both states are looked at: at no
moment can both ends start the session, and one end has the whole of it.

EXIT STATUS
  As test-hosts.py
"""
import glob
import importlib.util
import json
import os
import sys
import uuid

spec = importlib.util.spec_from_file_location("hosts", os.path.join(os.path.dirname(os.path.abspath(__file__)), "test-hosts.py"))
hosts_of = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hosts_of)
expect, refused = hosts_of.expect, hosts_of.refused
UNREACHABLE, UNKNOWN = hosts_of.UNREACHABLE, hosts_of.UNKNOWN
BLOCKED = ("leaving", "moved", "arriving", "ready", "other")


def settle(hosts):
    hosts.environment["HOME"] = hosts.near
    return hosts


def there(hosts, *words):
    return json.loads(hosts.there(*words, "--json"))


def here(hosts, *words):
    return json.loads(hosts.run(*words, "--json").stdout)


def conversation_of(home, session_id):
    return glob.glob(f"{home}/.local/share/agentdeck-demo-agent/projects/*/{session_id}.jsonl")


def add(hosts, title="api"):
    """A session here that has a conversation, without an agent that has to run."""
    conversation = str(uuid.uuid4())
    folder = hosts.near + "/.local/share/agentdeck-demo-agent/projects/" + "".join(c if c.isalnum() else "-" for c in hosts.path + "/work")
    os.makedirs(folder, 0o700, exist_ok=True)
    lines = [{"type": kind, "cwd": hosts.path + "/work", "sessionId": conversation, "message": {"role": kind, "content": text}} for kind, text in (("user", "hello"), ("assistant", "hi"))]
    hosts_of.write(f"{folder}/{conversation}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    done = hosts.run("add", hosts.path + "/work", "-t", title, "--agent", "demo", "--session-id", conversation, "-g", "some/group", "--json")
    expect(done.returncode == 0, done)
    return json.loads(done.stdout)["id"], conversation


def content(path):
    with open(path, "rb") as file:
        return file.read()


def states(hosts, session):
    """Of the session, at both ends; None: it is not there."""
    found = []
    for rows in (here(hosts, "list"), there(hosts, "list")):
        found.append(next(((one["move"] or "none") for one in rows if one["id"] == session), None))
    return tuple(found)


def check_invariant(hosts, session, conversation, words):
    """Never two that can start, always one whole copy."""
    found = states(hosts, session)
    can_start = [state for state in found if state and state not in BLOCKED]
    expect(len(can_start) < 2, f"both can start: {found}")
    owner = [home for home, state in zip((hosts.near, hosts.far), found) if state and state != "arriving"]
    expect(any(content(path) == words for home in owner for path in conversation_of(home, conversation)), f"no whole copy: {found}")
    return found


def case_a_session_goes_there_and_comes_back(hosts):
    session, conversation = add(settle(hosts))
    [before] = conversation_of(hosts.near, conversation)
    done = hosts.run("session", "move", "api", "--to", "gpu1")
    expect(done.returncode == 0 and b"api: moved to gpu1" in done.stdout, done)
    expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))
    [one] = there(hosts, "list")
    expect(one["id"] == session and one["session_id"] == conversation and one["group"] == "some/group", one)
    [after] = conversation_of(hosts.far, conversation)
    expect(content(before) == content(after), "the conversation is not the same")
    refused(hosts, 1, "was moved to gpu1", "start", "api")
    expect(b"moved to gpu1" in hosts.run("list").stdout, "list does not say it")
    # It goes on there, and comes back with what was said there.
    for words in (("start", "api"), ("send", "api", "said there"), ("status", "--wait", "idle", "--timeout", "60", "api"), ("session", "stop", "api")):
        hosts.there(*words)
    expect(b"said there" in content(after) and content(after).startswith(content(before)), "the agent there did not continue it")
    done = hosts.run("session", "move", "gpu1:api", "--to", "local")
    expect(done.returncode == 0 and b"api: moved here from gpu1" in done.stdout, done)
    expect(states(hosts, session) == ("arrived", "moved"), states(hosts, session))
    expect(content(before) == content(after), "what was said there is not here")
    for words in (("start", "api"), ("session", "stop", "api")):
        expect(hosts.run(*words).returncode == 0, words)
    # And once more, to the session that it left.
    done = hosts.run("session", "move", "api", "--to", "gpu1", "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["moved_to"] == "gpu1", done)
    expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "again does no harm")


def case_what_cannot_move_is_refused(hosts):
    session, conversation = add(settle(hosts))
    refused(hosts, 64, "--to HOST", "session", "move", "api")
    refused(hosts, 64, "it is there", "session", "move", "api", "--to", "local")
    refused(hosts, 2, "there is no host 'gpu2'", "session", "move", "api", "--to", "gpu2")
    refused(hosts, 2, "no session", "session", "move", "nothing", "--to", "gpu1")
    refused(hosts, 1, "not on its way", "session", "move", "api", "--abandon")
    # A directory that is not there.
    os.rename(hosts.path + "/work", hosts.path + "/gone")
    refused(hosts, 2, "name the one that takes its place with --path", "session", "move", "api", "--to", "gpu1")
    os.rename(hosts.path + "/gone", hosts.path + "/work")
    expect(states(hosts, session) == ("none", None), states(hosts, session))
    # An agent whose conversations are not known, and one that runs.
    hosts.run("launch", hosts.path + "/work", "-t", "plain", "-c", "cat")
    refused(hosts, 1, "is running: stop it first", "session", "move", "plain", "--to", "gpu1")
    # Another session there has the conversation.
    hosts.run("session", "export", "api", hosts.path + "/parcel")
    hosts.there("session", "import", hosts.path + "/parcel", "-t", "copy")
    refused(hosts, 1, "is here already", "session", "move", "api", "--to", "gpu1")
    expect(states(hosts, session) == ("none", None), states(hosts, session))
    expect(hosts.run("start", "api").returncode == 0, "it cannot be started after a move that failed")
    check_invariant(hosts, session, conversation, content(conversation_of(hosts.near, conversation)[0]))


def steps_of(session, move):
    """The commands of a move, as agentdeck does them: at which end, and what."""
    step = lambda name: ("session", "move", session, "--step", name, "--id", move, "--to", "gpu1")
    return [("near", step("leave")), ("both", None), ("near", step("let-go")), ("far", step("take"))]


def parcel_of(hosts, session, move):
    return hosts.run("session", "export", session, "-", "--move", move).stdout


def arrive(hosts, session, move, parcel, *words):
    """The import at the other end, as agentdeck does it."""
    return hosts.run("-H", "gpu1", "session", "import", "-", "--move", move, "--session", session, "--from", "near", *words, input=parcel)


def do_step(hosts, session, move, end, words):
    if end == "both":
        done = arrive(hosts, session, move, parcel_of(hosts, session, move))
    else:
        done = hosts.run(*(("-H", "gpu1") if end == "far" else ()), *words)
    expect(done.returncode == 0, done)


def case_the_same_command_continues_after_each_step(hosts):
    settle(hosts)
    for done in range(5):
        session, conversation = add(hosts, f"api{done}")
        words = content(conversation_of(hosts.near, conversation)[0])
        move = str(uuid.uuid4())
        for end, step in steps_of(session, move)[:done]:
            # An answer that was lost is asked for again.
            for _ in range(2):
                do_step(hosts, session, move, end, step)
                check_invariant(hosts, session, conversation, words)
        before = states(hosts, session)
        expect(before == (("none", None), ("leaving", None), ("leaving", "ready"), ("moved", "ready"), ("moved", "arrived"))[done], before)
        if done:
            refused(hosts, 1, "moved to gpu1" if done > 2 else "is moving to gpu1", "start", f"api{done}")
        if done in (2, 3):
            expect(b"is arriving from" in hosts.run("-H", "gpu1", "start", f"api{done}").stderr, "it can be started before it was let go")
        again = hosts.run("session", "move", f"api{done}", "--to", "gpu1")
        expect(again.returncode == 0, again)
        expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))
        check_invariant(hosts, session, conversation, words)


def case_a_move_is_given_up_at_each_step(hosts):
    settle(hosts)
    for done in range(1, 5):
        session, conversation = add(hosts, f"api{done}")
        words = content(conversation_of(hosts.near, conversation)[0])
        move = str(uuid.uuid4())
        for end, step in steps_of(session, move)[:done]:
            do_step(hosts, session, move, end, step)
        if done == 4:
            refused(hosts, 1, "gpu1 has it", "session", "move", f"api{done}", "--abandon")
            refused(hosts, 1, "gpu1 has it", "session", "move", f"api{done}", "--abandon", "--lost")
            continue
        given_up = hosts.run("session", "move", f"api{done}", "--abandon")
        expect(given_up.returncode == 0, given_up)
        expect(states(hosts, session) == ("none", None), states(hosts, session))
        check_invariant(hosts, session, conversation, words)
        # A step of that move which comes late does nothing.
        for end, step in steps_of(session, move)[2:]:
            expect(hosts.run(*(("-H", "gpu1") if end == "far" else ()), *step).returncode != 0, step)
        expect(hosts.run("session", "move", f"api{done}", "--to", "gpu1").returncode == 0, "it does not move after that")
        check_invariant(hosts, session, conversation, words)


def case_a_host_that_is_lost_needs_consent(hosts):
    session, conversation = add(settle(hosts))
    move = str(uuid.uuid4())
    for end, step in steps_of(session, move)[:3]:
        do_step(hosts, session, move, end, step)
    hosts.settings("[hosts.gpu1]\ntimeout = 3\n")
    for process in hosts.masters():
        os.kill(process, 9)
    hosts.down()
    refused(hosts, UNREACHABLE, "run this again", "session", "move", "api", "--to", "gpu1")
    refused(hosts, 1, "--abandon --lost", "session", "move", "api", "--abandon")
    expect(here(hosts, "list")[0]["move"] == "moved", "it was taken back without consent")
    expect(hosts.run("session", "move", "api", "--abandon", "--lost").returncode == 0, "--lost")
    expect(hosts.run("start", "api").returncode == 0, "it does not start")
    # The other way round: where it was on its way to, its user cannot ask.
    refusal = json.loads(hosts.there("session", "move", "api", "--abandon", "--json"))
    expect("cannot be asked" in refusal["error"] and refusal["consent"] == "--lost", refusal)
    expect(json.loads(hosts.there("session", "move", "api", "--abandon", "--lost", "--json"))["success"], "--lost there")


def case_a_host_that_is_down_changes_nothing(hosts):
    session, _ = add(settle(hosts))
    hosts.settings("[hosts.gpu1]\ntimeout = 3\n")
    hosts.down()
    refused(hosts, UNREACHABLE, "gpu1", "session", "move", "api", "--to", "gpu1")
    expect(here(hosts, "list")[0]["move"] is None, "it cannot be started")
    expect(hosts.run("start", "api").returncode == 0, "it does not start")


def edit(home, session, **members):
    """Of a manifest, by hand; a member of an object has its name behind "__"."""
    [path] = [name for name in glob.glob(f"{home}/*/*/instance.json") if session in content(name).decode()]
    manifest = json.loads(content(path))
    for name, value in members.items():
        above, _, member = name.rpartition("__")
        (manifest[above] if above else manifest)[member] = value
    hosts_of.write(path, json.dumps(manifest, indent=1))


def says(done, words):
    expect(done.returncode != 0 and words.encode() in done.stderr, f"{words}: {done}")


def say(home, conversation, words):
    """Something more in a transcript, as its agent writes it."""
    [path] = conversation_of(home, conversation)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "user", "sessionId": conversation, "message": {"role": "user", "content": words}}) + "\n")


def case_a_return_takes_no_other_conversation(hosts):
    session, conversation = add(settle(hosts))
    _, other = add(hosts, "other")
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    [before], [there_] = conversation_of(hosts.near, other), conversation_of(hosts.far, conversation)
    kept = content(before)
    # The session there has the conversation of another one, which was continued.
    hosts_of.write(os.path.join(os.path.dirname(there_), os.path.basename(before)), kept.decode())
    say(hosts.far, other, "said there")
    edit(hosts.far, session, conversation__session_id=other)
    refused(hosts, 1, "session 'other'", "session", "move", "gpu1:api", "--to", "local")
    expect(states(hosts, session) == ("moved", "none"), states(hosts, session))
    expect(content(before) == kept, "the conversation of another session was replaced")


def pick(hosts, conversation):
    """In an agent of another session, its user picks this conversation."""
    expect(hosts.run("start", "taker").returncode == 0, "it does not start")
    expect(hosts.run("send", "taker", "/resume " + conversation).returncode == 0, "send")
    hosts_of.wait_for(lambda: (here(hosts, "show", "taker")["shares"] or {}).get("session_id") == conversation, "it is not picked")


def case_a_session_stays_while_another_one_has_its_conversation(hosts):
    session, conversation = add(settle(hosts))
    add(hosts, "taker")
    pick(hosts, conversation)
    refused(hosts, 1, "session 'taker'", "session", "move", "api", "--to", "gpu1")
    expect(states(hosts, session) == ("none", None), states(hosts, session))
    # And it does not come back to one.
    expect(hosts.run("session", "stop", "taker").returncode == 0, "stop")
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    pick(hosts, conversation)
    say(hosts.far, conversation, "said there")
    refused(hosts, 1, "session 'taker'", "session", "move", "gpu1:api", "--to", "local")
    expect(b"said there" not in content(conversation_of(hosts.near, conversation)[0]), "a conversation that is open was replaced")
    expect(hosts.run("session", "stop", "taker").returncode == 0, "stop")
    expect(hosts.run("session", "move", "gpu1:api", "--to", "local").returncode == 0, "it does not come back")


def case_the_other_end_chooses_no_session_of_ours(hosts):
    session, conversation = add(settle(hosts))
    other, _ = add(hosts, "other")
    hosts.settings("[hosts.gpu1]\n[hosts.gpu2]\n")
    expect(hosts.run("session", "move", "api", "--to", "gpu2").returncode == 0, "it does not move")
    refused(hosts, 1, "was moved to gpu2", "session", "move", "gpu1:api", "--to", "local")
    expect(states(hosts, session) == ("moved", "none"), states(hosts, session))
    expect(hosts.run("session", "move", "gpu2:api", "--to", "local").returncode == 0, "it does not come back")
    # It calls another one of ours what this one is called.
    for one in (session, other):
        expect(hosts.run("session", "move", one, "--to", "gpu1").returncode == 0, "it does not move")
    for one, title in ((session, "x"), (other, "api")):
        hosts.there("rename", one, title)
    refused(hosts, 1, f"gives session {other}, which is 'other' here", "session", "move", "gpu1:api", "--to", "local")
    expect(states(hosts, session) == ("moved", "arrived") and states(hosts, other) == ("moved", "none"), f"{states(hosts, session)} {states(hosts, other)}")
    for one in (session, other):
        done = hosts.run("session", "move", "gpu1:" + one, "--to", "local")
        expect(done.returncode == 0, done)
    # Another session than the one that was asked for.
    move = str(uuid.uuid4())
    do_step(hosts, session, move, *steps_of(session, move)[0])
    says(arrive(hosts, other, move, parcel_of(hosts, session, move)), f"sent session {session} instead of {other}")


def case_a_session_whose_conversation_is_not_known_stays(hosts):
    settle(hosts)
    done = hosts.run("add", hosts.path + "/work", "-t", "codex", "--agent", "codex", "--json")
    session = json.loads(done.stdout)["id"]
    edit(hosts.near, session, last_used_at="2026-04-14T09:08:01.000Z")
    refused(hosts, 1, "it is not known which conversation it has", "session", "move", "codex", "--to", "gpu1")
    expect(states(hosts, session) == ("none", None), states(hosts, session))


def case_a_late_import_replaces_nothing(hosts):
    session, conversation = add(settle(hosts))
    words = content(conversation_of(hosts.near, conversation)[0])
    late, move = str(uuid.uuid4()), str(uuid.uuid4())
    do_step(hosts, session, late, *steps_of(session, late)[0])
    parcel = parcel_of(hosts, session, late)
    expect(hosts.run("session", "move", session, "--step", "back", "--id", late).returncode == 0, "back")
    for end, step in steps_of(session, move)[:3]:
        do_step(hosts, session, move, end, step)
    says(arrive(hosts, session, late, parcel), "is late")
    expect(check_invariant(hosts, session, conversation, words) == ("moved", "ready"), states(hosts, session))
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it is not taken")


def case_a_move_that_was_given_up_stays_so(hosts):
    session, conversation = add(settle(hosts))
    late, never = str(uuid.uuid4()), str(uuid.uuid4())
    # Nothing of it came there before it was given up.
    do_step(hosts, session, never, *steps_of(session, never)[0])
    parcel = parcel_of(hosts, session, never)
    expect(hosts.run("session", "move", session, "--step", "back", "--id", never).returncode == 0, "back")
    says(hosts.run("-H", "gpu1", "session", "move", session, "--step", "drop", "--id", never), "no session")
    says(arrive(hosts, session, never, parcel), "was given up")
    # Its copy could not be removed, and the next one takes the place of that.
    for end, step in steps_of(session, late)[:2]:
        do_step(hosts, session, late, end, step)
    parcel = parcel_of(hosts, session, late)
    expect(hosts.run("session", "move", session, "--step", "back", "--id", late).returncode == 0, "back")
    expect(states(hosts, session) == ("none", "ready"), states(hosts, session))
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    says(arrive(hosts, session, late, parcel), "was given up")
    expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))


def case_a_refusal_of_a_long_conversation_is_said(hosts):
    session, conversation = add(settle(hosts))
    say(hosts.near, conversation, "x" * (8 << 20))
    with open(hosts.far + "/config.toml", "a", encoding="utf-8") as file:
        file.write("[nothing]\nof = 1\n")
    refused(hosts, 1, "nothing", "session", "move", "api", "--to", "gpu1")
    expect(states(hosts, session) == ("none", None), states(hosts, session))


def cut_link(hosts, most):
    """What comes from there ends in the middle, once it is long."""
    hosts_of.write(hosts.path + "/cut", f'#!/bin/sh\nagentdeck "$@" | stdbuf -o0 head -c {most}\n', 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/cut"\ntimeout = 60\n')


def case_a_link_that_is_lost_is_no_refusal(hosts):
    session, conversation = add(settle(hosts))
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    say(hosts.far, conversation, "x" * (8 << 20))
    words = content(conversation_of(hosts.far, conversation)[0])
    cut_link(hosts, 1 << 20)
    refused(hosts, UNREACHABLE, "run this again", "session", "move", "gpu1:api", "--to", "local")
    expect(check_invariant(hosts, session, conversation, words) == ("moved", "leaving"), states(hosts, session))
    hosts.settings("[hosts.gpu1]\n")
    expect(hosts.run("session", "move", "gpu1:api", "--to", "local").returncode == 0, "it does not continue")
    expect(check_invariant(hosts, session, conversation, words) == ("arrived", "moved"), states(hosts, session))


def case_a_host_that_says_much_holds_up_no_move(hosts):
    """More than a pipe holds, before each answer."""
    session, conversation = add(settle(hosts))
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    say(hosts.far, conversation, "x" * (1 << 20))
    words = content(conversation_of(hosts.far, conversation)[0])
    hosts_of.write(hosts.path + "/talk.py", """
import sys
said = b'{"frame":"data","id":"1","stream":"errors","text":"' + b"x" * 1023 + b'\\\\n"}\\n'
talks = True
for line in sys.stdin.buffer:
    if talks and b'"frame":"data"' in line:
        sys.stdout.buffer.write(said * 200)
        talks = False
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
""")
    hosts_of.write(hosts.path + "/talks", f'#!/bin/sh\nagentdeck "$@" | python3 {hosts.path}/talk.py\n', 0o755)
    hosts.settings(f'[hosts.gpu1]\nprogram = "{hosts.path}/talks"\n')
    expect(hosts.run("-H", "gpu1", "list").stderr.count(b"x" * 1023) == 200, "it does not say much")
    done = hosts.run("session", "move", "gpu1:api", "--to", "local")
    expect(done.returncode == 0, done)
    expect(check_invariant(hosts, session, conversation, words) == ("arrived", "moved"), states(hosts, session))


def case_a_session_that_leaves_is_not_exported(hosts):
    session, _ = add(settle(hosts))
    move = str(uuid.uuid4())
    do_step(hosts, session, move, *steps_of(session, move)[0])
    file = hosts.path + "/parcel"
    for more in ((), ("--remove",), ("--move", str(uuid.uuid4()))):
        refused(hosts, 1, "is not exported: it is moving to gpu1", "session", "export", "api", file, *more)
    refused(hosts, 64, "exclude each other", "session", "export", "api", file, "--remove", "--move", move)
    expect(states(hosts, session) == ("leaving", None) and not os.path.exists(file), states(hosts, session))
    expect(hosts.run("session", "move", "api", "--abandon").returncode == 0, "--abandon")
    refused(hosts, 1, "was given up", "session", "export", "api", file, "--move", move)


def case_a_return_that_was_cut_is_given_up(hosts):
    session, conversation = add(settle(hosts))
    words = content(conversation_of(hosts.near, conversation)[0])
    expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not move")
    move = str(uuid.uuid4())
    expect(hosts.run("-H", "gpu1", "session", "move", session, "--step", "leave", "--id", move, "--to", "near").returncode == 0, "leave")
    edit(hosts.near, session, move__state="arriving", move__id=move, move__was_here=True)
    expect(states(hosts, session) == ("arriving", "leaving"), states(hosts, session))
    done = hosts.run("session", "move", "api", "--abandon")
    expect(done.returncode == 0 and b"gpu1 still has it" in done.stdout, done)
    expect(check_invariant(hosts, session, conversation, words) == ("moved", "leaving"), states(hosts, session))
    expect(hosts.run("session", "move", "gpu1:api", "--abandon").returncode == 0, "--abandon there")
    expect(hosts.run("session", "move", "gpu1:api", "--to", "local").returncode == 0, "it does not come back")
    # What is ready names the end that it came from as the user does, so that this can be asked.
    expect(here(hosts, "show", "api")["move_host"] == "gpu1", here(hosts, "show", "api"))


if __name__ == "__main__":
    sys.exit(hosts_of.main(globals()))
