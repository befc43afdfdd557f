#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-damage.py - every command on every kind of damaged manifest

USAGE
  test-damage.py [KIND...]   only these kinds of damage; agentdeck is found in PATH

The commands are those of the sources.  None may end by a signal, or change or remove the damaged
file, which may only be set aside, or another session.  Where a command names the damaged session, it says what to do,
and with --json it prints an error and never success.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/cli/cmd")
MANIFEST = "instance.json"
# These wait for a user or for events, or need an engine; launch is an add and a start.
LEFT_OUT = {"events", "supervise", "ui", "wall", "image build-default", "launch"}
# remove takes it, and settle asks before that; logs needs no manifest, a wait is for states, and
# two want a terminal first. forward is for the sessions of other hosts.
EXEMPT = {"remove", "settle", "logs", "status", "session attach", "switch", "forward"}
# These are for all sessions.
FOR_ALL = {"group rename", "group remove"}
# Called by agentdeck itself: they only have to end.
OWN = {"hook", "pane", "revive", "notice", "with-session", "serve", "keep-forward"}
WORDS = {"TITLE": "other", "NAME": "other", "GROUP": "work", "FIELD": "group", "VALUE": "work", "TEXT": "hello",
         "OCCASION": "start", "RUN": "run", "AGENT": "demo", "PROFILE": "other", "SHELL": "bash", "KEY": "ui.ascii",
         "COMMAND": "true", "WORD": "word", "PATH": "."}
EXTRA = {"top": ["--once"], "remove": ["--force"], "purge": ["--force"], "session eject": ["--force"],
         "session approve": ["--yes"], "session deny": ["--yes"], "session restart": ["--no-wait"],
         "session start": ["--no-wait", "--no-supervise"], "session limit": ["--memory-max=1G"],
         "session queue": ["--cancel=all"],
         "session fork": ["--no-start"], "session move": ["--abandon"], "host create": ["--slurm"], "session output": ["--pane"],
         "status": ["--wait", "error", "--timeout", "1"]}
REMEDY = re.compile(r"repair it|remove it|agentdeck remove|newer agentdeck|put the (file|directory) itself|chmod")


