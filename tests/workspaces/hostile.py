# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees that attack their reader.  Each function makes one, and says which findings are right.

Nothing of the tree may be executed: every attack that runs a program makes the file "canary".  git
itself must fall for it (provoke), so that the attack proves something.  The verdict must be
unsafe."""
import os
import shutil
import zlib

from operations import conflict
from trees import git, write

ALL = {}


def hostile(function):
    ALL[function.__name__] = function
    return function


def program(world, *words):
    """A program that gives itself away.  words: the command of git that would execute it."""
    world.provoke = lambda: world.git(*(words or ("status",)), check=False)
    path = world.path("attack")
    write(path, f"#!/bin/sh\ntouch {world.path('canary')}\ncat\n")
    os.chmod(path, 0o755)
    return path


def change_content(world):
    """With another size, git would not need to look at it."""
    path = f"{world.tree}/one"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    write(path, text.swapcase())


def gitdir(world):
    return git(world.tree, "rev-parse", "--absolute-git-dir")


@hostile
def fsmonitor(world):
    world.git("config", "core.fsmonitor", program(world))
    world.change()
    return "one"


@hostile
def clean_filter(world):
    world.git("config", "filter.x.clean", program(world))
    write(f"{world.tree}/.gitattributes", "* filter=x\n")
    change_content(world)
    return "one"


@hostile
def filter_by_include(world):
    write(world.path("more"), f"[filter \"x\"]\n\tclean = {program(world)}\n\tprocess = {program(world)}\n")
    world.git("config", "include.path", world.path("more"))
    write(f"{gitdir(world)}/info/attributes", "* filter=x\n")
    change_content(world)
    return "includes other files"


@hostile
def process_filter(world):
    """As git-lfs has it."""
    world.git("config", "filter.lfs.process", program(world))
    world.git("config", "filter.lfs.required", "true")
    write(f"{world.tree}/.gitattributes", "* filter=lfs\n")
    change_content(world)
    return "one"


@hostile
def fsmonitor_of_a_nested_repository(world):
    path = f"{world.tree}/build/nested"
    git(world.root, "init", "-q", path)
    world.commit(path, "first")
    git(path, "config", "core.fsmonitor", program(world, "-C", path, "status"))
    world.change("first", path)
    return "nested"


@hostile
def missing_object_of_a_promisor(world):
    """git fetches what a partial clone lacks, with the program that the configuration names."""
    world.commit(name="own")
    os.unlink(loose(world, "HEAD:own"))
    world.git("config", "core.repositoryFormatVersion", "1")
    world.git("config", "extensions.partialClone", "origin")
    world.git("config", "remote.origin.promisor", "true")
    world.git("config", "remote.origin.url", f"file://{world.remote}")
    world.git("config", "remote.origin.uploadpack", f"{program(world, 'cat-file', '-p', 'HEAD:own')} </dev/null")
    return ""


@hostile
def textconv(world):
    world.git("config", "diff.x.textconv", program(world, "diff"))
    world.git("config", "diff.external", world.path("attack"))
    write(f"{world.tree}/.gitattributes", "* diff=x\n")
    world.change()
    return "one"


@hostile
def hooks(world):
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        os.makedirs(f"{gitdir(world)}/hooks", exist_ok=True)
        shutil.copy(program(world), f"{gitdir(world)}/hooks/{name}")
    world.provoke = lambda: world.git("add", "-A")
    world.git("config", "core.hooksPath", f"{gitdir(world)}/hooks")
    write(f"{world.tree}/new", "new\n")
    return "new"


@hostile
def merge_driver(world):
    world.git("config", "merge.x.driver", program(world))
    write(f"{gitdir(world)}/info/attributes", "* merge=x\n")
    world.provoke = lambda: world.git("merge", conflict(world), check=False)
    world.commit()
    return "1 commit"


@hostile
def alternates(world):
    write(f"{gitdir(world)}/objects/info/alternates", "/nonexistent/objects\n")
    return "borrows objects"


@hostile
def alternates_in_a_circle(world):
    write(f"{gitdir(world)}/objects/info/alternates", f"{gitdir(world)}/objects\n")
    return "borrows objects"


@hostile
def refs_in_a_circle(world):
    write(f"{gitdir(world)}/refs/heads/a", "ref: refs/heads/b\n")
    write(f"{gitdir(world)}/refs/heads/b", "ref: refs/heads/a\n")
    write(f"{gitdir(world)}/HEAD", "ref: refs/heads/a\n")
    return "HEAD"


@hostile
def links_that_lead_out(world):
    os.symlink("/", f"{world.tree}/root")
    os.symlink("circle", f"{world.tree}/circle")
    os.symlink("/dev/zero", f"{world.tree}/zero")
    return "circle"


@hostile
def worktree_elsewhere(world):
    world.git("config", "core.worktree", "/")
    return "moves it elsewhere"


@hostile
def linked_git_directory(world):
    os.rename(f"{world.tree}/.git", world.path("real.git"))
    os.symlink(world.path("real.git"), f"{world.tree}/.git")
    return "not what it was"


@hostile
def git_directory_elsewhere(world):
    os.rename(f"{world.tree}/.git", world.path("real.git"))
    write(f"{world.tree}/.git", f"gitdir: {world.path('real.git')}\n")
    return "not what it was"


@hostile
def clone_of_another_repository(world):
    """Its own commits would not be looked at, and the refs of that survive."""
    world.commit()
    write(f"{gitdir(world)}/commondir", f"{world.source}/.git\n")
    write(f"{gitdir(world)}/gitdir", f"{world.tree}/.git\n")
    return "another repository"


@hostile
def git_directory_is_a_pipe(world):
    os.rename(f"{world.tree}/.git", world.path("real.git"))
    os.mkfifo(f"{world.tree}/.git")
    return "not what it was"


@hostile
def pipe_in_the_tree(world):
    os.mkfifo(f"{world.tree}/pipe")
    return "a pipe"


@hostile
def pipe_in_place_of_a_file(world):
    os.unlink(f"{world.tree}/one")
    os.mkfifo(f"{world.tree}/one")
    return "one"


def pipe_at(name):
    def attack(world):
        path = name if name.startswith("tree/") else f"git/{name}"
        path = path.replace("tree/", world.tree + "/", 1).replace("git/", gitdir(world) + "/", 1)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        os.mkfifo(path)
        return "is not a regular file" if name.startswith("tree/") else "is neither a file nor a directory"
    return attack


for place in ("tree/.gitignore", "tree/dir/.gitignore", "tree/.gitattributes", "tree/.gitmodules", "index", "config", "packed-refs",
              "HEAD", "info/exclude", "info/attributes", "logs/HEAD", "refs/stash", "logs/refs/stash", "refs/heads/x",
              "objects/info/alternates", "objects/pack/x.pack", "objects/pack/x.idx", "commondir", "shallow",
              "config.worktree"):
    ALL["pipe_at_" + place.replace("/", "_")] = pipe_at(place)


@hostile
def a_million_refs(world):
    head = world.git("rev-parse", "HEAD")
    with open(f"{gitdir(world)}/packed-refs", "w", encoding="utf-8") as file:
        file.write("# pack-refs with: peeled fully-peeled sorted\n")
        for i in range(1000000):
            file.write(f"{head} refs/heads/b{i:07}\n")
    return "too large"


@hostile
def many_loose_refs(world):
    head = world.git("rev-parse", "HEAD")
    directory = f"{gitdir(world)}/refs/heads/many"
    os.makedirs(directory)
    for i in range(21000):
        with open(f"{directory}/{i}", "w", encoding="utf-8") as file:
            file.write(head + "\n")
    return "too many loose refs"


@hostile
def a_large_configuration(world):
    with open(f"{gitdir(world)}/config", "a", encoding="utf-8") as file:
        for i in range(100 << 8):
            file.write(f"[section{i}]\n" + "\tkey = value\n" * 290)
    return "too large"


@hostile
def configuration_without_an_end(world):
    world.git("config", "include.path", "/dev/zero")
    return "includes other files"


@hostile
def rules_that_take_for_ever(world):
    write(f"{world.tree}/.gitignore", "a*" * 20 + "b\n")
    for i in range(5):
        write(f"{world.tree}/{'a' * 200}{i}", "x\n")
    return "take too long"


@hostile
def index_with_lies(world):
    with open(f"{gitdir(world)}/index", "r+b") as file:
        file.seek(8)
        file.write(b"\xff\xff\xff\xff")
    return "index"


@hostile
def index_cut(world):
    os.truncate(f"{gitdir(world)}/index", 40)
    return "index"


def loose(world, revision):
    oid = world.git("rev-parse", revision)
    return f"{gitdir(world)}/objects/{oid[:2]}/{oid[2:]}"


def own_commit(world):
    """Objects of its own are loose files."""
    world.commit()


@hostile
def missing_commit(world):
    own_commit(world)
    os.unlink(loose(world, "HEAD"))
    return "HEAD leads to no commit"


@hostile
def cut_commit(world):
    """libgit2 1.5 reads it in a loop without an end."""
    own_commit(world)
    path = loose(world, "HEAD")
    os.chmod(path, 0o644)
    os.truncate(path, os.path.getsize(path) - 20)
    return "unknown"


@hostile
def missing_tree(world):
    own_commit(world)
    os.unlink(loose(world, "HEAD^{tree}"))
    return "HEAD leads to no commit"


@hostile
def damaged_commit(world):
    own_commit(world)
    path = loose(world, "HEAD")
    os.chmod(path, 0o644)
    with open(path, "wb") as file:
        file.write(b"not an object")
    return "HEAD leads to no commit"


@hostile
def empty_tree_of_a_partial_clone(world):
    """Without its tree and with an empty index, git status says that nothing changed."""
    own_commit(world)
    os.unlink(loose(world, "HEAD^{tree}"))
    for name in os.listdir(world.tree):
        if name != ".git":
            path = f"{world.tree}/{name}"
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    os.unlink(f"{gitdir(world)}/index")
    return "HEAD leads to no commit"


@hostile
def a_commit_of_a_gigabyte(world):
    own_commit(world)
    path = loose(world, "HEAD")
    os.chmod(path, 0o644)
    deflate = zlib.compressobj(9)
    with open(path, "wb") as file:
        file.write(deflate.compress(b"commit %d\0" % (1 << 30)))
        for _ in range(1 << 10):
            file.write(deflate.compress(bytes(1 << 20)))
        file.write(deflate.flush())
    return ""


@hostile
def damaged_pack(world):
    world.git("repack", "-q", "-a", "-d")
    directory = f"{gitdir(world)}/objects/pack"
    for name in os.listdir(directory):
        os.chmod(f"{directory}/{name}", 0o644)
        os.truncate(f"{directory}/{name}", 100)
    return "HEAD leads to no commit"


@hostile
def deep_directories(world):
    path = f"{world.tree}/deep"
    os.makedirs(path)
    handle = os.open(path, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    return "too deep"


@hostile
def a_submodule_that_is_its_parent(world):
    os.makedirs(f"{world.tree}/sub")
    write(f"{world.tree}/sub/.git", "gitdir: ../.git\n")
    world.change()
    return "one"


@hostile
def a_pipe_in_a_submodule(world):
    git(world.root, "init", "-q", f"{world.tree}/build/sub")
    os.mkfifo(f"{world.tree}/build/sub/.gitignore")
    return "not a regular file"


@hostile
def another_owner(world):
    if os.geteuid() != 0:
        return None
    os.chown(world.tree, 12345, 12345)
    return "not a directory of yours"


@hostile
def names_that_move_a_terminal(world):
    with open(f"{world.tree}/\x1b[2J\n\udcff", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("x\n")
    world.commit(name="ordinary")
    return "\\033[2J\\n\\377"


@hostile
def a_format_of_tomorrow(world):
    world.git("config", "core.repositoryFormatVersion", "1")
    world.git("config", "extensions.refStorage", "reftable")
    return "cannot be opened"


@hostile
def a_stash_without_its_log(world):
    world.change()
    world.git("stash", "-q")
    os.unlink(f"{gitdir(world)}/logs/refs/stash")
    return "stash"
