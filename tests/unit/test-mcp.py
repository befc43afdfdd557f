#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-mcp.py - agents that launch agents: agentdeck mcp and agentdeck skill, as docs/interface.md says

USAGE
  test-mcp.py [CASE...]   only these; agentdeck and its helpers are found in PATH

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import importlib.util
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("link", os.path.join(HERE, "test-link.py"))
link_of = importlib.util.module_from_spec(spec)
spec.loader.exec_module(link_of)
expect, Failed, Home, DEADLINE_S, wait_for = link_of.expect, link_of.Failed, link_of.Home, link_of.DEADLINE_S, link_of.wait_for
TOOLS = ["list", "launch", "send", "wait", "output", "changes", "stop"]


class Server:
    """A client of agentdeck mcp."""

    def __init__(self, home, **variables):
        self.process = subprocess.Popen(["agentdeck", "mcp"], env={**home.environment, **variables}, cwd=home.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.text, self.last = b"", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def write(self, data):
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self):
        """The next line; None: the end."""
        until = time.monotonic() + 4 * DEADLINE_S
        while b"\n" not in self.text:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise Failed(f"no line in time; before it: {self.text[:200]}")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.text += data
        line, _, self.text = self.text.partition(b"\n")
        message = json.loads(line)
        expect(message["jsonrpc"] == "2.0", message)
        return message

    def request(self, method, **params):
        self.last += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode())
        return self.last

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method, **params):
        number = self.request(method, **params)
        answer = self.next()
        expect(answer["id"] == number, answer)
        return answer

    def call(self, tool, **arguments):
        """Whether it failed, and its text, as JSON if it is some."""
        return told(self.ask("tools/call", name=tool, arguments=arguments))


def told(answer):
    expect("result" in answer, answer)
    content = answer["result"]["content"]
    expect(len(content) == 1 and content[0]["type"] == "text", answer)
    try:
        return answer["result"]["isError"], json.loads(content[0]["text"])
    except ValueError:
        return answer["result"]["isError"], content[0]["text"]


def refused(answer, words):
    expect(answer[0] is True and words in str(answer[1]), f"not refused with '{words}': {answer}")


def configure(home, text):
    with open(home.path + "/d/config.toml", "a", encoding="utf-8") as file:
        file.write(text)


