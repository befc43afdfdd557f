# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of the chaos test that runs inside the machine, as root, in one long-lived process: it
executes requests and checks the invariants.  `chaos` hands this text to an interpreter inside;
requests and answers are lines of JSON on standard input and output.

Each request has the expected state; this half remembers nothing, because a power cut ends it, too.
"""

import ctypes
import errno
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

USER, UID, HOME = "deck", 4711, "/home/deck"
STATE = HOME + "/.local/state/agentdeck"
PROFILE = STATE + "/default"
TRANSCRIPTS = "/.local/share/agentdeck-demo-agent/projects"
SLICE = "/sys/fs/cgroup/user.slice/user-4711.slice/user@4711.service/agentdeck.slice"
SUPERVISOR_LOCK = "supervise"           # how its name begins; held for as long as it runs
STAGES_LOG = re.compile(r"\d{8}-\d{6}-\d{6}\.log")
RUNTIME = "/run/user/4711/agentdeck"
FILLER = HOME + "/.filler"
MARKER = re.compile(r"mark-(\d+)-\d+-\d+(?!\d)")
REPLY = re.compile(r'^demo: reply \d+\. You said: "(.*)"\. I remember (\d+) of your messages;', re.S)
F_OFD_GETLK, F_OFD_SETLKW = 36, 38
FLOCK = "hhqqi4x"
LOOK_AGAIN_S, LOOK_AGAIN_MOST_S, NUDGE_S = 0.01, 0.25, 2
COMMAND_TIMEOUT_S = 60
# what the state directory may have, also without a session
OF_DECK = {"default", "hooks", "logs", "conversations.lock", "disk.reserve", "config.good.toml", "config.good.toml.lock"}

PREFIX = "/usr/local"


def name_of(index):
    return f"s{index:02d}"


# ---- what is there ------------------------------------------------------------------------------------------------


class Process:
    def __init__(self, pid):
        base = f"/proc/{pid}/"
        if os.stat(base).st_uid != UID:
            raise LookupError
        with open(base + "stat", "rb") as file:
            head, _, tail = file.read().rpartition(b") ")
        fields = tail.split()
        self.pid, self.state = pid, fields[0].decode()
        self.parent, self.start = int(fields[1]), int(fields[19])
        self.name = head.partition(b"(")[2].decode(errors="replace")
        if self.state in "ZX":
            raise LookupError
        with open(base + "cmdline", "rb") as file:
            self.argv = file.read().decode(errors="replace").split("\0")[:-1]
        with open(base + "environ", "rb") as file:
            pairs = (item.partition("=") for item in file.read().decode(errors="replace").split("\0"))
            self.environment = {key: value for key, _, value in pairs if key.startswith("AGENTDECK_")}
        with open(base + "cgroup") as file:
            self.cgroup = next((line[3:] for line in file.read().splitlines() if line.startswith("0::")), "")
        self.program = os.path.basename(self.argv[0]) if self.argv else self.name
        self.instance = self.environment.get("AGENTDECK_INSTANCE")
        self.run = self.environment.get("AGENTDECK_RUN") or self.environment.get("AGENTDECK_CAPSULE_RUN")
        self.is_server = self.name == "tmux: server"
        self.is_agent = self.program == "agentdeck-demo-agent"
        self.is_pane = self.program == "agentdeck" and "pane" in self.argv
        self.is_capsule = self.program == "agentdeck-capsule" and self.argv[1:2] == ["init"]
        self.is_view = self.program == "agentdeck-view"
        self.is_supervisor = self.program == "agentdeck" and "supervise" in self.argv

    def __str__(self):
        return (f"{self.pid} (parent {self.parent}, {self.state}, {self.cgroup.rpartition('/')[2]}, "
                f"instance {self.instance}, run {self.run}) {' '.join(self.argv)[:150]}")


def processes():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found.append(Process(int(name)))
            except (LookupError, OSError):
                pass
    return found


def read_json(path):
    try:
        with open(path) as file:
            return json.load(file)
    except ValueError as error:
        return {"damaged": str(error)}
    except OSError:
        return None


class Transcript:
    """One conversation's file: the user's words in it, and whether the agent remembered exactly
    those at each reply."""

    def __init__(self, path):
        self.id = os.path.basename(path)[:-len(".jsonl")]
        self.said, self.wrong = [], []
        with open(path, errors="replace") as file:
            for line in file:
                self.take(line)

    def take(self, line):
        try:
            record = json.loads(line)
            content = record["message"]["content"]
        except (ValueError, KeyError, TypeError):
            return          # torn by a kill
        if record["type"] == "user":
            self.said.append(content)
            return
        match = REPLY.match(content[0]["text"])
        if match and (int(match[2]) != len(self.said) or match[1] != self.said[-1]):
            self.wrong.append(f"{content[0]['text']!r} follows {len(self.said)} messages, the last {self.said[-1]!r}")


def transcripts():
    """Those of the user's home, and of the homes of agents in containers."""
    return [Transcript(os.path.join(folder, name)) for home in [HOME, *glob.glob(PROFILE + "/*/home")]
            for folder, _, names in os.walk(home + TRANSCRIPTS) for name in names if name.endswith(".jsonl")]


