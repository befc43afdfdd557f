#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-schema.py - the JSON Schemas of agentdeck's files say what agentdeck says
#
# USAGE
#   test-schema.py            agentdeck is found in PATH
#   test-schema.py --update   write data/schema/{config,project,agent}.json
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no python3-jsonschema, or Python has no tomllib
#
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import tomllib
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TREE = pathlib.Path(os.environ.get("top_srcdir") or pathlib.Path(__file__).parent / "../..").resolve()
NAMES = ("config", "project", "agent")
# A file, or lines of one: good ones, and bad ones that a schema can see.
GOOD = """
default_agent = "my-agent"
resume = "confirm"
resume.policy = "never"
resume = { agents = { claude = "never" } }
restart.burst = 0
notify.on = []
notify.on = ["oom"]
notify.ntfy = "https://ntfy.sh/a"
notify.osc = "777"
session.sleep_after = "90m"
session.sleep_after = "off"
tmux.options = { "@a" = 1, set-titles = true, "update-environment[3]" = "X" }
tmux.detach_key = ""
limits = { memory_max = "1.5G", tasks_max = "infinity", cpu_weight = 100 }
limits.memory_high = 0
limits.memory_high = "infinity"
container = { cpus = 0.5, mounts = ["~/a:/a"], role = "~/r", docker = "none" }
container.cpus = "2"
container.logins = { github = "token" }
workspace = { root = "~/trees", copy = [".env", "a/b.toml"], setup = ["npm", "ci"] }
workspace.copy = [".gitignore", "..a"]
workspace.setup = []
roles.api = { source = "https://example.com/r.git" }
hosts.gpu1 = { ssh = "ann@gpu1", timeout = 5 }
groups."work/api" = { limits = { memory_max = "8G" }, container = { auth = "token" }, workspace = { on_end = "keep" } }
"""
BAD = """
default_agent = "a b"
default_agent = 3
resume_agents = "yes"
resume = "sometimes"
resume = { agents = { claude = "sometimes" } }
restart.burst = -1
restart.delay = 3601
restart.delay = 1.5
restart.policy = "sometimes"
notify.on = ["sometimes"]
notify.on = "oom"
notify.ntfy = "https://ntfy.sh/"
notify.ntfy = "ftp://ntfy.sh/a"
notify.key = "relative"
session.sleep_after = "2"
session.sleep_after = "0h"
tmux.histroy_limit = 1
tmux.conf = "relative"
tmux.detach_key = "a b"
tmux.default_terminal = ""
tmux.options = { A = 1 }
tmux.options = { a = 1.5 }
limits.memory_max = "4X"
limits.memory_max = -1
limits.memory_max = true
limits.tasks_max = -1
limits.cpu_weight = "100"
limits.cpu_weight = 10001
limits.more = 1
container.engine = ""
container.auth = "always"
container.docker = "always"
container.cpus = "many"
container.cpus = true
container.mounts = ["a:/a"]
container.role = "./r"
container.role_env = ["A=B"]
container.logins = { github = "always" }
container.size = 1
workspace.root = "trees"
workspace.root = "~/"
workspace.copy = ["/etc/passwd"]
workspace.copy = ["../a"]
workspace.copy = ["a/.git/b"]
workspace.setup = [""]
workspace.setup = [1]
roles.api = { path = "/r" }
roles.api = { source = "r" }
hosts.local = { ssh = "a" }
hosts.a = { timeout = 0 }
hosts.a = { port = 22 }
groups.work = { limits = { memory_max = "4X" } }
groups.work = { workspace = { root = "~/a" } }
groups.work = { other = 1 }
other = 1
"""
# What only `config check` finds: docs/configuration.md lists it.
CHECK_ONLY = """
limits.memory_max = "1K"
container.cpus = 2000000
hosts.a = { ssh = "-oProxyCommand=x" }
hosts.a = { ssh = "a", kubernetes = "b" }
groups."work//api" = {}
ui.keys = ["fly=X"]
ui.colors = ["sky=blue"]
"""
# What each key is given: no key takes all of them.
VALUES = ("1", '"x"', "true", "[1]", "{ a = 1 }")
# Examples of other programs' files, by their first line (codex) and by the file that they name.
OTHERS = ("[mcp_servers.agentdeck]",)
OURS = ("", "config.toml", "agentdeck.toml")
failures = 0


