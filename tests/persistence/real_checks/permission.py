# SPDX-License-Identifier: GPL-3.0-or-later
"""The activity that agentdeck shows while an agent asks for a permission, and after it."""

import json
import re

from real_checks import check
from real_machine import Failure, look_until

# How each is told to make a file with its tool for files: the tool, and its arguments.
WRITES = {"claude": ("Write", {"file_path": "PATH", "content": "one"}),
          "codex": ("apply_patch", {"input": "*** Begin Patch\n*** Add File: PATH\n+one\n*** End Patch"}),
          "gemini": ("write_file", {"file_path": "PATH", "content": "one"}),
          "copilot": ("create", {"path": "PATH", "file_text": "one"}),
          "qwen": ("write_file", {"file_path": "PATH", "content": "one"})}
WORDS = {"claude": ["--permission-mode", "default"], "codex": ["-a", "on-request"],
         "qwen": ["--approval-mode", "default"]}
# codex offers its tool for files to the models that it knows.
FILES = {"codex": ["-s", "read-only", "-m", "gpt-5.5"]}
NOTEBOOK = {"cells": [{"cell_type": "code", "id": "c1", "execution_count": None, "metadata": {}, "outputs": [],
                       "source": ["1"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
# The first of the answers, with the mark in front of it.
QUESTION = r"[❯›] 1\. Yes"


def approve(session):
    """Press Enter only while the question is on the screen.  The agent reports it before it draws
    it, and codex does not draw it within a second of a key."""
    session.wait_for(QUESTION)
    if not look_until(lambda: not re.search(QUESTION, session.visible()) or session.keys("Enter"), 20):
        raise Failure(f"its question stays:\n{session.visible()}")


@check(agents=["codex"], otherwise="it asks nothing at its first start")
def asks_at_start(home):
    """it waits while it asks whether to trust hooks, of which it reports nothing"""
    session = home.add()
    home.deck_json("session", "start", session.id)

    def listed():
        return next(entry["activity"] for entry in home.deck_json("list") if entry["id"] == session.id)

    # A list looks at no screen.
    if not look_until(lambda: listed() == "waiting", 40):
        session.shown = session.show()
        raise Failure(f"it is {listed()}:\n{session.visible()}")


@check(agents=["claude", "claude-new", "codex"], otherwise="its screen is not compared")
def answered(home):
    """it works when its permission was given by hand, although it reports nothing before its command is over"""
    session = home.add(*WORDS.get(home.agent_name, []))
    session.start()
    # The stub says nothing before it is asked, so that this takes a minute.
    silent = f"curl+-m+60+telnet://127.0.0.1:{home.read('stub.port').strip()}"
    session.ask(f"{session.marker()} stub:run={silent} stub:wait=1000")
    session.must_become("waiting", 60)
    session.wait_for(QUESTION)
    # As long as the question is there, it waits.
    if look_until(lambda: session.activity() != "waiting", 5):
        raise Failure(f"it is {session.activity()} while it asks:\n{session.visible()}")
    approve(session)
    session.must_become("busy")


@check(agents=["claude", "claude-new", "codex", "qwen"], otherwise="it does not report what it does")
def permission(home):
    """it waits while it asks for a permission, works when it has it, and is idle at its prompt"""
    session = home.add(*WORDS.get(home.agent_name, []))
    session.start()
    session.ask(f"{session.marker()} stub:run=curl+-m+1+http://127.0.0.1:1/ stub:wait=8000")
    # qwen thinks about it for a quarter of a minute.
    session.must_become("waiting", 60)
    approve(session)
    # The answer to the tool's result takes a while, in which the agent works.
    session.must_become("busy")
    session.must_become("idle")
    # Some report only a moment later that they wait for their user.
    if look_until(lambda: session.activity() != "idle", 4):
        raise Failure(f"it is {session.activity()} at its prompt:\n{session.visible()}")


def calls(tool, arguments):
    """The words with which the model calls the tool."""
    text = json.dumps(arguments, separators=(",", ":")).replace("+", "\\u002b").replace(" ", "+")
    return f"stub:tool={tool}:{text}"


def start_wide(session):
    """What is typed fits into one line of the box."""
    session.start()
    session.tmux("resize-window", "-x", "300", "-y", "50")


def asks_for(name, path):
    """The words with which the model asks whether it may make the file."""
    if name not in WRITES:
        return f"stub:run=touch+{path}"
    tool, arguments = WRITES[name]
    return calls(tool, {key: text.replace("PATH", path) for key, text in arguments.items()})


def answer(home, session, verb, *words):
    """Answer what it asks, as its user would who has read it."""
    def seen():
        reply = home.deck("session", verb, session.id, "--json")
        return json.loads(reply.stdout)["digest"] if reply.returncode == 0 else None

    # gemini thinks for a minute before it writes a file.
    digest = look_until(seen, 120)
    if not digest:
        raise Failure(f"{home.deck('session', verb, session.id, '--json').stdout}:\n{session.visible()}")
    home.deck_json("session", verb, "--question", digest, *words, session.id)


@check(agents=["claude", "claude-new", "codex", "gemini", "copilot", "qwen"], otherwise="its questions are not known")
def approved(home):
    """approve and deny answer its questions before a command and a file"""
    session = home.add(*WORDS.get(home.agent_name, []), *FILES.get(home.agent_name, []))
    start_wide(session)
    for name in ("command", home.agent_name):
        path = f"{home.path}/work/{name}.made"
        session.ask(f"{session.marker()} {asks_for(name, path)}")
        answer(home, session, "approve")
        if not look_until(lambda path=path: home.host.user(["test", "-e", path]).returncode == 0, 20):
            raise Failure(f"{name}: it was not approved:\n{session.visible()}")
        session.wait_ready()
    session.ask(f"{session.marker()} stub:run=touch+{home.path}/work/denied.made")
    answer(home, session, "deny")
    session.wait_ready()
    if home.host.user(["test", "-e", f"{home.path}/work/denied.made"]).returncode == 0:
        raise Failure("it was not denied")


@check(agents=["claude", "claude-new"], otherwise="its questions with choices are not known")
def chosen(home):
    """approve --choice answers a question with choices, and deny closes it"""
    session = home.add(*WORDS[home.agent_name])
    start_wide(session)
    options = [{"label": label, "description": "-"} for label in ("Alpha", "Beta")]
    question = {"question": "Which?", "header": "Q", "options": options}
    asked = calls("AskUserQuestion", {"questions": [question]})
    session.ask(f"{session.marker()} {asked}")
    answer(home, session, "approve", "--choice", "2")
    session.wait_for("Which[?] → Beta")
    session.wait_ready()
    # Of several, each is answered in turn, and then all of them.
    several = calls("AskUserQuestion", {"questions": [question, dict(question, question="What?")]})
    session.ask(f"{session.marker()} {several}")
    for words in (["--choice", "1"], ["--choice", "2"], []):
        answer(home, session, "approve", *words)
    session.wait_for("What[?] → Beta")
    session.wait_ready()
    session.ask(f"{session.marker()} {asked}")
    answer(home, session, "deny")
    session.wait_for("eclined to answer")


@check(agents=["claude", "claude-new"], otherwise="it has no other questions that are known")
def asked(home):
    """approve and deny answer its questions about a tool of a server, a notebook and a page to fetch"""
    home.write("work/n.ipynb", json.dumps(NOTEBOOK))
    url = f"http://127.0.0.1:{home.read('stub.port').strip()}/mcp"
    home.write("mcp.json", json.dumps({"mcpServers": {"stub": {"type": "http", "url": url}}}))
    session = home.add(*WORDS[home.agent_name], "--mcp-config", f"{home.path}/mcp.json")
    start_wide(session)
    session.ask(f"{session.marker()} {calls('mcp__stub__echo', {'text': 'hello there'})}")
    answer(home, session, "approve")
    session.wait_ready()
    path = f"{home.path}/work/n.ipynb"
    session.ask(f"{session.marker()} {calls('Read', {'file_path': path})}")
    session.wait_ready()
    session.ask(f"{session.marker()} {calls('NotebookEdit', {'notebook_path': path, 'cell_id': 'c1', 'new_source': '22'})}")
    answer(home, session, "approve")
    if not look_until(lambda: "22" in home.read("work/n.ipynb"), 20):
        raise Failure(f"the notebook was not edited:\n{session.visible()}")
    session.wait_ready()
    session.ask(f"{session.marker()} {calls('WebFetch', {'url': 'https://example.com/', 'prompt': 'what'})}")
    answer(home, session, "deny")
    session.wait_ready()
