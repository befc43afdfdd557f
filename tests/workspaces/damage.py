# SPDX-License-Identifier: GPL-3.0-or-later
"""Random damage to the git directory of a tree, and what git still sees in it."""
import os
import shutil
import subprocess

import hostile
import trees

TIMEOUT = 20


def targets(world, gitdir):
    """Files that belong to the tree alone, so that what survives elsewhere is undamaged."""
    found = [os.path.join(world.tree, ".git")] if world.kind == "worktree" else []
    for directory, _, names in os.walk(gitdir):
        found += [os.path.join(directory, name) for name in sorted(names)]
    small = [path for path in found if "/objects/" not in path]
    return small, [path for path in found if "/objects/" in path]


# ---- bytes ----

def change(path, function):
    os.chmod(path, 0o644)
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        data = function(data)
        file.seek(0)
        file.truncate()
        file.write(data)


def flip(random, path):
    def some(data):
        for _ in range(random.choice((1, 1, 4, 64))):
            if data:
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return data
    change(path, some)


def cut(random, path):
    change(path, lambda data: data[:random.randrange(len(data) + 1)])


def cut_out(random, path):
    def some(data):
        start = random.randrange(len(data) + 1)
        return data[:start] + data[start + random.randrange(64):]
    change(path, some)


def add_noise(random, path):
    change(path, lambda data: data + random.randbytes(random.choice((1, 20, 4096))))


def put_zeros(random, path):
    def some(data):
        start = random.randrange(len(data) + 1)
        data[start:start + 32] = bytes(len(data[start:start + 32]))
        return data
    change(path, some)


def repeat_a_line(random, path):
    def some(data):
        lines = data.splitlines(keepends=True)
        if lines:
            lines.insert(random.randrange(len(lines)), random.choice(lines))
        return b"".join(lines)
    change(path, some)


def drop_a_line(random, path):
    def some(data):
        lines = data.splitlines(keepends=True)
        if lines:
            lines.pop(random.randrange(len(lines)))
        return b"".join(lines)
    change(path, some)


def delete(_, path):
    os.unlink(path)


def make_empty(_, path):
    change(path, lambda _: b"")


def make_directory(_, path):
    os.unlink(path)
    os.mkdir(path)


def make_pipe(_, path):
    os.unlink(path)
    os.mkfifo(path)


BYTES = (flip, flip, flip, cut, cut, cut_out, add_noise, put_zeros, repeat_a_line, drop_a_line, delete, make_empty, make_directory, make_pipe)


# ---- lies ----

def lies(world):
    attack = hostile.program(world)
    names = ("HEAD", "commondir", "gitdir", "ORIG_HEAD", "packed-refs", "shallow", "MERGE_HEAD", "config.worktree", "refs/heads/lie",
             "objects/info/alternates", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "logs/HEAD")
    oid = world.git("rev-parse", "HEAD", check=False) or "0" * 40
    texts = (oid, f"{oid}\n", f"{oid} {oid} a <a@invalid> 1 +0000\tcommit: lie\n", "ref: refs/heads/none\n", "ref: ../../HEAD\n",
             "ref: refs/heads/lie\n", "/\n", "..\n", ".\n", f"{world.source}/.git\n", f"{world.remote}\n", "*\n", "* filter=x\n",
             f"# pack-refs with: peeled fully-peeled sorted \n{oid} refs/remotes/origin/lie\n", "\0\n", "x" * 4096)
    settings = (f"[core]\n\tfsmonitor = {attack}\n", f"[filter \"x\"]\n\tclean = {attack}\n", f"[core]\n\tworktree = {world.source}\n",
                "[core]\n\tbare = true\n", "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tnoop = true\n", "[include]\n\tpath = x\n",
                "[extensions]\n\tobjectFormat = sha256\n", "[core]\n\tignoreStat = true\n", "[status]\n\tshowUntrackedFiles = no\n")
    return names, texts, settings


def lie(world, gitdir):
    names, texts, settings = lies(world)
    if world.random.random() < 0.3:
        text = world.random.choice(settings)
        with open(f"{gitdir}/config" if world.kind == "clone" else f"{world.source}/.git/config", "a", encoding="utf-8") as file:
            file.write(text)
        return text.split()[1:4]
    name, text = world.random.choice(names), world.random.choice(texts)
    os.makedirs(os.path.dirname(f"{gitdir}/{name}"), exist_ok=True)
    with open(f"{gitdir}/{name}", "w", encoding="utf-8") as file:
        file.write(text)
    return name, repr(text[:50])


def inflict(world):
    gitdir, log = hostile.gitdir(world), []
    shutil.copy(f"{world.source}/.git/config", world.path("config"))
    for _ in range(world.random.choice((1, 1, 2, 3))):
        try:
            if world.random.random() < 0.25:
                log.append(f"LIE {' '.join(lie(world, gitdir))}")
                continue
            small, objects = targets(world, gitdir)
            path = world.random.choice(objects if objects and world.random.random() < 0.25 else small)
            way = world.random.choice(BYTES)
            way(world.random, path)
            log.append(f"DAMAGE {way.__name__} {os.path.relpath(path, world.root)}")
        except (OSError, IndexError) as error:  # what was damaged before is in the way
            log.append(f"(no damage: {error})")
    return log


# ---- the answer ----

def answer(world):
    """The answer as its caller sees it, and whether it is safe.  None: none in time."""
    try:
        verdict = world.verdict(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None, False
    except (RuntimeError, ValueError) as error:
        return f"unsafe: {str(error)[:200]}", False
    return verdict["verdict"], verdict["verdict"] == "safe"


def lost(world, before):
    """Of what git saw before the damage and still finds, what is nowhere else.  All of it, if git fails now."""
    try:
        found = before & trees.everything(world)
    except (RuntimeError, subprocess.TimeoutExpired):
        found = before
    allowed = set()
    for tip in world.squashed:
        try:
            allowed |= set(trees.git(world.tree, "rev-list", "--objects", "--no-object-names", tip).split())
        except RuntimeError:
            return set()
    shutil.rmtree(world.tree)
    shutil.rmtree(f"{world.source}/.git/worktrees/tree", ignore_errors=True)
    shutil.copy(world.path("config"), f"{world.source}/.git/config")
    return found - trees.survivors(world) - allowed