def fail(case, text):
    global failures
    failures += 1
    print(f"FAILED {case}: {text}")


def agentdeck(home, *words):
    environment = dict(os.environ, HOME=str(home), AGENTDECK_HOME=str(home / "deck"), LC_ALL="C.UTF-8")
    return subprocess.run(["agentdeck", *words], env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)


def printed(home, name):
    return agentdeck(home, "config", "schema", name).stdout


def values(text):
    # A date is no value of any key: JSON has none.
    return json.loads(json.dumps(tomllib.loads(text), default=lambda date: {"date": str(date)}))


class Checker:
    def __init__(self, home):
        self.home = home
        self.schemas = {name: jsonschema.Draft202012Validator(json.loads(printed(home, name))) for name in NAMES}

    def schema_says(self, name, text):
        """None: valid, or its first complaint."""
        error = jsonschema.exceptions.best_match(self.schemas[name].iter_errors(values(text)))
        return error and error.message[:200]

    def check_says(self, text, where="config.toml"):
        path = self.home / "deck" / where
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
        result = agentdeck(self.home, "config", "check")
        path.unlink()
        return None if result.returncode == 0 else result.stdout + result.stderr


def case_files_are_those_of_the_tables(checker):
    for name in NAMES:
        path = TREE / f"data/schema/{name}.json"
        if "--update" in sys.argv[1:]:
            path.write_text(printed(checker.home, name))
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))
        if path.read_text() != printed(checker.home, name):
            fail("files", f"{path.name} is not what agentdeck config schema {name} prints: --update writes it")


def case_both_agree(checker):
    for kind, lines in (("good", GOOD), ("bad", BAD), ("check only", CHECK_ONLY)):
        for line in lines.strip().splitlines():
            check, schema = checker.check_says(line + "\n"), checker.schema_says("config", line)
            if (check is not None) != (kind != "good"):
                fail("agree", f"{kind}: config check says {check}: {line}")
            if (schema is not None) != (kind == "bad"):
                fail("agree", f"{kind}: the schema says {schema}: {line}")


def keys_of(schema, before=""):
    for name, member in schema.get("properties", {}).items():
        inner = [one for one in (member, *member.get("anyOf", [])) if "properties" in one]
        for one in inner:
            yield from keys_of(one, f"{before}{name}.")
        if not inner:
            yield before + name


def case_both_agree_on_the_type_of_each_key(checker):
    """What the schema refuses, the check refuses, and the check refuses no type that the schema takes."""
    count = 0
    for name, where, first in (("config", "config.toml", ""), ("agent", "agents/mine.toml", 'command = ["a"]\n')):
        for key in keys_of(checker.schemas[name].schema):
            for value in VALUES:
                if key == "command":
                    continue
                text = f"{first}{key} = {value}\n"
                check, schema = checker.check_says(text, where), checker.schema_says(name, text)
                count += 1
                is_type = check and re.search(r" must be .*, not (a|an|true or false)\b", check)
                if (schema and check is None) or (is_type and not schema):
                    fail("types", f"{name}: config check says {check}, the schema says {schema}: {key} = {value}")
    if count < 600:
        fail("types", f"only {count}")


def case_each_shape_is_of_a_key(checker):
    """A shape of a key that is gone would change nothing."""
    for source, name in (("src/model/settings/schema.c", "config"), ("src/model/agent/agent.c", "agent")):
        text = (TREE / source).read_text().partition("toml_shape shapes[] = {")[2].partition("{ NULL")[0]
        for path in re.findall(r'^\s+\{ "([a-z._]+)",', text, re.M):
            members = checker.schemas[name].schema
            for part in path.split("."):
                members = members.get("anyOf", [None, members])[1]["properties"].get(part)
                if members is None:
                    fail("shapes", f"{source}: there is no key {path}")
                    break


def case_the_corpus_is_never_refused_by_the_schema_alone(checker):
    count = 0
    for path in sorted((TREE / "tests/fuzz/corpus/config").iterdir()):
        try:
            text = path.read_bytes().decode()
            values(text)
        except (ValueError, RecursionError):
            continue
        count += 1
        if checker.schema_says("config", text) and checker.check_says(text) is None:
            fail("corpus", f"{path.name}: {checker.schema_says('config', text)}")
    if count < 5:
        fail("corpus", f"only {count} files")


