#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-phone.py - notifications to ntfy and a webhook, and the answers that come back

USAGE
  test-phone.py [CASE...]   only these; agentdeck and its helpers are found in PATH

The server is one of this test on 127.0.0.1, which does of ntfy's protocol what agentdeck uses.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("link", os.path.join(HERE, "test-link.py"))
link_of = importlib.util.module_from_spec(spec)
spec.loader.exec_module(link_of)
expect, Home, DEADLINE_S, wait_for = link_of.expect, link_of.Home, link_of.DEADLINE_S, link_of.wait_for
KEY = "tk_canary7d20c4"


class Server(http.server.ThreadingHTTPServer):
    """What was posted to each topic, and to /hook."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.changed, self.topics, self.hooks, self.keys, self.is_over = threading.Condition(), {}, [], set(), False
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, topic, message):
        with self.changed:
            messages = self.topics.setdefault(topic, [])
            messages.append({**message, "id": f"m{len(messages)}", "event": "message", "topic": topic})
            self.changed.notify_all()

    def told(self, topic="deck"):
        with self.changed:
            return list(self.topics.get(topic, []))

    def end(self):
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def finish_with(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/":
            self.server.keys.add(self.headers["Authorization"])
        if self.path == "/hook":
            self.server.hooks.append(json.loads(text))
        elif self.path == "/":
            message = json.loads(text)
            self.server.add(message["topic"], message)
        elif self.path == "/answers":
            self.server.add("answers", {"message": text})
        else:
            self.finish_with(403)
            return
        self.finish_with(200)

    def do_GET(self):
        self.server.keys.add(self.headers["Authorization"])
        where = urllib.parse.urlsplit(self.path)
        topic, since = where.path.split("/")[1], urllib.parse.parse_qs(where.query)["since"][0]
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        sent = next((i + 1 for i, message in enumerate(self.server.told(topic)) if message["id"] == since), 0)
        self.wfile.write(b'{"id":"x","event":"open","topic":"answers"}\n')
        while not self.server.is_over:
            with self.server.changed:
                news = self.server.topics.get(topic, [])[sent:]
                if not news:
                    self.server.changed.wait(1)
            for message in news:
                self.wfile.write(json.dumps(message).encode() + b"\n")
                sent += 1
            self.wfile.flush()
        self.close_connection = True


class Phone:
    """A supervisor and the server: what a person with a phone sees and presses."""

    def __init__(self, home, text=""):
        self.home, self.server = home, Server()
        link_of.write(home.path + "/key", KEY + "\n")
        os.chmod(home.path + "/key", 0o600)
        with open(home.path + "/d/config.toml", "a", encoding="utf-8") as file:
            file.write(f'[notify]\nntfy = "{self.server.url}/deck"\nkey = "{home.path}/key"\n' + text.replace("URL", self.server.url))
        with open(home.path + "/supervisor", "wb") as file:
            self.supervisor = subprocess.Popen(["agentdeck", "supervise"], env=home.environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def __enter__(self):
        try:
            wait_for(lambda: subprocess.run(["agentdeck", "supervise", "--status"], env=self.home.environment, check=False, stdout=subprocess.DEVNULL).returncode == 0, "no supervisor")
        except link_of.Failed:
            with open(self.home.path + "/supervisor", encoding="utf-8", errors="replace") as file:
                print(file.read(), self.supervisor.poll(), self.log())
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.supervisor.terminate()
        self.supervisor.wait()
        self.server.end()

    def asks(self, title):
        """The agent asks for a permission: the notification of it."""
        before = len(self.server.told())
        self.home.deck("send", title, "/run make")
        self.home.deck("status", "--wait", "waiting", "--timeout", "30", title)
        wait_for(lambda: len(self.server.told()) > before, "there is no notification")
        return self.server.told()[before]

    def press(self, message, label):
        before = len(self.server.told())
        action, = (one for one in message["actions"] if one["label"] == label)
        expect(action["url"] == self.server.url + "/answers" and action["method"] == "POST", action)
        self.server.add("answers", {"message": action["body"]})
        wait_for(lambda: len(self.server.told()) > before, f"there is no receipt of {label}; the log: {self.log()}")
        return self.server.told()[before]["message"]

    def activity(self, title):
        return next(one["activity"] for one in self.home.sessions() if one["title"] == title)

    def log(self):
        with open(self.home.path + "/d/logs/agentdeck.log", encoding="utf-8") as file:
            return file.read()

    def must_not_be_on_disk(self, secret):
        found = subprocess.run(["grep", "-rl", "--exclude=key", "-e", secret, self.home.path], check=False, text=True, stdout=subprocess.PIPE).stdout
        expect(not found, f"{secret} is in {found}")


ANSWERS = 'question = true\nanswers = "URL/answers"\n'


def case_a_question_is_not_told_unless_its_user_wants_it(home):
    with Phone(home, 'webhook = "URL/hook"\n') as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        message = phone.asks("api")
        expect(message["title"] == "api" and message["message"] == "it is waiting for you" and "actions" not in message, message)
        wait_for(lambda: phone.server.hooks, "the webhook is not called")
        hook = phone.server.hooks[0]
        expect(hook["occasion"] == "waiting" and hook["title"] == "api" and "question" not in hook and "approve" not in hook, hook)
        expect(phone.server.keys == {"Bearer " + KEY}, phone.server.keys)
        phone.must_not_be_on_disk(KEY)


def case_one_answer_approves_exactly_one_question(home):
    with Phone(home, ANSWERS) as phone:
        for title in ("api", "web"):
            home.deck("launch", home.work, "-t", title, "--agent", "demo")
        first, other = phone.asks("api"), phone.asks("web")
        expect("make" in first["message"] and [one["label"] for one in first["actions"]] == ["Approve", "Deny"], first)
        phone.must_not_be_on_disk(first["actions"][0]["body"])
        expect(phone.press(first, "Approve") == "api: approved", phone.server.told())
        wait_for(lambda: phone.activity("api") != "waiting", "api is still waiting")
        expect(phone.activity("web") == "waiting", "the other one was answered, too")
        # Neither half counts a second time.
        for label in ("Approve", "Deny"):
            expect(phone.press(first, label).startswith("api: nothing was answered: this question has its answer"), phone.server.told())
        expect(phone.press(other, "Deny") == "web: denied", phone.server.told())


def case_an_answer_to_a_question_that_is_gone_does_nothing(home):
    with Phone(home, ANSWERS) as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        first = phone.asks("api")
        home.deck("deny", "api", "--yes")
        home.deck("send", "api", "enough")
        home.deck("status", "--wait", "idle", "--timeout", "30", "api")
        receipt = phone.press(first, "Approve")
        expect(receipt.startswith("api: nothing was answered:"), receipt)


def case_an_answer_does_not_count_for_a_later_question_of_the_same_text(home):
    with Phone(home, ANSWERS) as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        first = phone.asks("api")
        home.deck("deny", "api", "--yes")
        home.deck("send", "api", "enough")
        home.deck("status", "--wait", "idle", "--timeout", "30", "api")
        second = phone.asks("api")
        expect(second["message"] == first["message"] and second["actions"] != first["actions"], second)
        receipt = phone.press(first, "Approve")
        expect(receipt.startswith("api: nothing was answered:") and phone.activity("api") == "waiting", receipt)
        expect(phone.press(second, "Approve") == "api: approved", phone.server.told())


def case_an_answer_that_is_late_does_nothing(home):
    with Phone(home, ANSWERS) as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        first = phone.asks("api")
        for name in os.listdir(home.path + "/d/answers"):
            path = home.path + "/d/answers/" + name
            with open(path, encoding="utf-8") as file:
                record = json.load(file)
            link_of.write(path, json.dumps({**record, "expires_s": 1}))
        receipt = phone.press(first, "Approve")
        expect(receipt == "api: nothing was answered: the time for it is over", receipt)
        expect(phone.activity("api") == "waiting", "it was answered")


def case_what_is_no_token_is_left_alone(home):
    with Phone(home, ANSWERS) as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        first = phone.asks("api")
        for text in ("", "approve", "agentdeck-", "agentdeck-../../config.toml", "x" * 70000, "\x1b]0;x\x07", "agentdeck-00000000-0000-4000-8000-00000000000",
                     "agentdeck-00000000-0000-4000-8000-000000000000"):
            phone.server.add("answers", {"message": text})
        expect(phone.press(first, "Approve") == "api: approved", phone.server.told())
        expect(len(phone.server.told()) == 2, phone.server.told())


def case_a_server_that_refuses_is_named_without_its_path(home):
    with Phone(home, 'webhook = "URL/secret-path"\n') as phone:
        home.deck("launch", home.work, "-t", "api", "--agent", "demo")
        phone.asks("api")
        wait_for(lambda: "refuses it with status 403" in phone.log(), "the log says nothing")
        expect("secret-path" not in phone.log(), phone.log())


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    cases = {name[len("case_"):]: case for name, case in globals().items() if name.startswith("case_")}
    failures = 0
    with tempfile.TemporaryDirectory(prefix="agentdeck-phone-") as root:
        for name in sys.argv[1:] or cases:
            home = Home(root)
            try:
                cases[name](home)
                print("ok", name, flush=True)
            except (link_of.Failed, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"FAILED {name}: {error!r}", flush=True)
            finally:
                home.end()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