def is_locked(path):
    try:
        with open(path) as file:
            answer = fcntl.fcntl(file, F_OFD_GETLK, struct.pack(FLOCK, fcntl.F_WRLCK, 0, 0, 0, 0))
    except OSError:
        return False
    return struct.unpack(FLOCK, answer)[0] != fcntl.F_UNLCK


# ---- acting as the user -------------------------------------------------------------------------------------------


def begin(words, output=subprocess.DEVNULL, environment=()):
    environment = {**dict(environment), "PATH": PREFIX + "/bin:/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "USER": USER,
                   "LOGNAME": USER, "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
    return subprocess.Popen(words, env=environment, cwd=HOME, user=UID, group=UID, extra_groups=os.getgrouplist(USER, UID), stdin=subprocess.DEVNULL,
                            stdout=output, stderr=output, start_new_session=True)


def run(words, kill_after_s=None):
    """Exit status and output; kills it after that time."""
    process = begin(words, subprocess.PIPE)
    try:
        output, errors = process.communicate(timeout=COMMAND_TIMEOUT_S if kill_after_s is None else kill_after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        # (its children may keep the pipe open)
        process.stdout.close(), process.stderr.close()
        return -9, "", "killed" if kill_after_s is not None else f"does not end in {COMMAND_TIMEOUT_S} s"
    return process.returncode, output.decode(errors="replace"), errors.decode(errors="replace")


def deck(words, kill_after_s=None):
    return run(["agentdeck", *words], kill_after_s)


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_AGAIN_S)
    return True


def is_there(process):
    try:
        return Process(process.pid).start == process.start
    except (LookupError, OSError):
        return False


def is_inhabited(scope):
    """The manager may keep a scope whose process ended while the scope was made."""
    try:
        with open(f"{scope}/cgroup.events") as file:
            return "populated 1" in file.read()
    except OSError:
        return False


def scopes():
    """The names of those that have processes, whether or not they are in the slice of a session."""
    found = glob.glob(f"{SLICE}/*.scope") + glob.glob(f"{SLICE}/*.slice/*.scope")
    return {os.path.basename(scope) for scope in found if is_inhabited(scope)}


def base_of(identity):
    """How its files are called: a session in a container has a longer name."""
    found = glob.glob(f"{PROFILE}/ad-{identity}-*/")
    return os.path.basename(found[0][:-1]) if found else identity


def manifest_of(identity):
    return read_json(f"{PROFILE}/{base_of(identity)}/instance.json") or {}


def tmux_keys(identity, *keys):
    socket = manifest_of(identity).get("run", {}).get("socket")
    return bool(socket) and run(["tmux", "-S", socket, "send-keys", *keys])[0] == 0


def answer_offer(identity):
    """Say yes in a pane that asks whether to resume."""
    if not manifest_of(identity).get("run", {}).get("offer"):
        return
    tmux_keys(identity, "Enter")
    wait_until(lambda: manifest_of(identity).get("run", {}).get("reported"), 10)


def kill(processes_to_kill):
    for process in processes_to_kill:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until(lambda: not any(is_there(process) for process in processes_to_kill), 10)
    return len(processes_to_kill)


# ---- what can be asked for ----------------------------------------------------------------------------------------


def do_deck(words, kill_after_s=None):
    status, output, errors = deck(words, kill_after_s)
    return {"status": status, "output": output, "errors": errors}


def do_together(commands):
    """Run several commands at the same time."""
    running = [(words, begin(["agentdeck", *words], subprocess.PIPE)) for words in commands]
    result = []
    for _, process in running:
        try:
            output, errors = process.communicate(timeout=COMMAND_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = b"", b"does not end"
        result.append({"status": process.returncode, "output": output.decode(), "errors": errors.decode()})
    return {"results": result}


def do_begin(commands, delay_s):
    """Let commands run while something else happens."""
    for words in commands:
        begin(["agentdeck", *words])
    time.sleep(delay_s)
    return {}


def do_send(identity, text, patience_s=30):
    """Also submits text that a killed command has typed and not sent."""
    answer_offer(identity)
    status, output, errors = deck(["session", "send", identity, text, "--replace-draft", "--json", "--timeout", str(patience_s)])
    return {"status": status, "delivery": delivery_in(output), "output": output, "errors": errors}


def do_pick(identity, session_id):
    """In one session's agent, go to the conversation of another session. False: it has not been
    written yet."""
    answer_offer(identity)
    if not any(transcript.id == session_id and transcript.said for transcript in transcripts()):
        return {"picked": False}
    tmux_keys(identity, "C-u")
    tmux_keys(identity, "-l", f"/resume {session_id}")
    tmux_keys(identity, "Enter")
    shared = lambda: manifest_of(identity).get("conversation", {}).get("shared", {}).get("session_id")
    if not wait_until(lambda: shared() == session_id, 10):
        raise AssertionError(f"{identity} is not marked as sharing {session_id}: {manifest_of(identity)['conversation']}")
    return {"picked": True}


def do_exit(identity, insist=True):
    answer_offer(identity)
    agents = [process for process in processes() if process.is_agent and process.instance == identity]
    sent = bool(agents) and tmux_keys(identity, "C-u") and tmux_keys(identity, "/exit", "Enter")
    ended = sent and wait_until(lambda: not any(is_there(process) for process in agents), 10 if insist else 2)
    if insist and sent and not ended:
        raise AssertionError(f"{identity} does not end by /exit")
    return {"ended": ended}


def do_kill(identities, what):
    is_meant = {"server": lambda process: process.is_server, "agent": lambda process: process.is_agent or process.is_pane,
                "capsule": lambda process: process.is_capsule, "view": lambda process: process.is_view}[what]
    chosen = [process for process in processes() if process.instance in identities and is_meant(process)]
    kill(chosen)
    return {"killed": sorted({process.instance for process in chosen})}


def delivery_in(output):
    try:
        return json.loads(output)["delivery"]
    except (ValueError, KeyError):
        return ""


def do_burden(identity):
    """Start a process of the run that only SIGKILL ends, as an agent's tool may leave behind."""
    server = next((process for process in processes() if process.is_server and process.instance == identity), None)
    if not server:
        return {}
    child = begin(["sh", "-c", "trap '' HUP INT TERM; exec sleep 600"], environment=server.environment)
    with open("/sys/fs/cgroup" + server.cgroup + "/cgroup.procs", "w") as file:
        file.write(str(child.pid))
    return {"pid": child.pid}


def do_strike(identity, text, delay_s, what):
    """Kill while a message is on its way."""
    answer_offer(identity)
    sender = begin(["agentdeck", "session", "send", identity, text, "--replace-draft", "--json", "--timeout", "5"], subprocess.PIPE)
    time.sleep(delay_s)
    killed = do_kill([identity], what)["killed"]
    output, errors = sender.communicate(timeout=COMMAND_TIMEOUT_S)
    return {"killed": killed, "delivery": delivery_in(output)}


def do_kill_helpers():
    """Kill all of agentdeck's own processes except the reports of agents: a lost report is never
    repeated."""
    chosen = [process for process in processes() if process.program.startswith("agentdeck") and not process.is_agent and
              "hook" not in process.argv]
    kill(chosen)
    return {"killed": sorted({process.instance for process in chosen if process.instance})}


def do_kill_supervisor():
    return {"killed": kill([process for process in processes() if process.is_supervisor])}


def do_freeze(identity, seconds, commands):
    """Stop the tmux server for a while, during which commands are given."""
    servers = [process for process in processes() if process.is_server and process.instance == identity]
    for process in servers:
        os.kill(process.pid, signal.SIGSTOP)
    running = [begin(["agentdeck", *words]) for words in commands]
    time.sleep(seconds)
    for process in servers:
        try:
            os.kill(process.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
    for process in running:
        process.wait(COMMAND_TIMEOUT_S)
    return {"frozen": len(servers)}


def fill():
    libc = ctypes.CDLL(None, use_errno=True)
    with open(FILLER, "wb") as file:
        size = 0
        for piece in (1 << 26, 1 << 22, 1 << 16, 1 << 12):
            while libc.fallocate(file.fileno(), 0, ctypes.c_long(size), ctypes.c_long(piece)) == 0:
                size += piece
            if ctypes.get_errno() not in (errno.ENOSPC, errno.EFBIG):
                raise OSError(ctypes.get_errno(), "fill the disk")


def do_full(requests):
    """Fill the disk during a command."""
    fill()
    try:
        return {"results": [answer(request) for request in requests]}
    finally:
        os.unlink(FILLER)


def do_root(words):
    result = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=150)
    return {"status": result.returncode, "output": result.stdout, "errors": result.stderr}


def do_clock(seconds):
    """Set the wall clock that agentdeck sees forward or back by so much."""
    try:
        with open("/var/lib/shifted-clock", "r+b") as file:
            shift = struct.unpack("q", file.read(8))[0] + seconds
            file.seek(0)
            file.write(struct.pack("q", shift))
    except FileNotFoundError:
        # a machine that has its own clock
        time.clock_settime(time.CLOCK_REALTIME, time.time() + seconds)
    return {}


class Bystanders:
    """The targets of a forged manifest: a directory, a process and a tmux server of the user's
    own."""

    def __enter__(self):
        self.directory, self.socket = HOME + "/precious", HOME + "/own.sock"
        os.makedirs(self.directory)
        self.file = self.directory + "/work"
        with open(self.file, "w"):
            pass
        for path in (self.directory, self.file):
            os.chown(path, UID, UID)
        self.process = begin(["sleep", "600"])
        # (the program's name appears a moment after its process)
        wait_until(lambda: Process(self.process.pid).program == "sleep", 5)
        run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "sleep", "600"])
        return self

    def lost(self):
        alive = {"directory": os.path.exists(self.file), "process": self.process.poll() is None,
                 "tmux server": run(["tmux", "-S", self.socket, "has-session"])[0] == 0}
        return [name for name, is_there in alive.items() if not is_there]

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        run(["tmux", "-S", self.socket, "kill-server"])
        shutil.rmtree(self.directory, ignore_errors=True)
        wait_until(lambda: not any(process.is_server and not process.instance for process in processes()), 5)


