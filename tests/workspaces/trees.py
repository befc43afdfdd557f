# SPDX-License-Identifier: GPL-3.0-or-later
"""A remote, a source repository and a tree that was made from it, and what agentdeck-assess says."""
import json
import os
import random
import re
import shutil
import subprocess

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@invalid",
    "GIT_COMMITTER_NAME": "c", "GIT_COMMITTER_EMAIL": "c@invalid", "GIT_EDITOR": "true",
    "GIT_CONFIG_COUNT": "5", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always",
    "GIT_CONFIG_KEY_1": "init.defaultBranch", "GIT_CONFIG_VALUE_1": "main",
    "GIT_CONFIG_KEY_2": "gc.auto", "GIT_CONFIG_VALUE_2": "0",
    "GIT_CONFIG_KEY_3": "advice.detachedHead", "GIT_CONFIG_VALUE_3": "false",
    "GIT_CONFIG_KEY_4": "core.fsync", "GIT_CONFIG_VALUE_4": "none",
}
TIMEOUT = 60


def git(directory, *words, check=True, text=None, env=None):
    result = subprocess.run(["git", "-C", directory, *words], env=env or ENVIRONMENT, timeout=TIMEOUT, input=text,
                            capture_output=True, text=True, errors="surrogateescape", check=False)
    if check and result.returncode != 0:
        raise RuntimeError(f"git {' '.join(words)}: {result.stderr.strip()}")
    return result.stdout.strip()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class World:
    """kind: "worktree" or "clone".  The first one of a kind is made with git, and the others are copies."""
    templates = None

    @classmethod
    def prepare(cls, directory, program):
        for kind in ("worktree", "clone"):
            cls(os.path.join(directory, f"template-{kind}"), kind, program)
        cls.templates = directory

    def __init__(self, directory, kind, program, seed=0):
        self.root, self.kind, self.program = os.path.realpath(directory), kind, program
        self.random = random.Random(seed)
        self.remote, self.source = self.path("remote.git"), self.path("source")
        self.tree = self.path("tree")
        self.count = 0
        self.squashed = []
        self.log, self.steps = [], set()
        self.provoke = None     # makes git execute what a hostile tree wants
        self.expires = False
        if self.templates:
            self.copy(os.path.realpath(os.path.join(self.templates, f"template-{kind}")))
        else:
            self.make()

    def make(self):
        os.makedirs(self.root)
        git(self.root, "init", "-q", "--bare", self.remote)
        git(self.root, "clone", "-q", self.remote, self.source)
        for name in ("one", "two", "dir/three"):
            write(f"{self.source}/{name}", f"{name}\n" * 5)
        write(f"{self.source}/.gitignore", "*.o\nbuild/\n")
        git(self.source, "add", ".")
        git(self.source, "commit", "-q", "-m", "first")
        write(f"{self.source}/one", "changed\n")
        git(self.source, "commit", "-q", "-a", "-m", "second")
        git(self.source, "push", "-q", "-u", "origin", "main")
        git(self.source, "remote", "set-head", "origin", "main")
        self.make_tree()
        write(self.path("record"), json.dumps(self.record))

    def copy(self, template):
        shutil.copytree(template, self.root, symlinks=True)
        for name in ("record", "source/.git/config", "source/.git/worktrees/tree/gitdir", "tree/.git", "tree/.git/config"):
            if os.path.isfile(self.path(name)):
                with open(self.path(name), encoding="utf-8") as file:
                    text = file.read()
                write(self.path(name), text.replace(f"{template}/", f"{self.root}/"))
        for directory in (self.source, self.tree):
            git(directory, "update-index", "-q", "--refresh")
        with open(self.path("record"), encoding="utf-8") as file:
            self.record = json.load(file)

    def path(self, name):
        return os.path.join(self.root, name)

    def make_tree(self):
        if self.kind == "worktree":
            git(self.source, "worktree", "add", "-q", "-b", "agent", self.tree)
        else:
            git(self.root, "clone", "-q", "--no-hardlinks", "--template=", self.source, self.tree)
            git(self.tree, "remote", "rename", "origin", "agentdeck-source")
            git(self.tree, "remote", "add", "origin", self.remote)
            git(self.tree, "fetch", "-q", "origin")
            git(self.tree, "remote", "set-head", "origin", "main")
            git(self.tree, "checkout", "-q", "-b", "agent", "--no-track")
        self.record = self.run("record", {
            "schema": 1, "kind": self.kind, "source": self.source, "path": self.tree, "branch": "agent",
            "base": git(self.tree, "rev-parse", "HEAD"), "made_branch": True, "refs": [], "remotes": [], "stashes": []})

    def run(self, word, record, timeout=60):
        result = subprocess.run([self.program, word], input=json.dumps(record), capture_output=True, text=True,
                                timeout=timeout, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"agentdeck-assess: {result.returncode} {result.stderr}")
        return json.loads(result.stdout)

    def verdict(self, timeout=60):
        return self.run("verdict", self.record, timeout)

    # ---- what an agent does ----

    def number(self):
        self.count += 1
        return self.count

    def git(self, *words, **more):
        return git(self.tree, *words, **more)

    def change(self, name="one", directory=None):
        path = os.path.join(directory or self.tree, name)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"line {self.number()} {self.random.random()}\n")

    def commit(self, directory=None, name=None):
        directory = directory or self.tree
        name = name or f"file{self.number()}"
        write(f"{directory}/{name}", f"content {self.number()} {self.random.random()}\n")
        git(directory, "add", "-f", name)
        git(directory, "commit", "-q", "-m", f"commit {self.count}")
        return git(directory, "rev-parse", "HEAD")

    def branch(self):
        return self.git("symbolic-ref", "-q", "--short", "HEAD", check=False)

    def delete(self):
        """As agentdeck would: the tree, and the branch that was made for it."""
        if self.kind == "worktree":
            git(self.source, "worktree", "remove", "--force", "--force", self.tree)
            git(self.source, "branch", "-q", "-D", "agent", check=False)
        else:
            shutil.rmtree(self.tree)