def damages(text):
    """Each kind: its name, and what makes it at this path."""
    def write(data):
        return lambda path: open(path, "wb").write(data)

    def change(**keys):
        return write(json.dumps({**json.loads(text), **keys}).encode())

    def instead(make):
        def put(path):
            os.rename(path, path + ".kept")
            make(path)
        return put

    def beside(name, make):
        """What is beside the session's directory, instead; DIRECTORY.lock or a name."""
        def put(path):
            session = os.path.dirname(path)
            place = os.path.join(os.path.dirname(session), name) if name else session + ".lock"
            if os.path.lexists(place):
                os.remove(place)
            make(place)
        return put

    def link_directory(path):
        session = os.path.dirname(path)
        os.rename(session, session + "-kept")
        os.symlink(session + "-kept", session)

    size = len(text)
    without = {key: value for key, value in json.loads(text).items() if key in ("format", "id")}
    return {
        "empty": write(b""), "one_byte": write(text[:1]), "half": write(text[:size // 2]), "last_byte_missing": write(text[:-3]),
        "no_json": write(b"this is no JSON\n"), "a_list": write(b"[]"), "a_number": write(b"17"), "null": write(b"null"),
        "no_keys": write(b"{}"), "few_keys": write(json.dumps(without).encode()),
        "container_without_recipe": change(backend="container"), "unknown_backend": change(backend="cloud"),
        "wrong_types": change(title=17, id=[], directory={}, created_at=True), "wrong_type_of_id": change(id=17),
        "numbers_out_of_range": change(created_at=2**70, format=-1), "newer": change(format=2),
        "id_of_another": change(id="aaaaaaaa"), "nul": write(text.replace(b'"bad"', b'"b\0ad"')),
        "no_utf8": write(text.replace(b'"bad"', b'"b\xff\xfead"')), "zeros": write(bytes(size)),
        "huge": write(text + b" " * (5 << 20)), "deep": write(b"[" * 100000),
        "unreadable": lambda path: os.chmod(path, 0), "a_directory": instead(os.mkdir),
        "a_link": instead(lambda path: os.symlink(os.path.basename(path) + ".kept", path)),
        "a_link_to_nothing": instead(lambda path: os.symlink("nothing", path)), "a_fifo": instead(os.mkfifo),
        "no_words": change(argv=[]), "words_of_other_types": change(argv=[1, None, {}]),
        "escaped_nul": write(text.replace(b'"bad"', b'"b\\u0000ad"')), "nested": change(future=json.loads("[" * 70 + "]" * 70)),
        "two_ids": write(text.replace(b'"title"', b'"id": "aaaaaaaa", "title"', 1)), "id_with_slashes": change(id="../good"),
        "base_with_slashes": change(base="../good"), "directory_a_link": link_directory,
        "lock_a_directory": beside(None, os.mkdir), "lock_a_fifo": beside(None, os.mkfifo),
        "index_a_directory": beside("instances.json", os.mkdir), "index_a_fifo": beside("instances.json", os.mkfifo),
        "missing": lambda path: os.rename(path, os.path.join(os.path.dirname(path), MANIFEST + ".damaged-2026-01-01T00:00:00Z")),
    }


def read_commands():
    """Name, synopsis of the operands and whether it has --json, of each."""
    found = []
    for name in sorted(os.listdir(SOURCES)):
        if name.endswith(".c"):
            with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
                for block in re.findall(r"^const struct command command_\w+ = \{(.*?)^\};", file.read(), re.S | re.M):
                    synopsis = re.search(r'\.arguments = "(.*)"', block)
                    found.append((re.search(r'\.name = "(.*)"', block)[1], synopsis[1] if synopsis else "", "HAS_JSON" in block))
    return found


def line_of(name, synopsis, session, file):
    operands = []
    for word in synopsis.split():
        bare = word.strip("[].")
        if bare == "--":
            operands.append(bare)
        elif bare.split("|")[0] in ("SESSION", "INSTANCE"):
            operands.append(session)
        elif bare == "FILE":
            operands.append(file)
        elif bare in WORDS:
            operands.append(WORDS[bare])
    options = EXTRA.get(name, [])
    return name.split() + options + operands


class Deck:
    def __init__(self, root):
        self.home = os.path.join(root, "deck")
        self.work = os.path.join(root, "work")
        for name in ("deck", "work", "user", "tmp"):
            os.mkdir(os.path.join(root, name), 0o700)
        with open(os.path.join(self.home, "config.toml"), "w", encoding="utf-8") as file:
            file.write("[tmux]\nlaunch_in_user_scope = false\nlinger = false\n")
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("AGENTDECK_", "XDG_", "TMUX"))}
        self.environment.update(AGENTDECK_HOME=self.home, HOME=os.path.join(root, "user"), TMPDIR=os.path.join(root, "tmp"),
                                SHELL="/bin/sh", EDITOR="true", VISUAL="true", LC_ALL="C.UTF-8")
        self.run("add", ".", "-t", "good", "--agent", "demo", "-g", "work")
        self.run("add", ".", "-t", "bad", "--agent", "demo")
        self.good = json.loads(self.run("show", "good", "--json").stdout)["id"]
        self.id = json.loads(self.run("show", "bad", "--json").stdout)["id"]

    def run(self, *words):
        return subprocess.run(["agentdeck", *words], cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)


def state_of(directory):
    """Each file below, but locks and the cache, with what it is."""
    found = {}
    for place, folders, files in os.walk(directory):
        for name in folders + files:
            path = os.path.join(place, name)
            if name.endswith(".lock") or name == "instances.json" or name.startswith(".tmp-"):
                continue
            status = os.lstat(path)
            kind = (oct(status.st_mode), status.st_size if os.path.isfile(path) else 0)
            if os.path.isfile(path) and not os.path.islink(path) and os.access(path, os.R_OK):
                with open(path, "rb") as file:
                    kind += (hash(file.read()),)
            found[os.path.relpath(path, directory)] = kind
    return found