def forge(manifest, what, bystanders, other):
    run_of, start = manifest.get("run"), Process(bystanders.process.pid).start
    forged = {"directory": {"directory": bystanders.directory}, "socket": {"socket": bystanders.socket},
              "server": {"server_pid": bystanders.process.pid, "server_start": start},
              "pane": {"pane_pid": bystanders.process.pid, "pane_start": start},
              "unit": {"unit": f"agentdeck-tmux-{other}.scope"}}
    if run_of and what in forged:
        run_of.update(forged[what])
    else:
        manifest["note"] = "by hand"


def edit(identity, change):
    """As docs/state-format.md says: under the instance's lock, and by replacing the whole file."""
    path = f"{PROFILE}/{base_of(identity)}/instance.json"
    with open(f"{PROFILE}/{base_of(identity)}.lock", "r+b") as lock:
        wish = struct.pack(FLOCK, fcntl.F_WRLCK, 0, 0, 0, 0)
        fcntl.fcntl(lock, F_OFD_SETLKW, wish)
        manifest = read_json(path)
        change(manifest)
        with open(path + ".edited", "w") as file:
            json.dump(manifest, file)
        os.chmod(path + ".edited", 0o600)
        os.chown(path + ".edited", UID, UID)
        os.rename(path + ".edited", path)