# ---- what would be lost, by git ----

def objects(directory, *more):
    """Everything that the refs and logs of a repository reach."""
    if subprocess.run(["git", "-C", directory, "rev-parse", "-q", "--git-dir"], env=ENVIRONMENT, capture_output=True,
                      check=False).returncode != 0:
        return set()
    words = ["rev-list", "--objects", "--no-object-names", "--all", "--reflog", *more]
    if subprocess.run(["git", "-C", directory, "rev-parse", "-q", "--verify", "HEAD"], env=ENVIRONMENT,
                      capture_output=True, check=False).returncode == 0:
        words.append("HEAD")
    found = set(git(directory, *words).split())
    # rev-list names no tag objects
    for line in git(directory, "for-each-ref", "--format=%(objectname)").split():
        found.add(line)
    return found


def files(tree):
    """Content of the index and of every file that is not ignored."""
    found = {line.split()[1] for line in git(tree, "ls-files", "-s").splitlines() if not line.startswith("160000")}
    names = git(tree, "ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0")
    names = [name for name in names if name and os.path.isfile(os.path.join(tree, name)) and
             not os.path.islink(os.path.join(tree, name))]
    for start in range(0, len(names), 500):
        found |= set(git(tree, "hash-object", "--no-filters", "--", *names[start:start + 500]).split())
    return found


def repositories(tree):
    """Git directories and work trees below, the tree itself first; with those of removed submodules."""
    yield tree
    for directory, below, names in os.walk(tree):
        if directory != tree and (".git" in below or ".git" in names):
            yield directory
        if "HEAD" in names and "objects" in below and "refs" in below and os.path.basename(directory) != ".git":
            yield directory


def everything(world):
    found = set()
    for directory in repositories(world.tree):
        found |= objects(directory)
        if os.path.exists(os.path.join(directory, ".git")):
            found |= files(directory)
    gitdir = git(world.tree, "rev-parse", "--absolute-git-dir")
    found |= put_aside(world, gitdir) | at_the_top(world, gitdir)
    for directory, below, names in os.walk(os.path.join(gitdir, "modules")):
        if "HEAD" in names and "objects" in below:
            env = dict(ENVIRONMENT, GIT_DIR=directory, GIT_WORK_TREE=world.root)
            found |= set(git(world.root, "rev-list", "--objects", "--no-object-names", "--all", "--reflog", env=env).split())
    return found | hidden(world)


def reached(world, path):
    """What the commit in this file reaches: nothing, if damage has left no commit in it."""
    with open(path, "rb") as file:
        oid = re.fullmatch(rb"([0-9a-f]{40})\s*", file.read())
    if not oid or git(world.tree, "cat-file", "-t", oid[1].decode(), check=False) != "commit":
        return set()
    return set(git(world.tree, "rev-list", "--objects", "--no-object-names", oid[1].decode()).split())


def put_aside(world, gitdir):
    """What a rebase gives back at its end: no ref has it."""
    found = set()
    for name in ("rebase-merge/autostash", "rebase-apply/autostash"):
        if os.path.exists(os.path.join(gitdir, name)):
            found |= reached(world, os.path.join(gitdir, name))
    return found


def at_the_top(world, gitdir):
    """What refs reach that `git update-ref NAME` made beside HEAD, and the one before a reset."""
    found = set()
    for name in os.listdir(gitdir):
        if name == "ORIG_HEAD" or name.startswith("SAVED"):
            found |= reached(world, os.path.join(gitdir, name))
    return found


def hidden(world):
    """What git status was told not to see."""
    return {git(world.tree, "hash-object", "--no-filters", "--", name) for name in getattr(world, "hides", [])
            if os.path.exists(os.path.join(world.tree, name))}


def survivors(world):
    found = objects(world.remote) | objects(world.source)
    for name in os.listdir(world.root):
        if name.startswith("other") and name.endswith(".git"):
            found |= objects(world.path(name))
    return found


def lost(world):
    """Deletes the tree.  Objects that existed before and are nowhere else after."""
    before = everything(world)
    allowed = set()
    for tip in world.squashed:
        allowed |= set(git(world.tree, "rev-list", "--objects", "--no-object-names", tip).split())
    world.delete()
    return before - survivors(world) - allowed
