#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-role-reference.py - a devcontainer.json is read as by its reference program, @devcontainers/cli

USAGE
  test-role-reference.py     agentdeck is found in PATH

  AGENTDECK_TEST_DEVCONTAINER   the program "devcontainer", of the version that it is pinned to here

It compares the image or the Dockerfile with its context, stage and arguments, the workspace, the
variables, the mounts and the commands, of examples/roles and of those files of tests/fixtures/roles that
run as they are. No engine is needed: "true" stands for one without containers.

EXIT STATUS
  0 all are the same; 1 some differ; 77 AGENTDECK_TEST_DEVCONTAINER is not set
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

VERSION = "0.89.0"
EVENTS = ("onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand", "postAttachCommand")
FIXTURES = (
    "build", "build-context", "build-legacy", "build-target-args", "cap-add", "comments", "container-env", "image", "init",
    "lifecycle", "lifecycle-of-the-shell", "local-env-default", "mount-object", "mount-text", "remote-env", "variables",
    "workspace",
)


def run(words, **more):
    return subprocess.run(words, check=False, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def mount_text(mount):
    """SOURCE:TARGET[:ro]"""
    if isinstance(mount, str):
        mount = dict((word.split("=", 1) + ["true"])[:2] for word in mount.split(","))
    source, target = (mount.get(long) or mount.get(short) for long, short in (("source", "src"), ("target", "dst")))
    is_read_only = str(mount.get("readonly", mount.get("ro", "false"))).lower() == "true"
    return f"{source}:{target}" + (":ro" if is_read_only else "")


def variables(configuration):
    """NAME=VALUE. One that is null is to be unset, and the program knows no id before there is a container."""
    both = configuration.get("containerEnv", {}) | configuration.get("remoteEnv", {})
    return sorted(f"{name}={text}" for name, text in both.items() if text is not None and "${devcontainerId}" not in text)


def theirs(program, place):
    answer = run([program, "read-configuration", "--docker-path", shutil.which("true"), "--workspace-folder", str(place)])
    if answer.returncode != 0:
        return {"failure": answer.stderr}
    value = json.loads(answer.stdout)
    found = value["configuration"]
    build = found.get("build", {})
    dockerfile = build.get("dockerfile") or found.get("dockerFile")
    home = pathlib.Path(found["configFilePath"]["path"]).parent
    context = build.get("context") or found.get("context") or "."
    return {
        "image": found.get("image"),
        "workspace": value["workspace"]["workspaceFolder"],
        "dockerfile": dockerfile and str((home / dockerfile).resolve()),
        "context": dockerfile and str((home / context).resolve()),
        "target": build.get("target"),
        "build_args": sorted(f"{name}={text}" for name, text in build.get("args", {}).items()),
        "environment": variables(found),
        "mounts": sorted(map(mount_text, found.get("mounts", []))),
        "cap_add": sorted(found.get("capAdd", [])),
        "commands": [[event, found[event]] for event in EVENTS if found.get(event)],
    }


def command(text):
    """As it is in the file."""
    return json.loads(text) if text[:1] in "[{" else text


def ours(place, home):
    answer = run(["agentdeck", "role", "show", "--json", str(place)], env=os.environ | {"AGENTDECK_HOME": home})
    if answer.returncode != 0:
        return {"failure": answer.stdout + answer.stderr}
    role = json.loads(answer.stdout)
    same = {name: role[name] for name in ("image", "workspace", "dockerfile", "context", "target")}
    lists = {name: sorted(role[name]) for name in ("build_args", "environment", "mounts", "cap_add")}
    written = (place / ".devcontainer/devcontainer.json").read_text()
    lists["environment"] = [one for one in lists["environment"] if f'"{one.split("=")[0]}": "${{devcontainerId}}"' not in written]
    return same | lists | {"commands": [[one["key"], command(one["command"])] for one in role["commands"]]}


def places(root, tree):
    for example in sorted((tree / "examples/roles").iterdir()):
        place = root / example.name
        shutil.copytree(example, place)
        # The reference program looks in one directory only.
        if not (place / ".devcontainer").exists():
            (place / ".devcontainer").mkdir()
            (place / "devcontainer.json").rename(place / ".devcontainer/devcontainer.json")
        yield place
    for name in FIXTURES:
        place = root / name
        (place / ".devcontainer").mkdir(parents=True)
        shutil.copy(tree / "tests/fixtures/roles" / f"{name}.json", place / ".devcontainer/devcontainer.json")
        for directory in (place / ".devcontainer", place / ".devcontainer/docker"):
            directory.mkdir(exist_ok=True)
            (directory / "Dockerfile").write_text("FROM debian:12\n")
        yield place


# A stand-in for Docker, with every image and no buildx, which builds nothing.
DOCKER = """#!/bin/sh
case $1 in
-v) echo 'Docker version 20.10.24, build x' ;;
version) echo 20.10.24 ;;
inspect) echo '[{"Id": "sha256:1", "Config": {"User": "", "Env": [], "Labels": {}}, "Architecture": "amd64", "Os": "linux"}]' ;;
buildx) exit 1 ;;
esac
"""


def builds_without_the_command_on_this_machine(program, root):
    """docs/roles.md says so where it names this program for features."""
    place, docker, ran = root / "hostile", root / "docker", root / "ran"
    (place / ".devcontainer").mkdir(parents=True)
    (place / ".devcontainer/devcontainer.json").write_text(json.dumps({"image": "debian:12", "initializeCommand": ["touch", str(ran)]}))
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    words = [program, "build", "--docker-path", str(docker), "--workspace-folder", str(place), "--image-name", "built:1"]
    answer = run(words, env=os.environ | {"TMPDIR": str(root)})
    if json.loads(answer.stdout or "{}").get("outcome") == "success" and not ran.exists():
        return 0
    print(f"FAILED build: {'initializeCommand ran' if ran.exists() else answer.stdout + answer.stderr}")
    return 1


def main():
    program = os.environ.get("AGENTDECK_TEST_DEVCONTAINER")
    if not program:
        print("skipped: AGENTDECK_TEST_DEVCONTAINER is not set")
        return 77
    version = run([program, "--version"]).stdout.strip()
    if version != VERSION:
        print(f"FAILED: {program} is version {version}, not {VERSION}")
        return 1
    failures = count = 0
    tree = pathlib.Path(os.environ.get("top_srcdir", pathlib.Path(__file__).parents[2])).resolve()
    with tempfile.TemporaryDirectory(prefix="agentdeck-reference-") as root:
        (pathlib.Path(root) / "deck").mkdir(mode=0o700)
        for place in places(pathlib.Path(root).resolve(), tree):
            count += 1
            here, there = ours(place, f"{root}/deck"), theirs(program, place)
            for name in sorted(here.keys() | there.keys()):
                if here.get(name) != there.get(name):
                    failures += 1
                    print(f"FAILED {place.name}: {name} is {here.get(name)!r} here, {there.get(name)!r} there")
        failures += builds_without_the_command_on_this_machine(program, pathlib.Path(root))
    print(f"{count} roles, {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