def do_edit(identity, what, other, words):
    """Edit a manifest by hand, and give a command. It must touch none of the bystanders."""
    with Bystanders() as bystanders:
        edit(identity, lambda manifest: forge(manifest, what, bystanders, other))
        status, output, errors = deck(words)
        return {"status": status, "output": output + errors, "lost": bystanders.lost()}


def do_lose(identities, everything):
    """Remove the runtime directory of live sessions, and look at each."""
    for path in [RUNTIME] if everything else [f"{RUNTIME}/{identity}" for identity in identities]:
        shutil.rmtree(path, ignore_errors=True)
    results = [deck(["session", "output", identity, "--pane"]) for identity in identities]
    return {"errors": [result[2] for result in results if result[0] != 0]}


def git(directory, *words):
    return run(["git", "-C", directory, "-c", "user.name=a", "-c", "user.email=a@invalid", "-c", "gc.auto=0", *words])


def must(result):
    if result[0] != 0:
        raise AssertionError(str(result))
    return result[1].strip()


def do_repository(path):
    """Make one with a commit."""
    must(git(path, "init", "-q", "-b", "main"))
    must(git(path, "commit", "-q", "--allow-empty", "-m", "first"))
    must(run(["cp", "/etc/hostname", path + "/file"]))
    must(git(path, "add", "file"))
    must(git(path, "commit", "-q", "-m", "second"))
    return {}


WORK = """set -e
cd "$1"
git() { command git -c user.name=a -c user.email=a@invalid -c gc.auto=0 "$@"; }
case $2 in
file) echo "$3" >"$3" ;;
commit) echo "$3" >"$3"; git add "$3"; git commit -q -m "$3" ;;
stash) echo "$3" >file; git stash push -q -m "$3" ;;
esac
git rev-parse HEAD"""


def do_work(identity, kind, name):
    """As its agent would: in its container, if that runs."""
    manifest = manifest_of(identity)
    script = ["sh", "-c", WORK, "sh", manifest["workspace"]["path"], kind, name]
    if any(process.is_capsule and process.instance == identity for process in processes()):
        script = ["agentdeck", "session", "exec", identity, "--", "/bin/" + script[0], *script[1:]]
    head = must(run(script))
    return [kind, head if kind == "commit" else name]


