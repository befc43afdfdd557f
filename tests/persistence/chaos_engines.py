# SPDX-License-Identifier: GPL-3.0-or-later
"""The container engines of the chaos test's machine, by their APIs.  chaos_machine.py puts this text
before that of chaos_inside.py, which uses it."""

import http.client
import json
import os
import pwd
import socket
import subprocess
import time
import urllib.parse

IMAGE = "localhost/agentdeck-chaos:latest"
LABEL = "io.agentdeck.instance"
OWNER = pwd.getpwnam("deck")
ENGINES = {"docker": "/run/docker.sock", "podman": f"/run/user/{OWNER.pw_uid}/podman/podman.sock"}
# Processes of podman's that run as its user.
PODMAN_PROGRAMS = {"podman", "conmon", "slirp4netns", "crun", "catatonit", "fuse-overlayfs", "rootlessport", "exe"}
ENGINE_TIMEOUT_S = 30


class Call(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=ENGINE_TIMEOUT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask_engine(engine, method, path, **query):
    """The answer to a request; None: there is no such thing."""
    call = Call(ENGINES[engine])
    try:
        call.request(method, path + "?" + urllib.parse.urlencode(query))
        response = call.getresponse()
        text = response.read()
    finally:
        call.close()
    if response.status == 404:
        return None
    if response.status >= 400:
        raise OSError(f"{engine}: {method} {path}: {response.status} {text.decode(errors='replace')}")
    return json.loads(text) if text.strip() else {}


def labelled(engine, path, **query):
    return ask_engine(engine, "GET", path, filters=json.dumps({"label": [LABEL]}), **query)


class Belongings:
    """What an engine has of agentdeck's sessions.  containers: (instance, id, state).  With
    everything, also networks: their instances; and tags: bases of sessions."""

    def __init__(self, engine, everything=True):
        containers = labelled(engine, "/containers/json", all="true")
        self.containers = [(item["Labels"][LABEL], item["Id"], item["State"]) for item in containers]
        self.networks, self.tags = [], []
        if not everything:
            return
        self.networks = [item["Labels"][LABEL] for item in labelled(engine, "/networks")]
        tags = [tag for item in ask_engine(engine, "GET", "/images/json") for tag in item.get("RepoTags") or ()]
        self.tags = [tag.partition("agentdeck/keep:")[2] for tag in tags if "agentdeck/keep:" in tag]

    def __str__(self):
        return f"containers {self.containers}, networks {self.networks}, names of images {self.tags}"

    def is_empty(self):
        return not (self.containers or self.networks or self.tags)


# ---- what can be asked for ----------------------------------------------------------------------------------------


def do_image():
    """Import the image that prepare() has put here."""
    for engine, path in ENGINES.items():
        address = ["--host", "unix://" + path] if engine == "docker" else ["--remote", "--url", "unix://" + path]
        subprocess.run([engine, *address, "import", "/var/tmp/image.tar", IMAGE], check=True, capture_output=True, timeout=100,
                       user=OWNER.pw_uid, group=OWNER.pw_gid, extra_groups=os.getgrouplist(OWNER.pw_name, OWNER.pw_gid),
                       env={"PATH": os.environ["PATH"], "HOME": OWNER.pw_dir})
    os.unlink("/var/tmp/image.tar")
    return {}


def do_container(identity, what):
    """Do this to its container, behind agentdeck's back."""
    requests = {"stop": ("POST", "/stop", {"t": 5}), "kill": ("POST", "/kill", {}), "rm": ("DELETE", "", {"force": "true"}),
                "restart": ("POST", "/restart", {"t": 5})}
    method, path, query = requests[what]
    done = 0
    for engine in ENGINES:
        for owner, number, state in Belongings(engine).containers:
            # (whoever starts the container of a stopped session wants it to run)
            if owner == identity and (state == "running" or what == "rm"):
                ask_engine(engine, method, f"/containers/{number}{path}", **query)
                done += 1
    return {"done": done}


def manage(engine, *words):
    """systemctl for the manager that has the engine's units."""
    mine = ["setpriv", f"--reuid={OWNER.pw_uid}", f"--regid={OWNER.pw_gid}", "--clear-groups", "env",
            f"XDG_RUNTIME_DIR=/run/user/{OWNER.pw_uid}", "systemctl", "--user"]
    manager = ["systemctl"] if engine == "docker" else mine
    return subprocess.run([*manager, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)


def do_engine(engine, what, seconds, commands):
    """Restart, kill or stop (SIGSTOP) it while commands are given."""
    service = engine + ".service"
    running = [begin(["agentdeck", *words]) for words in commands]
    if what == "restart":
        manage(engine, "restart", service)
    else:
        manage(engine, "kill", "--kill-who=main", "--signal=" + {"kill": "SIGKILL", "hang": "SIGSTOP"}[what], service)
    time.sleep(seconds)
    if what == "hang":
        manage(engine, "kill", "--kill-who=main", "--signal=SIGCONT", service)
    for process in running:
        process.wait(COMMAND_TIMEOUT_S)
    # (systemd gives up on a unit that was killed too often)
    manage(engine, "reset-failed", service)
    manage(engine, "start", "docker.service" if engine == "docker" else "podman.socket")
    return {}