def case_it_speaks_the_protocol(home):
    for wanted, given in (("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")):
        with Server(home) as server:
            result = server.ask("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "a test", "version": "1"})["result"]
            expect(result["protocolVersion"] == given and result["serverInfo"]["name"] == "agentdeck" and "tools" in result["capabilities"], result)
            for params in (b'{}', b'null', b'[]'):
                server.write(b'{"jsonrpc":"2.0","method":"notifications/initialized","params":' + params + b'}')
            expect(server.ask("ping")["result"] == {}, "a ping has no answer")
            tools = server.ask("tools/list")["result"]["tools"]
            expect([tool["name"] for tool in tools] == TOOLS, tools)
            for tool in tools:
                schema = tool["inputSchema"]
                expect(tool["description"] and schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"]), tool)
            expect(server.ask("resources/list")["error"]["code"] == -32601, "an unknown method has an answer")
            server.process.stdin.close()
            expect(server.next() is None and server.process.wait(DEADLINE_S) == 0, "it does not end with its input")


# An agent, which does what its arguments say: calls of tools, whose results it saves.
AGENT = r"""
import json, os, subprocess, sys
# codex gives its servers hardly any variables
few = {name: os.environ[name] for name in ("HOME", "PATH", "AGENTDECK_HOME") if name in os.environ}
server = subprocess.Popen(["agentdeck", "mcp"], env=few if sys.argv[2:] else None, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
results = []
for name, arguments in json.load(open(sys.argv[1])):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}).encode() + b"\n")
    server.stdin.flush()
    result = json.loads(server.stdout.readline())["result"]
    results.append([result["isError"], result["content"][0]["text"]])
with open(sys.argv[1] + ".new", "w") as file:
    json.dump(results, file)
os.rename(sys.argv[1] + ".new", sys.argv[1] + ".done")
sys.stdin.read()
"""


def run_agent(home, title, *calls, by=None, has_few=False):
    """An agent in a session makes these calls.  by: who launches it, as launch --launched-by."""
    link_of.write(home.path + "/agent.py", AGENT)
    script = f"{home.path}/{title}.json"
    link_of.write(script, json.dumps(calls))
    home.deck("launch", home.work, "-t", title, "-c", f"{sys.executable} {home.path}/agent.py {script}{' few' if has_few else ''}", "--no-wait", *(("--launched-by", by) if by else ()))
    wait_for(lambda: os.path.exists(script + ".done"), f"{title} does not finish")
    with open(script + ".done", encoding="utf-8") as file:
        return json.load(file)


def case_an_agent_launches_two_helpers_and_reads_their_answers(home):
    results = run_agent(
        home, "boss",
        ("launch", {"title": "left", "agent": "demo", "message": "the kettle is on the left"}),
        ("launch", {"title": "right", "agent": "demo"}),
        ("send", {"session": "right", "message": "the cup is on the right", "wait": True}),
        ("wait", {"sessions": ["left", "right"], "states": ["idle", "waiting"], "timeout_s": 120}),
        ("send", {"session": "left", "message": "again", "wait": True}),
        ("output", {"session": "left"}), ("output", {"session": "right"}), ("list", {}), ("stop", {"session": "left"}), ("list", {}))
    expect(not any(failed for failed, _ in results), results)
    values = [json.loads(text) for _, text in results]
    boss, = [one for one in home.sessions() if one["title"] == "boss"]
    expect(values[0]["delivery"] == "submitted" and values[0]["group"] == "agents" and values[0]["yours"], values[0])
    expect(values[3] and all(one["activity"] in ("idle", "waiting") and one["yours"] for one in values[3]), values[3])
    expect("the kettle is on the left" in values[5]["content"] and "the cup is on the right" in values[6]["content"], values[5:7])
    expect(sorted(one["title"] for one in values[7]) == ["left", "right"], values[7])
    expect({one["title"]: one["status"] for one in values[9]} == {"left": "stopped", "right": "running"}, values[9])
    manifest = home.path + "/d/profiles/default/" + values[0]["id"] + "/instance.json"
    manifest = manifest if os.path.exists(manifest) else subprocess.check_output(["find", home.path + "/d", "-path", f"*{values[0]['id']}/instance.json"], text=True).strip()
    with open(manifest, encoding="utf-8") as file:
        expect(json.load(file)["launched_by"] == boss["id"], "the manifest does not say who launched it")


def case_the_caps_of_the_user_hold(home):
    configure(home, "[mcp]\nchildren = 1\n")
    with Server(home) as server:
        numbers = [server.request("tools/call", name="launch", arguments={"title": title, "agent": "demo"}) for title in ("one", "two")]
        answers = {answer["id"]: told(answer) for answer in (server.next(), server.next())}
        expect(answers[numbers[0]][0] is False, answers)
        refused(answers[numbers[1]], "[mcp] children")
        expect(server.call("stop", session="one")[0] is False, "one is not stopped")
        expect(server.call("launch", title="three", agent="demo", branch=None, worktree=None)[0] is False, "a stopped session counts")
    # A session of an agent's launches none.
    failed, text = run_agent(home, "child", ("launch", {"title": "grandchild", "agent": "demo"}), by="user")[0]
    refused((failed, text), "[mcp] depth")
    expect(sorted(one["title"] for one in home.sessions()) == ["child", "one", "three"], home.sessions())


def case_none_at_all_may_be_launched(home):
    configure(home, "[mcp]\nchildren = 0\n")
    with Server(home) as server:
        refused(server.call("launch", title="one", agent="demo"), "[mcp] children")


def case_only_its_own_is_stopped(home):
    home.deck("launch", home.work, "-t", "mine", "--agent", "demo")
    with Server(home) as server:
        refused(server.call("stop", session="mine"), "not launched by you")
        expect(server.call("list") == (False, []), "it lists what it did not launch")
        failed, sessions = server.call("list", all=True)
        expect(not failed and [one["title"] for one in sessions] == ["mine"] and sessions[0]["yours"] is False, sessions)
        refused(server.call("stop", session="nothing"), "nothing")
    results = run_agent(home, "self", ("stop", {"session": "self"}), ("send", {"session": "self", "message": "x"}), ("stop", {"session": "mine"}))
    for result, words in zip(results, ("your own session", "your own session", "not launched by you")):
        refused(result, words)
    expect({one["title"]: one["status"] for one in home.sessions()} == {"mine": "running", "self": "running"}, home.sessions())


def case_a_caller_without_its_environment_is_known(home):
    configure(home, "[mcp]\napprove = true\n")
    results = run_agent(home, "self", ("stop", {"session": "self"}), ("approve", {"session": "self"}), ("launch", {"title": "grandchild", "agent": "demo"}), by="user", has_few=True)
    for result, words in zip(results, ("your own session", "your own session", "[mcp] depth")):
        refused(result, words)


def case_what_is_launched_has_the_variables_of_its_launcher(home):
    home.environment["A_KEY_OF_ITS_USER"] = "kettle"
    failed, text = run_agent(home, "boss", ("launch", {"title": "one", "agent": "demo"}), has_few=True)[0]
    expect(not failed, text)
    server = json.loads(home.deck("session", "show", "one", "--json"))["tmux"]["server_pid"]
    with open(f"/proc/{server}/environ", "rb") as file:
        expect(b"A_KEY_OF_ITS_USER=kettle" in file.read().split(b"\0"), "the variable is not there")


def case_an_id_that_is_a_title_misleads_no_call(home):
    with Server(home) as server:
        failed, child = server.call("launch", title="child", agent="demo")
        expect(not failed, child)
        home.deck("launch", home.work, "-t", child["id"], "--agent", "demo")
        refused(server.call("stop", session="child"), "as its title")
        refused(server.call("send", session="child", message="a secret"), "as its title")
    expect({one["title"]: one["status"] for one in home.sessions()} == {"child": "running", child["id"]: "running"}, home.sessions())


def case_a_shell_is_no_agent(home):
    home.deck("launch", home.work, "-t", "mine", "-c", "cat")
    with Server(home) as server:
        refused(server.call("launch", title="one", agent="shell", message="id"), "no coding agent")
        refused(server.call("send", session="mine", message="id"), "no coding agent")


def case_what_the_user_forbids_counts_at_once(home):
    with Server(home) as server:
        expect(server.call("launch", title="one", agent="demo")[0] is False, "it cannot launch")
        configure(home, "[mcp]\nchildren = 0\n")
        refused(server.call("launch", title="two", agent="demo"), "[mcp] children")
        configure(home, "[nothing")
        refused(server.call("launch", title="two", agent="demo"), "config.toml")
        expect(server.call("list")[0] is False, "it cannot look")


def case_servers_count_together(home):
    configure(home, "[mcp]\nchildren = 1\n")
    with Server(home) as one, Server(home) as two, Server(home) as three:
        for server in (one, two, three):
            server.request("tools/call", name="launch", arguments={"title": f"s{id(server)}", "agent": "demo"})
        answers = [told(server.next())[0] for server in (one, two, three)]
    expect(sorted(answers) == [False, True, True] and len(home.sessions()) == 1, f"{answers} {home.sessions()}")


def case_questions_are_answered_only_where_the_user_allows_it(home):
    home.deck("launch", home.work, "-t", "mine", "--agent", "demo")
    with Server(home) as server:
        for tool in ("approve", "deny"):
            refused(server.call(tool, session="mine"), "[mcp] approve")
    configure(home, "[mcp]\napprove = true\n")
    with Server(home) as server:
        names = [tool["name"] for tool in server.ask("tools/list")["result"]["tools"]]
        expect(names == TOOLS + ["approve", "deny"], names)
        refused(server.call("approve", session="mine"), "not launched by you")
        expect(server.call("launch", title="child", agent="demo")[0] is False, "it cannot launch")
        failed, answer = server.call("approve", session="child")
        expect(failed and "launched by you" not in str(answer) and "[mcp]" not in str(answer), answer)
    refused(run_agent(home, "self", ("approve", {"session": "self"}))[0], "your own session")


def case_a_session_that_it_is_not_in_gives_no_rights(home):
    home.deck("launch", home.work, "-t", "other", "--agent", "demo")
    other = home.sessions()[0]["id"]
    for name in (other, "abcd2345"):
        with Server(home, AGENTDECK_INSTANCE=name) as server:
            refused(server.call("launch", title="one", agent="demo"), "not one of its processes")
            refused(server.call("stop", session="other"), "not one of its processes")
            expect(server.call("list", all=True)[0] is False, "it cannot look")


def case_hostile_lines_are_refused_one_by_one(home):
    deep = b"[" * 100 + b"]" * 100
    for line, code in ((b"nothing", -32700), (b"\xff\xfe", -32700), (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + deep + b"}", -32700),
                       (b'{"jsonrpc":"2.0","id":1,"method":"p\xc3"}', -32700), (b"[]", -32600), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b"1", -32600),
                       (b'{"id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
                       (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600), (b'{"jsonrpc":"2.0","id":1}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
                       (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602), (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
                       (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["list"]}}', -32602), (b'"' + b"x" * (3 << 20) + b'"', -32700)):
        with Server(home) as server:
            server.write(line)
            answer = server.next()
            expect(answer.get("error", {}).get("code") == code, f"{line[:60]}: {answer}")
            server.write(b'{"jsonrpc":"2.0","id":1,"result":{}}')
            server.notify("notifications/cancelled", requestId=[])
            server.notify("of a later revision")
            expect(server.ask("ping")["result"] == {}, f"{line[:60]}: it is of no use afterwards")


def case_hostile_arguments_become_no_options(home):
    with Server(home) as server:
        for arguments, words in (({}, "needs the argument title"), ({"title": 1}, "title must be"), ({"title": ""}, "title must be"), ({"title": "a\0b"}, "title must be"),
                                 ({"title": "a", "worktree": "yes"}, "worktree must be"), ({"title": "a", "args": ["x"]}, "no argument args"), ({"title": "a", "path": "--clean"}, "./--clean"),
                                 ({"title": "a", "path": "-c"}, "./-c"), ({"title": "a", "agent": "--help"}, "--help"), ({"title": "a\nb", "agent": "demo"}, "title")):
            refused(server.call("launch", **arguments), words)
        for arguments, words in (({"sessions": "a"}, "list of texts"), ({"sessions": []}, "list of texts"), ({"sessions": ["a"] * 33}, "list of texts"), ({"sessions": [["a"]]}, "none of them empty"),
                                 ({"sessions": ["--all"]}, "--all"), ({"sessions": ["a"], "timeout_s": 1e9}, "whole number"), ({"sessions": ["a"], "timeout_s": 601}, "whole number"),
                                 ({"sessions": ["a"], "states": ["dead"]}, "some of")):
            refused(server.call("wait", **arguments), words)
        refused(told(server.ask("tools/call", name="list", arguments=["all"])), "an object")
    expect(home.sessions() == [], home.sessions())


def case_a_call_is_cancelled(home):
    home.deck("launch", home.work, "-t", "one", "--agent", "demo")
    with Server(home) as server:
        number = server.request("tools/call", name="wait", arguments={"sessions": ["one"], "states": ["error"], "timeout_s": 600})
        wait_for(lambda: link_of.children(server.process.pid), "it does not wait")
        waiting = link_of.children(server.process.pid)
        expect(server.ask("ping")["result"] == {}, "a call keeps others waiting")
        server.notify("notifications/cancelled", requestId=number, reason="enough")
        wait_for(lambda: all(link_of.ended(one) for one in waiting), "it still waits")
        expect(server.ask("ping")["result"] == {}, "a cancelled call was answered")


def case_a_wait_ends_with_its_client(home):
    home.deck("launch", home.work, "-t", "one", "--agent", "demo")
    with Server(home) as server:
        server.request("tools/call", name="wait", arguments={"sessions": ["one"], "states": ["error"], "timeout_s": 600})
        wait_for(lambda: link_of.children(server.process.pid), "it does not wait")
        server.process.stdin.close()
        expect(server.next() is None and server.process.wait(DEADLINE_S) == 0, "it does not end with its input")


def case_a_long_output_is_cut(home):
    with Server(home) as server:
        expect(server.call("launch", title="one", agent="demo")[0] is False, "it cannot launch")
        expect(server.call("send", session="one", message="\u00e9" * 9000, wait=True)[0] is False, "it cannot send")
        failed, text = server.call("output", session="one")
        expect(failed is False and "[cut here: " in text and len(text.encode()) < (1 << 15) + 100, (failed, len(text), text[-100:]))


def case_it_ends_with_its_reader(home):
    with Server(home) as server:
        expect(server.ask("ping")["result"] == {}, "it does not answer")
        server.process.stdout.close()
        expect(server.process.wait(DEADLINE_S) == 0, "it does not end")
        server.process.stdout = open(os.devnull, "rb")


def case_the_commands_of_the_skill_run(home):
    skill = home.deck("skill").decode()
    expect(re.match(r"---\nname: agentdeck\ndescription: >-\n(  .+\n)+---\n", skill), skill[:200])
    commands = re.findall(r"^    (agentdeck .*)$", skill, re.M)
    expect(len(commands) == 7, commands)
    for command in commands:
        done = subprocess.run(["bash", "-c", command.replace("--quick", "--agent demo")], env=home.environment, cwd=home.work, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        # The demo agent's session has no tree of its own, whose changes there would be.
        expect(done.returncode == 0 or "changes" in command, f"{command}: {done}")
        expect(json.loads(done.stdout) is not None, f"{command}: {done}")


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failures, root = 0, tempfile.mkdtemp(prefix="agentdeck-mcp-")
    try:
        for name in sys.argv[1:] or cases:
            home = Home(root)
            try:
                cases[name](home)
                print(f"ok {name}", flush=True)
            except (Failed, OSError, KeyError, ValueError, subprocess.SubprocessError) as failure:
                failures += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                home.end()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