def lost_work(tree, work):
    """The work that is not in the tree any more."""
    stashes = git(tree, "stash", "list", "--format=%gs")[1].splitlines()
    commits = set(git(tree, "rev-list", "HEAD")[1].split())
    for kind, name in work:
        if kind == "file":
            is_there = os.path.exists(f"{tree}/{name}")
        elif kind == "commit":
            is_there = name in commits
        else:
            is_there = any(line.endswith(f": {name}") for line in stashes)
        if not is_there:
            yield f"{kind} {name}"


def do_settle():
    """Wait until every server has a live process in it: its pane still has to record the end of an
    agent."""
    def is_settled():
        found = processes()
        inhabited = {process.parent for process in found if process.is_agent or process.is_view or process.program == "bash" or
                     (process.is_pane and "AGENTDECK_PANE_DIED" not in process.environment)}
        return all(process.pid in inhabited for process in found if process.is_server)
    return {"settled": wait_until(is_settled, 1)}


def do_age(start):
    """Seconds from the start of PID 1 to a start time."""
    with open("/proc/1/stat") as file:
        first = int(file.read().rpartition(") ")[2].split()[19])
    return {"seconds": (start - first) / os.sysconf("SC_CLK_TCK")}


def files_below(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def left_over(sources, has_engines):
    """What there is although all sessions have been removed, and the trash is empty."""
    for folder, known in (("", OF_DECK),
                          ("default", {"instances.json", "instances.json.lock", "trees", ".trash"}), ("default/trees", set()),
                          ("default/.trash", set()), ("hooks", set())):
        yield from (f"{folder}/{name}" for name in files_below(os.path.join(STATE, folder))
                    if name not in known and not name.startswith(SUPERVISOR_LOCK))
    # (a start that was killed before it could save leaves its files in memory; the next start or boot clears them)
    yield from (f"{RUNTIME}/{name}" for name in files_below(RUNTIME) if os.path.exists(f"{RUNTIME}/{name}/tmux.sock"))
    yield from sorted(scopes())
    yield from (str(process) for process in processes() if process.instance or process.is_capsule)
    for source in sources:
        worktrees = git(source, "worktree", "list", "--porcelain")[1].count("worktree ")
        if worktrees != 1:
            yield f"{worktrees} worktrees of {source}"
    for engine in ENGINES if has_engines else ():
        found = Belongings(engine)
        if not found.is_empty():
            yield f"{engine}: {found}"


def do_left(sources, has_engines, patience_s):
    wait_until(lambda: not list(left_over(sources, has_engines)), patience_s)
    return {"left": list(left_over(sources, has_engines))}


def evidence_of_engines():
    found = []
    for engine, path in ENGINES.items():
        try:
            found += [f"{engine}: {Belongings(engine)}"] if os.path.exists(path) else []
        except (OSError, ValueError) as error:
            found.append(f"{engine}: {error!r}")
    return found


def log_lines():
    log = ""
    for suffix in (".1", ""):
        try:
            with open(f"{STATE}/logs/agentdeck.log{suffix}", errors="replace") as file:
                log += file.read()
        except OSError:
            pass
    return log.splitlines()


def had_no_room(identity):
    """Its last report came while the disk was full. Nothing could take it; the next one counts."""
    hooks = [line for line in log_lines() if " hook pid=" in line and f" instance={identity} " in line]
    return bool(hooks) and "report not taken" in hooks[-1] and "No space left on device" in hooks[-1]


def do_evidence(ids):
    """Data for the person who has to find out what went wrong."""
    lines = log_lines()
    return {"manifests": {identity: manifest_of(identity) for identity in ids},
            "list": deck(["list"])[1], "engines": evidence_of_engines(),
            "log": {identity: [line for line in lines if identity in line][-40:] for identity in ids},
            "last": lines[-25:],
            "processes": [str(process) for process in processes()] +
                         do_root(["ps", "-eo", "pid,ppid,stat,lstart,args", "--sort", "pid"])["output"].splitlines(),
            "journal": do_root(["journalctl", "-q", "-o", "short-precise", "-n", "100", "--no-pager"])["output"]}


# ---- the invariants -----------------------------------------------------------------------------------------------


def rows_of_list():
    status, output, errors = deck(["list", "--json"])
    try:
        return json.loads(output) if status == 0 else []
    except ValueError:
        return []


class Look:
    """One look at everything. problems: the invariants that do not hold; facts: what the other half
    needs to know."""

    def __init__(self, expected):
        self.expected, self.problems, self.facts = expected, [], {}
        self.rows = {row["id"]: row for row in rows_of_list()}
        self.processes = processes()
        with open("/proc/sys/kernel/random/boot_id") as file:
            self.boot = file.read().strip()
        self.units = scopes()
        self.live, self.runs, self.wanted_units = set(), set(), set()
        for wish in expected["instances"]:
            self.instance(wish)
        self.strangers()
        self.files()
        self.conversations()
        if not self.problems:
            self.engines()
        for wish in expected["instances"]:
            if wish["work"] and not self.problems:
                self.work(wish)

    def problem(self, title, invariant, text):
        self.problems.append({"title": title, "invariant": invariant, "text": text})

    def instance(self, wish):
        title, identity = wish["title"], wish["id"]
        manifest = manifest_of(identity)
        if not manifest or "damaged" in manifest:
            self.problem(title, "valid manifest", str(manifest))
            return
        row = self.rows.get(identity, {})
        conversation, run = manifest.get("conversation", {}), manifest.get("run", {})
        for key, value in (("title", manifest["title"]), ("path", manifest["cwd"]),
                           ("session_id", conversation.get("session_id"))):
            if row.get(key) != value:
                self.problem(title, "index = manifests", f"{key} is {row.get(key)!r} in the list, {value!r} in the manifest")
        if manifest["title"] not in (title, wish.get("other_title")):
            self.problem(title, "title", f"is {manifest['title']!r}")
        servers = [process for process in self.processes if process.is_server and process.instance == identity]
        agents = [process for process in self.processes if process.is_agent and process.instance == identity]
        capsules = [process for process in self.processes if process.is_capsule and process.instance == identity]
        target = self.target(wish, manifest, servers or agents or capsules)
        self.facts[identity] = {
            "target": target, "title": manifest["title"], "run": run.get("id"), "unit": run.get("unit"),
            "session_id": conversation.get("session_id"), "previous": conversation.get("previous", []),
            "container_id": manifest.get("container_id"),
            "agent_start": max((process.start for process in agents), default=0)}
        if target not in wish["allowed"]:
            self.problem(title, "wish", f"desired {manifest['desired']}, {len(servers)} servers, {len(agents)} agents: "
                         f"{target}, not {' or '.join(wish['allowed'])}")
        elif target == "up":
            self.up(wish, manifest, row, servers, agents)
        else:
            status = "stopped" if target == "down" else "error"
            if servers or agents or capsules:
                self.problem(title, "no run", f"it is {target}, and there are {[str(p) for p in servers + agents + capsules]}")
            if row.get("status") != status or manifest["observed"]["state"] != status:
                self.problem(title, "state", f"{row.get('status')} in the list, {manifest['observed']['state']} in the "
                             f"manifest, and it is {target}")
        self.identity(wish, manifest, agents)

    @staticmethod
    def target(wish, manifest, live):
        """up: should run. down: stopped. dead: it should run, has died, and nobody may restart
        it."""
        if manifest["desired"] == "stopped":
            return "down"
        return "up" if live or "dead" not in wish["allowed"] else "dead"

    def up(self, wish, manifest, row, servers, agents):
        title, run, identity = wish["title"], manifest.get("run", {}), manifest["id"]
        panes = [process for process in self.processes if process.is_pane and process.instance == identity]
        inhabitants = panes if run.get("offer") else agents
        if len(servers) != 1 or len(inhabitants) != 1 or (run.get("offer") and agents):
            self.problem(title, "one run", f"{len(servers)} servers, {len(agents)} agents, {len(panes)} panes, offer "
                         f"{bool(run.get('offer'))}, {manifest['observed']}")
            return
        server, agent = servers[0], inhabitants[0]
        if wish["engine"] and not self.inside(wish, manifest, server, agent):
            return
        if row.get("status") != "running" or manifest["observed"]["state"] != "running":
            self.problem(title, "state", f"it runs, and is {row.get('status')} in the list, in the manifest "
                         f"{manifest['observed']}")
        window = "window" if wish["engine"] else "server"
        stored = [run.get(key) for key in ("boot_id", window + "_pid", window + "_start", "pane_pid", "pane_start")]
        real = [self.boot, server.pid, server.start, agent.pid, agent.start]
        if stored != real:
            self.problem(title, "true manifest", f"{stored} is stored, {real} is there")
        if not (run.get("reported") or run.get("offer") or had_no_room(identity)):
            self.problem(title, "report", "the agent has not reported")
        if {server.run, agent.run} != {run.get("id")}:
            self.problem(title, "one run", f"run {run.get('id')}, server of {server.run}, agent of {agent.run}")
        if run.get("unit"):
            self.wanted_units.add(run["unit"])
            for process in (server,) if wish["engine"] else (server, agent):
                if not process.cgroup.endswith(f"/agentdeck.slice/agentdeck-{identity}.slice/{run['unit']}"):
                    self.problem(title, "isolation", f"{process} is not in {run['unit']}")
        elif not self.expected["manager_went"] and wish["direct_run"] != run.get("id"):
            self.problem(title, "isolation", "it runs without a scope")
        self.live.add(identity)
        self.runs.add(run.get("id"))

    def inside(self, wish, manifest, server, agent):
        """One capsule, which is the run's, and one view."""
        title, run = wish["title"], manifest["run"]
        mine = [process for process in self.processes if process.instance == wish["id"]]
        capsules, views = ([process for process in mine if getattr(process, kind)] for kind in ("is_capsule", "is_view"))
        if len(capsules) != 1 or len(views) != 1:
            self.problem(title, "one run", f"{len(capsules)} capsules, {len(views)} views")
            return False
        if [run.get("server_pid"), run.get("server_start")] != [capsules[0].pid, capsules[0].start]:
            self.problem(title, "true manifest", f"{run.get('server_pid')} is stored, the capsule is {capsules[0]}")
        for process in (capsules[0], agent):
            if (manifest.get("container_id") or "-") not in process.cgroup:
                self.problem(title, "isolation", f"{process} is not in container {manifest.get('container_id')}")
        if views[0].parent != server.pid:
            self.problem(title, "one run", f"{views[0]} is not in the window {server}")
        if wish["same_agent"] and agent.start != wish["same_agent"]:
            self.problem(title, "the agent does not notice", f"{agent} is another one")
        return True

    def engines(self):
        """Each session has at most one container, which runs if the session does, and nobody else
        has one."""
        wishes = {wish["id"]: wish for wish in self.expected["instances"] if wish["engine"]}
        for engine in ENGINES if wishes else ():
            try:
                found = Belongings(engine, self.expected["settled"])
            except (OSError, ValueError) as error:
                self.problem(None, "engine", f"{engine}: {error!r}")
                continue
            owners = [owner for owner, _, _ in found.containers]
            strange = [owner for owner in owners + found.networks if wishes.get(owner, {}).get("engine") != engine]
            bases = {base_of(identity) for identity in wishes}
            if strange or len(set(owners)) < len(owners) or len(set(found.networks)) < len(found.networks) or \
                    not bases.issuperset(found.tags):
                self.problem(None, "no orphan container", f"{engine} has {found}")
            running = {owner: number for owner, number, state in found.containers if state == "running"}
            wanted = {identity: self.facts[identity]["container_id"] for identity, wish in wishes.items()
                      if wish["engine"] == engine and self.facts.get(identity, {}).get("target") == "up"}
            if running != wanted:
                self.problem(None, "one container", f"{engine} runs {running}, and is to run {wanted}; it has {found}")

    def identity(self, wish, manifest, agents):
        """The conversation is the one before, and the agent's argv says so."""
        title, conversation, run = wish["title"], manifest.get("conversation", {}), manifest.get("run", {})
        now, before = conversation.get("session_id"), wish["session_id"]
        if wish["rotation"] == "must" and now == before:
            self.problem(title, "conversation", f"/clear was taken, and it is still {now}")
        elif now != before and before and not wish["rotation"] and before in self.with_turns():
            self.problem(title, "conversation", f"was {before}, which has turns, and is {now}")
        elif now != before and before and before in self.with_turns() and before not in conversation.get("previous", []):
            self.problem(title, "conversation", f"was {before}, is {now}, and the old one is not among the previous")
        for process in agents:
            words = process.argv
            given = next((words[i + 1] for i, word in enumerate(words[:-1]) if word in ("--resume", "--session-id")), None)
            if given != now and run.get("id") != wish["rotated_run"] and not wish["rotation"]:
                self.problem(title, "conversation", f"is {now}, and the agent runs under {given}")

    def with_turns(self):
        if not hasattr(self, "transcripts"):
            self.transcripts = transcripts()
        return {transcript.id for transcript in self.transcripts if transcript.said}

    def work(self, wish):
        """All of it, at each look that finds nothing else to wait for."""
        tree = manifest_of(wish["id"]).get("workspace", {}).get("path", "")
        for what in lost_work(tree, wish["work"]):
            self.problem(wish["title"], "work kept", f"{what} is not in {tree!r}")

    def strangers(self):
        """No process of the user that belongs to no live run."""
        supervisors = [process for process in self.processes if process.is_supervisor]
        if len(supervisors) != self.expected["supervisors"]:
            self.problem(None, "supervisor", f"{len(supervisors)} run: {[str(process) for process in supervisors]}")
        for process in self.processes:
            is_system = process.program in ("systemd", "(sd-pam)", "dbus-daemon") or process.name in ("systemd", "(sd-pam)")
            is_system = is_system or process.name in PODMAN_PROGRAMS or process.program in PODMAN_PROGRAMS
            is_ours = process.instance in self.live and (process.is_capsule or process.run in self.runs)
            if is_system or process in supervisors or is_ours:
                continue
            self.problem(None, "no orphan process", str(process))
        if self.units != self.wanted_units:
            self.problem(None, "no orphan scope", f"there are {sorted(self.units)}, and to be {sorted(self.wanted_units)}")

    def files(self):
        """No stray lock, no temporary file, nothing damaged, nothing unknown."""
        identities = {wish["id"] for wish in self.expected["instances"]}
        bases = {wish["id"]: base_of(wish["id"]) for wish in self.expected["instances"]}
        known = {"": OF_DECK,
                 "logs": {"agentdeck.log", "agentdeck.log.1"},
                 "default": {"instances.json", "instances.json.lock", "trees", ".trash",
                             *bases.values(), *(name + ".lock" for name in bases.values())},
                 "default/.trash": set(),
                 "default/trees": {wish["id"] for wish in self.expected["instances"] if wish["tree"]},
                 "hooks": {name + ".sid" for name in identities}}
        known.update({"default/" + base: {"instance.json"} | ({"home", "capsule", "rooms", "users"} if base != name else set())
                      for name, base in bases.items()})
        for folder, allowed in known.items():
            path = os.path.join(STATE, folder)
            for name in sorted(os.listdir(path) if os.path.isdir(path) else ()):
                is_known = (folder == "" and name.startswith(SUPERVISOR_LOCK)) or (folder == "logs" and STAGES_LOG.fullmatch(name))
                if name not in allowed and not is_known:
                    self.problem(None, "no file left", os.path.join(path, name))
                if name.endswith(".lock") and not name.startswith(SUPERVISOR_LOCK) and is_locked(os.path.join(path, name)):
                    self.problem(None, "no stray lock", os.path.join(path, name))
        if self.rows.keys() != identities:
            self.problem(None, "index = manifests", f"the list has {sorted(self.rows)}, not {sorted(identities)}")

    def conversations(self):
        """Every message is once in its own conversation; no agent has lost its memory, or shares
        it."""
        self.with_turns()
        owners, places, chains = {}, {}, {}
        for wish in self.expected["instances"]:
            now = self.facts.get(wish["id"], {})
            chains[wish["index"]] = {now.get("session_id"), *now.get("previous", []), *wish["chain"]}
            for conversation in chains[wish["index"]] - {None}:
                other = owners.setdefault(conversation, wish["title"])
                if other != wish["title"]:
                    self.problem(wish["title"], "own conversation", f"{conversation} is {other}'s as well")
        for transcript in self.transcripts:
            for text in transcript.said:
                for match in MARKER.finditer(text):
                    places.setdefault(match[0], []).append(transcript.id)
            for text in transcript.wrong:
                self.problem(owners.get(transcript.id), "memory", f"{transcript.id}: {text}")
        for wish in self.expected["instances"]:
            for marker in wish["acknowledged"]:
                if marker not in places:
                    self.problem(wish["title"], "message kept", f"{marker} is lost")
        for marker, found in places.items():
            index = int(MARKER.match(marker)[1])
            if len(found) > 1:
                self.problem(name_of(index), "message once", f"{marker} is in {found}")
            if not chains.get(index, set()).issuperset(found):
                self.problem(name_of(index), "message in its own conversation", f"{marker} is in {found}")
        self.facts["markers"] = sorted(places)


def nudge(look, expected):
    """Give a killed command again, as its user would. Nothing else finishes a stop that was cut
    off, or removes what a killed writer has left."""
    done = []
    for wish in expected["instances"]:
        troubled = any(problem["title"] == wish["title"] for problem in look.problems)
        swept = any(problem["invariant"] == "no file left" and "/" + base_of(wish["id"]) + "/." in problem["text"]
                    for problem in look.problems)
        manifest = manifest_of(wish["id"])
        if troubled and wish["interrupted"] and manifest.get("desired") == "stopped":
            done.append(["session", "stop", wish["id"]])
        elif swept:
            done.append(["session", "set", wish["id"], "title", manifest["title"]])
    if any(problem["invariant"] == "no file left" and problem["text"].startswith(PROFILE + "/.") for problem in look.problems):
        wish = expected["instances"][0]
        done.append(["rename", wish["id"], manifest_of(wish["id"])["title"]])
    for words in done:
        deck(words)
    return done


def do_check(expected, patience_s):
    started = time.monotonic()
    pause, nudged = LOOK_AGAIN_S, None
    while True:
        look = Look(expected)
        waited = time.monotonic() - started
        if not look.problems or waited > patience_s:
            return {"problems": look.problems, "facts": look.facts, "waited_ms": int(waited * 1000), "nudged": nudged or []}
        if nudged is None and waited > NUDGE_S:
            nudged = nudge(look, expected)
        time.sleep(pause)
        pause = min(pause * 1.5, LOOK_AGAIN_MOST_S)


def answer(request):
    return globals()["do_" + request.pop("do")](**request)


def main():
    global PREFIX
    PREFIX = sys.argv[1]
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:      # the other half shows it
            import traceback
            result = {"exception": f"{error!r}\n{traceback.format_exc()}"}
        print(json.dumps(result), flush=True)


main()