def judge(name, words, result, names_damaged):
    """What is wrong with this end of a command."""
    out, err = result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")
    if result.returncode < 0 or result.returncode == 124 or result.returncode > 127 or "Sanitizer" in err or "runtime error" in err:
        return f"status {result.returncode}: {err[-1500:]}"
    if name not in OWN and "--json" in words and out.startswith("{\n") and '"success": ' in out and \
            json.loads(out)["success"] != (result.returncode == 0):
        return f"status {result.returncode}, and says {out[:300]}"
    if name in OWN or not names_damaged:
        return None
    if result.returncode == 0:
        return f"success: {out[:300]}"
    if "--json" in words:
        try:
            said = json.loads(out)
        except ValueError:
            return f"no JSON: {out[:300]!r} {err[:300]!r}"
        if isinstance(said, list):
            said = said[0] if said else {}
        if said.get("success") is not False or not said.get("error") or not said.get("code"):
            return f"no error in {out[:300]}"
        err = said["error"]
    return None if REMEDY.search(err) else f"no remedy in {err[:300]!r}"


def check(kind, commands):
    problems, count = [], 0
    root = tempfile.mkdtemp(prefix="agentdeck-damage-")
    try:
        deck = Deck(root)
        session = os.path.join(deck.home, "default", deck.id)
        manifest = os.path.join(session, MANIFEST)
        with open(manifest, "rb") as file:
            text = file.read()
        damage = damages(text)[kind]
        kept = os.path.join(root, "kept")
        # before the damage: what cannot be read cannot be copied
        subprocess.run(["cp", "-a", deck.home, kept], check=True)
        damage(manifest)
        before = state_of(session)
        good = state_of(os.path.join(deck.home, "default", deck.good))
        # What can be read after all is not damaged: then nothing may crash, that is all.
        is_damaged = deck.run("show", deck.id, "--json").returncode != 0
        for name, synopsis, has_json in commands:
            for json_words in ([], ["--json"]) if has_json else ([],):
                words = line_of(name, synopsis, deck.id, os.path.join(root, "file"))
                cut = words.index("--") if "--" in words else len(words)
                words = words[:cut] + json_words + words[cut:]
                count += 1
                try:
                    result = deck.run(*words)
                except subprocess.TimeoutExpired:
                    problems.append(f"{' '.join(words)}: it does not end")
                    continue
                names_damaged = is_damaged and deck.id in words and name not in EXEMPT
                wrong = judge(name, words, result, names_damaged)
                after = state_of(session)
                if wrong:
                    problems.append(f"{' '.join(words)}: {wrong}")
                if is_damaged and name != "remove" and sorted(after.values()) != sorted(before.values()):
                    problems.append(f"{' '.join(words)}: the files are not as before: {sorted(after)}")
                changed = state_of(os.path.join(deck.home, "default", deck.good)) != good
                if changed and name not in FOR_ALL:
                    problems.append(f"{' '.join(words)}: it has changed another session")
                if after != before or changed or name in ("prune", "restore", "add"):
                    if not is_damaged:
                        deck.run("stop", "--all", "-q")
                    subprocess.run(["rm", "-rf", deck.home], check=True)
                    subprocess.run(["cp", "-a", kept, deck.home], check=True)
                    damage(manifest)
        deck.run("stop", "--all", "-q")
    finally:
        subprocess.run(["rm", "-rf", root], check=False)
    return count, problems


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux")
        return 77
    commands = [command for command in read_commands() if command[0] not in LEFT_OUT]
    kinds = sys.argv[1:] or list(damages(b'{"format": 1, "id": "a", "title": "bad"}'))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, (count, problems) in zip(kinds, pool.map(lambda kind: check(kind, commands), kinds)):
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'ok'} {kind}: {count} commands", *problems, sep="\n  ", flush=True)
    return 1 if failed else 0


sys.exit(main())