def case_agents_are_valid(checker):
    for path in sorted((TREE / "data/agents").glob("*.toml")):
        if wrong := checker.schema_says("agent", path.read_text()):
            fail("agents", f"{path.name}: {wrong}")
    for text in ('command = "a"\n', "other = 1\n", 'session.id = "number"\n', "question.a = { b = '' }\n"):
        if not checker.schema_says("agent", text):
            fail("agents", f"the schema takes {text}")
        if checker.check_says('command = ["a"]\n' + text if "command" not in text else text, "agents/mine.toml") is None:
            fail("agents", f"config check takes {text}")


def case_projects_are_checked(checker):
    root = checker.home / "project"
    root.mkdir()
    for good, text in ((True, '[session.a]\nkeep = true\nmemory_max = "4G"\nargs = ["-x"]\n'),
                       (True, 'group = "g"\n[session.a]\nrestart = "always"\nworktree = true\n'),
                       (False, "[session.a]\nother = 1\n"), (False, "[session.a]\nargs = 1\n"),
                       (False, '[session.a]\nresume = "sometimes"\n'), (False, "other = 1\n"),
                       (False, 'group = "g"\n'), (False, "[session.a]\nkeep = 1\n"),
                       (True, '[session.a]\nmemory_high = "1.5G"\ntasks_max = "100"\ncpu_weight = "infinity"\n'),
                       (True, "[session.a]\nmemory_max = 0\ncpu_weight = 0\n"),
                       (False, '[session.a]\nmemory_max = "4X"\n'), (False, "[session.a]\nmemory_max = -1\n"),
                       (False, '[session.a]\ntasks_max = "4G"\n'), (False, "[session.a]\ncpu_weight = -1\n"), (False, "[session.a]\ncpu_weight = 10001\n")):
        (root / "agentdeck.toml").write_text(text)
        result = agentdeck(checker.home, "diff", str(root / "agentdeck.toml"))
        refused = result.returncode != 0 and "agentdeck.toml" in result.stderr
        if refused == good:
            fail("project", f"diff: {result.returncode} {result.stderr}: {text}")
        if (checker.schema_says("project", text) is None) != good:
            fail("project", f"the schema says {checker.schema_says('project', text)}: {text}")


def kind_of(text):
    session = values(text).get("session")
    return "project" if session and all(isinstance(table, dict) for table in session.values()) else "config"


def examples_of(page):
    """Fenced ones, with the file that they name, and those of indented lines that begin like TOML."""
    text = page.read_text()
    yield from re.findall(r"^```toml ?(\S*)\n(.*?)^```", text, re.M | re.S)
    for block in re.findall(r"^\n((?:    .*\n(?:\n(?=    \[))?)+)", text, re.M):
        if re.match(r"    (\[[a-z]|[a-z_.]+ = )", block) and not block.lstrip().startswith(OTHERS):
            yield "", re.sub("^    ", "", block, flags=re.M)


def case_examples_of_the_documents(checker):
    count = dict.fromkeys(NAMES, 0)
    for page in sorted([TREE / "README.md", *(TREE / "docs").glob("*.md")]):
        for name, text in examples_of(page):
            if name not in OURS and not name.startswith("agents/"):
                continue
            kind = "agent" if name.startswith("agents/") else kind_of(text)
            count[kind] += 1
            if wrong := checker.schema_says(kind, text):
                fail("documents", f"{page.name}, {kind}: {wrong}:\n{text}")
            if kind != "project" and (wrong := checker.check_says(text, name or "config.toml")):
                fail("documents", f"{page.name}, config check: {wrong}:\n{text}")
    print(f"examples: {count}")
    if not all(count.values()):
        fail("documents", f"{count}")


def main():
    with tempfile.TemporaryDirectory(prefix="agentdeck-schema-") as directory:
        home = pathlib.Path(directory)
        (home / "deck").mkdir(mode=0o700)
        checker = Checker(home)
        for name, case in list(globals().items()):
            if name.startswith("case_"):
                case(checker)
    print(f"{failures} failed" if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
