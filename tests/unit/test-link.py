#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-link.py - the far end of a link, agentdeck serve --stdio, as docs/link.md says

USAGE
  test-link.py [CASE...]   only these; agentdeck and its helpers are found in PATH

  AGENTDECK_TEST_KILLS     how often serve is killed while it changes something (20)

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

DEADLINE_S, WINDOW, PIECE = 30, 1 << 18, 1 << 15
KILLS = int(os.environ.get("AGENTDECK_TEST_KILLS", "20"))
HELLO = {"frame": "hello", "protocol": 1}


class Failed(Exception):
    """What was expected, and what was there."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


class Link:
    """A client.  Frames are read one after the other."""

    def __init__(self, home, *words, greets=True):
        self.process = subprocess.Popen(["agentdeck", "serve", "--stdio", *words], env=home.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.text = b""
        self.hello = self.next()
        if greets:
            self.send(**HELLO)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **members):
        self.write(json.dumps(members).encode() + b"\n")

    def request(self, name, *words, **more):
        self.send(frame="request", id=name, argv=words, **more)

    def next(self):
        """The next frame; None: the end."""
        until = time.monotonic() + DEADLINE_S
        while True:
            line, newline, rest = self.text.partition(b"\n")
            if newline:
                self.text = rest
                if line:
                    return json.loads(line)
                continue
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                raise Failed(f"no frame within {DEADLINE_S} s; before it: {self.text[:200]}")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.text += data

    def answer(self, frame):
        """A long command is no silence of its client."""
        if frame["frame"] == "ping":
            self.send(frame="pong")

    def until(self, kind):
        last = time.monotonic() + 4 * DEADLINE_S
        while True:
            frame = self.next()
            expect(frame and time.monotonic() < last, f"without the frame {kind}: {frame}")
            if frame["frame"] == kind:
                return frame
            self.answer(frame)

    def run(self, *words, data=None):
        """The exit status and the output of a command, with so much input."""
        name, output, sent, taken = f"r{time.monotonic_ns()}", b"", 0, 0
        self.request(name, *words, input=data is not None)
        while True:
            while data is not None and sent <= len(data) and sent - taken <= WINDOW - PIECE:
                piece = data[sent:sent + PIECE]
                sent += max(1, len(piece))
                self.send(**({"frame": "data", "id": name, "base64": base64.b64encode(piece).decode()} if piece else {"frame": "end", "id": name}))
            frame = self.next()
            expect(frame, f"{words}: it ended")
            self.answer(frame)
            if frame.get("id") != name:
                continue
            expect(frame["frame"] != "error", f"{words}: {frame}")
            if frame["frame"] == "more":
                taken += frame["count"]
            elif frame["frame"] == "data" and frame["stream"] == "output":
                output += frame["text"].encode() if "text" in frame else base64.b64decode(frame["base64"])
            elif frame["frame"] == "exit":
                return frame["status"], output


class Home:
    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)
        self.work = self.path + "/work"
        os.mkdir(self.path + "/d", 0o700)
        os.mkdir(self.work)
        os.mkdir(self.path + "/run", 0o700)
        with open(self.path + "/d/config.toml", "w", encoding="utf-8") as file:
            file.write("[tmux]\nlaunch_in_user_scope = false\nlinger = false\n")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AGENTDECK_", "TMUX", "XDG_"))}
        self.environment = {**kept, "HOME": self.path, "AGENTDECK_HOME": self.path + "/d", "XDG_RUNTIME_DIR": self.path + "/run"}

    def deck(self, *words, check=True):
        return subprocess.run(["agentdeck", *words], env=self.environment, check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def sessions(self):
        return json.loads(self.deck("list", "--json"))

    def end(self):
        self.deck("session", "stop", "--all", "--quiet", check=False)


def ended(process):
    return not os.path.exists(f"/proc/{process}") or open(f"/proc/{process}/stat", encoding="utf-8").read().rpartition(")")[2].split()[0] == "Z"


def wait_for(condition, what):
    until = time.monotonic() + DEADLINE_S
    while not condition():
        expect(time.monotonic() < until, f"{what}, {DEADLINE_S} s later")
        select.select([], [], [], 0.02)


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def case_it_says_who_it_is(home):
    with Link(home) as link:
        expect((link.hello["frame"], link.hello["oldest"], link.hello["newest"]) == ("hello", 1, 1), link.hello)
        expect(set(link.hello["promises"]) == {"manager", "lingers", "supervised"}, link.hello)
        expect(link.hello["boot_id"] and link.hello["uid"] == os.geteuid(), link.hello)
        link.send(frame="ping")
        expect(link.next() == {"frame": "pong"}, "a ping has no pong")
        link.send(frame="of a later version", id="x")
        link.send(frame="bye")
        expect(link.next()["frame"] == "bye" and link.next() is None, "it does not leave")


def case_a_command_prints_the_same_as_here(home):
    home.deck("add", home.work, "-t", "one", "-c", "cat")
    with Link(home) as link:
        expect(link.run("list", "--json") == (0, home.deck("list", "--json")), "list differs")
        status, output = link.run("session", "show", "nothing", "--json")
        expect(status == 2 and json.loads(output)["success"] is False, output)
        status, output = link.run("add", home.work, "-t", "\u00fcber \U0001F98A", "-c", "cat", "--json")
        expect(status == 0 and json.loads(output)["title"] == "\u00fcber \U0001F98A", output)
    expect(len(home.sessions()) == 2, "the second session is not there")


def case_what_it_does_not_run_is_refused_in_words(home):
    with Link(home) as link:
        for words, told in ((("attach", "x"), "needs a terminal"), (("hook",), "called by agentdeck itself"), (("listt",), "did you mean"),
                            (("serve", "--stdio"), "called by agentdeck itself")):
            link.request("a", *words)
            frame = link.next()
            expect(frame["frame"] == "error" and frame["id"] == "a" and told in frame["error"], frame)
        link.request("follow", "events", "--json")
        link.request("follow", "list")
        expect(link.until("error")["code"] == "ALREADY_EXISTS", "one id for two requests")
        for i in range(15):
            link.request(f"f{i}", "events", "--json")
        link.request("one-too-many", "list")
        frame = link.next()
        while frame.get("id") != "one-too-many":
            frame = link.next()
        expect(frame["frame"] == "error", "there is no limit of requests")


def case_nonsense_ends_it_with_a_reason(home):
    for line in (b"nothing\n", b"[]\n", b'{"frame":"request"}\n', b'{"frame":"request","id":"a b","argv":["list"]}\n', b'{"frame":"request","id":"a","argv":[]}\n',
                 b'{"frame":"request","id":"a","argv":["a\\u0000b"]}\n', b'{"frame":"data","id":"a","base64":"!"}\n', b'{"frame":"hello","protocol":99}\n', b"x" * (1 << 20)):
        with Link(home) as link:
            link.write(line)
            frame = link.next()
            expect(frame["frame"] == "bye" and frame["error"], f"{line[:40]}: {frame}")
            expect(link.next() is None, f"{line[:40]}: it does not end")
    with Link(home, greets=False) as link:
        link.request("a", "list")
        expect("hello" in link.next()["error"], "it runs commands of one that has not said hello")


def case_what_follows_ends_with_the_link(home):
    with Link(home) as link:
        link.request("e", "events", "--json")
        while json.loads(link.until("data")["text"].splitlines()[-1]).get("event") != "snapshot_complete":
            pass
        home.deck("add", home.work, "-t", "new", "-c", "cat")
        expect('"event":"added"' in link.until("data")["text"], "the new session is not told")
        link.send(frame="cancel", id="e")
        expect(link.until("exit")["status"] == 137, "it was not cancelled")
        link.request("again", "events", "--json")
        link.until("data")
        following = children(link.process.pid)
    wait_for(lambda: all(ended(one) for one in following), "events still runs")


def transcripts(home):
    root = home.path + "/.local/share/agentdeck-demo-agent"
    return [os.path.join(where, name) for where, _, names in os.walk(root) for name in names if name.endswith(".jsonl")]


def case_bytes_pass_unchanged(home):
    size = 8 << 20
    home.deck("launch", home.work, "-t", "big", "--agent", "demo", "-m", "hello")
    home.deck("session", "stop", "big")
    kept = transcripts(home)
    expect(len(kept) == 1, kept)
    with open(kept[0], "a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "user", "message": {"role": "user", "content": "\u00e9" * (size // 2)}}) + "\n")
    with Link(home) as link:
        status, parcel = link.run("session", "export", "big", "-")
        expect(status == 0 and len(parcel) > size, f"export: exit {status}, {len(parcel)} bytes")
    other = Home(os.path.dirname(home.path))
    with Link(other) as link:
        status, output = link.run("session", "import", "-", "--json", data=parcel)
        expect(status == 0, output)
        expect(link.run("list", "--json")[0] == 0, "the link is of no use afterwards")
    with open(kept[0], "rb") as file, open(transcripts(other)[0], "rb") as copy:
        expect(file.read() == copy.read(), "the conversation is another one")


def case_an_export_waits_for_a_slow_client(home):
    """Its output is a pipe, so none of it is kept in memory."""
    home.deck("launch", home.work, "-t", "big", "--agent", "demo", "-m", "hello")
    home.deck("session", "stop", "big")
    with open(transcripts(home)[0], "a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "user", "message": {"role": "user", "content": "x" * (8 << 20)}}) + "\n")

    def outputs(link):
        for child in children(link.process.pid):
            with contextlib.suppress(OSError), open(f"/proc/{child}/cmdline", "rb") as words:
                if b"\0-\0" in words.read():
                    yield os.readlink(f"/proc/{child}/fd/1")[:5]

    with Link(home) as link:
        link.request("e", "session", "export", "big", "-")
        wait_for(lambda: list(outputs(link)) == ["pipe:"], "it prints into no pipe")


def case_too_much_input_is_refused(home):
    with Link(home) as link:
        link.request("i", "session", "import", "-", input=True)
        for _ in range(3 * WINDOW // PIECE):
            link.send(frame="data", id="i", base64=base64.b64encode(b"\0" * PIECE).decode())
        expect(link.next(), "it ended")
        expect(link.run("list", "--json")[0] == 0, "the link is of no use afterwards")


def case_a_slow_client_costs_no_memory(home):
    """It reads less than its commands print, and never all of it."""
    with Link(home) as link:
        for i in range(100):
            link.request(f"r{i}", "help", "--all", "--json")
            if i >= 15:
                link.until("exit")
        expect(most_memory(link.process.pid) < 12 << 10, f"{most_memory(link.process.pid)} KiB")


def most_memory(process):
    """In KiB; 0: a sanitizer has its own share of it."""
    with open(shutil.which("agentdeck"), "rb") as program:
        if b"__asan_init" in program.read():
            return 0
    with open(f"/proc/{process}/status", encoding="utf-8") as file:
        return int(next(line.split()[1] for line in file if line.startswith("VmHWM")))


def copy_session(home, count):
    """So many more sessions, without a command for each."""
    home.deck("add", home.work, "-t", "first", "-c", "cat")
    row, = home.sessions()
    found = [where for where, _, _ in os.walk(home.path + "/d") if os.path.basename(where) == row["id"]]
    expect(len(found) == 1, found)
    for i in range(1, count):
        other = f"{i:0{len(row['id'])}}"
        copy = found[0].replace(row["id"], other)
        os.mkdir(copy, 0o700)
        for name in os.listdir(found[0]):
            with open(f"{found[0]}/{name}", encoding="utf-8") as file:
                write(f"{copy}/{name}", file.read().replace(row["id"], other).replace('"first"', f'"t{i}", "notes": "{"n" * 4000}"').rstrip("\n"))
    return row["id"]


def case_two_slow_clients_get_the_newest_of_many_sessions(home):
    """They read nothing while 2,000 sessions are told and one of them changes again and again."""
    count, changes = 2000, 40
    changed = copy_session(home, count)
    expect(len(home.sessions()) == count, "the sessions are not there")
    # They are silent for as long as the changes take, which a busy machine makes long.
    with Link(home, "--silence", "300") as one, Link(home, "--silence", "300") as two:
        for link in (one, two):
            link.request("e", "events", "--json")
        begun = [link.until("data")["text"] for link in (one, two)]
        for i in range(changes):
            home.deck("rename", changed, f"title {i}")
        for link, text in zip((one, two), begun):
            titles = {}
            while titles.get(changed) != f"title {changes - 1}":
                text += link.until("data")["text"]
                *lines, text = text.split("\n")
                titles.update((event["id"], event["title"]) for event in map(json.loads, lines) if "id" in event)
            expect(len(titles) == count, f"{len(titles)} sessions")
            expect(most_memory(link.process.pid) < 12 << 10, f"{most_memory(link.process.pid)} KiB")


def case_input_that_is_cut_off_is_not_taken_for_all(home):
    home.deck("launch", home.work, "-t", "cut", "--agent", "demo")
    with Link(home) as link:
        link.request("s", "session", "send", "cut", "-", input=True)
        link.send(frame="data", id="s", text="delete everything in build/ ")
        link.until("more")
        sending = children(link.process.pid)
        link.send(frame="bye")
        while link.next():
            pass
    wait_for(lambda: all(ended(one) for one in sending), "send still runs")
    expect(b"delete everything" not in home.deck("session", "output", "cut", "--pane"), "half of a message was sent")


def case_a_silent_client_is_left(home):
    with Link(home, "--silence", "1") as link:
        for _ in range(6):
            link.until("ping")
            link.send(frame="pong")
        last = time.monotonic() + DEADLINE_S
        while link.next():
            expect(time.monotonic() < last, "it does not end")
        expect(link.process.wait(DEADLINE_S) == 0, "it did not end by itself")


def agents(home):
    """How many demo agents run below this home."""
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as environ, open(f"/proc/{process}/cmdline", "rb") as words:
            count += f"HOME={home.path}".encode() in environ.read().split(b"\0") and words.read().split(b"\0")[0].endswith(b"agentdeck-demo-agent")
    return count


def change_and_kill(home, turn, once, *words):
    """serve is killed at another moment each time.  What became of the change, as a new link says."""
    with Link(home) as link:
        link.request("c", "--once", once, *words)
        for _ in range(max(0, turn % 8 - 4)):
            if link.next()["frame"] == "exit":
                break
        # A launch takes about 100 ms, and begins when the login's environment is there.
        select.select([], [], [], turn * 7 % 61 * 0.002)
        link.process.kill()
    with Link(home) as link:
        status, output = link.run("once", once, "--wait", str(DEADLINE_S), "--json")
    expect(status == 0, output)
    answer = json.loads(output)
    expect(answer["state"] in ("refused", "ended") and answer.get("status", 0) == 0, answer)
    return answer


def case_a_change_is_made_at_most_once(home):
    for i in range(KILLS):
        once, title = f"launch-{i:04}-{os.getpid():08}", f"k{i}"
        answer = change_and_kill(home, i, once, "launch", home.work, "-t", title, "--agent", "demo", "--no-wait", "--json")
        found = [(one["id"], one["status"]) for one in home.sessions() if one["title"] == title]
        expect(len(found) == (answer["state"] == "ended") and [one["id"] for one in answer["sessions"]] == [one for one, _ in found], f"{title}: {found}, {answer}")
        expect(all(status == "running" for _, status in found), f"{title}: {found}")
        wait_for(lambda count=len(found): agents(home) == count, f"{title}: not {len(found)} agents")
        with Link(home) as link:
            status, output = link.run("--once", once, "launch", home.work, "-t", title + "-again", "--agent", "demo", "--json")
            expect(status == 1 and json.loads(output)["code"] == "ALREADY_EXISTS", output)
        if not found:
            home.deck("add", home.work, "-t", title, "--agent", "demo")
        home.deck("session", "stop", title, "--quiet")
        once = f"start-{i:04}-{os.getpid():08}"
        answer = change_and_kill(home, i + 1, once, "session", "start", title, "--no-wait", "--json")
        row, = [one for one in home.sessions() if one["title"] == title]
        expect(row["status"] == ("running" if answer["state"] == "ended" else "stopped"), f"{title}: {row['status']}, {answer}")
        expect([one["id"] for one in answer["sessions"]] == ([row["id"]] if answer["state"] == "ended" else []), answer)
        wait_for(lambda count=answer["state"] == "ended": agents(home) == count, f"{title}: not one agent after {answer}")
        home.deck("session", "stop", title, "--quiet")
        wait_for(lambda: agents(home) == 0, f"{title}: an agent of no session")
    expect(len(home.sessions()) == KILLS, "there are sessions that no request made")


def case_a_start_of_several_names_them(home):
    for title in ("one", "two", "three"):
        home.deck("add", home.work, "-t", title, "--agent", "demo")
    with Link(home) as link:
        status, output = link.run("--once", "several-0123456789", "start", "one", "two", "--json")
        expect(status == 0, output)
        status, output = link.run("once", "several-0123456789", "--json")
        answer = json.loads(output)
        expect(answer["state"] == "ended" and sorted(one["title"] for one in answer["sessions"]) == ["one", "two"], answer)
        status, output = link.run("--once", "several-0123456789", "start", "--all", "--json")
        expect(status == 1 and b"ALREADY_EXISTS" in output, output)
        home.deck("session", "stop", "--all", "--quiet")


def case_a_change_without_its_answer_is_not_repeated(home):
    """The command itself is killed: cut, and its id stays used."""
    home.deck("add", home.work, "-t", "one", "--agent", "demo")
    with Link(home) as link:
        link.request("s", "--once", "sent-0123456789abc", "session", "send", "one", "-", input=True)
        wait_for(lambda: children(link.process.pid) and os.path.exists(home.path + "/d/once/sent-0123456789abc"), "send does not begin")
        expect(json.loads(home.deck("once", "sent-0123456789abc", "--json"))["state"] == "running", "it runs")
        os.kill(children(link.process.pid)[0], 9)
        link.until("exit")
        status, output = link.run("once", "sent-0123456789abc", "--json")
        expect(status == 0 and json.loads(output)["state"] == "cut", output)
        expect(link.run("--once", "sent-0123456789abc", "session", "send", "one", "x")[0] == 1, "it is run again")
        for words in (("--once", "too-short", "remove", "one"), ("--once", "read-0123456789abc", "list")):
            expect(link.run(*words)[0] == 64, words)
    expect(len(home.sessions()) == 1, "it was removed")


# Each file of a login prints something, and ends without a newline.
SHELLS = {
    "bash": {".bash_profile": ". ~/.bashrc", ".bashrc": "case $- in *i*) ;; *) return ;; esac\nexport PATH=~/.local/bin:$PATH OF_LOGIN='a\nb'\nprintf welcome"},
    "dash": {".profile": "export PATH=$HOME/.local/bin:$PATH OF_LOGIN='a\nb'; printf welcome"},
    "zsh": {".zprofile": "export PATH=$HOME/.local/bin:$PATH OF_LOGIN='a\nb'; printf welcome"},
    "fish": {".config/fish/config.fish": "set -gx PATH $HOME/.local/bin $PATH; set -gx OF_LOGIN 'a\nb'; printf welcome"},
    "tcsh": {".tcshrc": "setenv PATH ${HOME}/.local/bin:${PATH}; setenv OF_LOGIN 'a\\\nb'; printf welcome"},
}


def write(path, text, mode=0o600):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(text + "\n")


def case_a_request_finds_what_a_login_finds(home):
    write(home.path + "/.local/bin/found", '#!/bin/sh\nprintf "%s" "$OF_LOGIN" >"$HOME/seen.new" && mv "$HOME/seen.new" "$HOME/seen"\nexec cat', 0o700)
    for name, files in SHELLS.items():
        if not shutil.which(name):
            print(f"   no {name} here")
            continue
        for file, text in files.items():
            write(f"{home.path}/{file}", text)
        home.environment["SHELL"] = shutil.which(name)
        with Link(home) as link:
            expect(link.run("list", "--json")[0] == 0, "list fails")
            status, output = link.run("launch", home.work, "-t", name, "-c", "found", "--no-wait", "--json")
            expect(status == 0, f"{name}: {output}")
        wait_for(lambda: os.path.exists(home.path + "/seen"), f"{name}: it does not run")
        with open(home.path + "/seen", encoding="utf-8") as file:
            expect(file.read() == "a\nb", f"{name}: a variable is another one")
        os.unlink(home.path + "/seen")
        for file in files:
            os.unlink(f"{home.path}/{file}")


def case_a_shell_that_says_nothing_holds_up_no_request_for_long(home):
    write(home.path + "/hangs", "#!/bin/sh\nsleep 3600 & echo $! >$HOME/asleep.new\nmv $HOME/asleep.new $HOME/asleep\nsleep 3600", 0o700)
    write(home.path + "/noise", "#!/bin/sh\nexec yes", 0o700)
    for shell in ("/hangs", "/noise", "/fails", "/usr/sbin/nologin"):
        home.environment["SHELL"] = shell if shell.startswith("/usr") else home.path + shell
        with Link(home, "--silence", "20") as link:
            expect(link.run("list", "--json")[0] == 0, "list fails")
            expect(shell != "/hangs" or not os.path.exists(home.path + "/asleep"), "list asks the shell")
            status, output = link.run("add", home.work, "-t", shell.rpartition("/")[2], "-c", "cat", "--json")
            expect(status == 0, f"{shell}: {output}")
            expect(link.run("agents", "list", "--json")[0] == 0, f"{shell}: the link is of no use afterwards")
    expect(ended(asleep(home)), "what the shell has started still runs")


def asleep(home):
    with open(home.path + "/asleep", encoding="utf-8") as file:
        return int(file.read())


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failures = 0
    root = tempfile.mkdtemp(prefix="agentdeck-link-")
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
