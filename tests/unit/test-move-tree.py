#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-move-tree.py - session move --with-tree between two hosts, with a real ssh

USAGE
  test-move-tree.py [CASE...]   only these; agentdeck and its helpers are found in PATH

Each case has the two homes of test-hosts.py, a repository, and the far host's clone of it.

ENVIRONMENT
  AGENTDECK_TEST_KILLS   how often a move is killed (4)
  AGENTDECK_TEST_SEED    of the moments at which that happens (1)

EXIT STATUS
  As test-hosts.py
"""
import glob
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid

spec = importlib.util.spec_from_file_location("move", os.path.join(os.path.dirname(os.path.abspath(__file__)), "test-move.py"))
move_of = importlib.util.module_from_spec(spec)
spec.loader.exec_module(move_of)
hosts_of, expect, refused, states, here, there = move_of.hosts_of, move_of.expect, move_of.refused, move_of.states, move_of.here, move_of.there


KILLS = int(os.environ.get("AGENTDECK_TEST_KILLS", "4"))
SEED = int(os.environ.get("AGENTDECK_TEST_SEED", "1"))


def git(directory, *words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_AUTHOR_NAME="ann", GIT_AUTHOR_EMAIL="ann@host", GIT_COMMITTER_NAME="ann", GIT_COMMITTER_EMAIL="ann@host")
    return subprocess.run(["git", "-C", directory, *words], env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def repositories(hosts):
    move_of.settle(hosts)
    repository, clone = hosts.path + "/repo", hosts.path + "/clone"
    os.mkdir(repository)
    git(repository, "init", "--quiet", "-b", "main")
    for name, text in ((".gitignore", "*.o\n"), (".gitattributes", "* text=auto\n"), ("kept", "1\n"), ("gone", "1\n"), ("sub/deep", "1\n"), ("both", "1\n")):
        put(f"{repository}/{name}", text)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    git(hosts.path, "clone", "--quiet", repository, clone)
    return repository, clone


def launch(hosts, repository, title="api"):
    """A session with a worktree, that had a turn."""
    done = hosts.run("launch", repository, "--worktree", "-t", title, "--agent", "demo", "--json")
    expect(done.returncode == 0, done)
    for words in (("send", title, "said here"), ("status", "--wait", "idle", "--timeout", "60", title), ("session", "stop", title)):
        expect(hosts.run(*words).returncode == 0, words)
    one = here(hosts, "show", title)
    return one["id"], one["path"]


def tree_there(hosts, session):
    return there(hosts, "show", session)["path"]


def launch_there(hosts, clone):
    """The same on the far host."""
    session = json.loads(hosts.there("launch", clone, "--worktree", "-t", "api", "--agent", "demo", "--json"))["id"]
    for words in (("send", "api", "said there"), ("status", "--wait", "idle", "--timeout", "60", "api"), ("session", "stop", "api")):
        hosts.there(*words)
    return session, tree_there(hosts, session)


def work(tree):
    """All that a tree can have."""
    put(tree + "/committed", "1\n")
    git(tree, "add", "committed")
    git(tree, "commit", "-qm", "second")
    put(tree + "/stashed", "1\n")
    git(tree, "stash", "push", "-qu", "-m", "for later")
    put(tree + "/both", "staged\n")
    put(tree + "/new", "staged\n")
    git(tree, "add", "both", "new")
    put(tree + "/both", "and changed\n")
    put(tree + "/sub/deep", "changed\r\nwith its own ends\r\n")
    put(tree + "/untracked dir/\u00e4 \"name\"", "untracked\n")
    put(tree + "/program", "#!/bin/sh\n")
    os.chmod(tree + "/program", 0o755)
    os.symlink("/etc/hostname", tree + "/link")
    os.remove(tree + "/gone")
    put(tree + "/ignored.o", "made here\n")
    put(tree + "/tracked.o", "tracked although it is ignored\n")
    git(tree, "add", "-f", "tracked.o")


def look(tree):
    """What a user sees of it."""
    files = {}
    for name in sorted(glob.glob(tree + "/**", recursive=True, include_hidden=True) if sys.version_info >= (3, 11) else glob.glob(tree + "/**", recursive=True)):
        if os.path.islink(name):
            files[os.path.relpath(name, tree)] = os.readlink(name)
        elif os.path.isfile(name) and os.path.basename(name) not in (".git", ".env") and not name.endswith("/ignored.o"):
            with open(name, "rb") as file:
                files[os.path.relpath(name, tree)] = (file.read(), os.stat(name).st_mode & 0o100)
    return (git(tree, "rev-parse", "HEAD"), git(tree, "symbolic-ref", "HEAD"), git(tree, "status", "--porcelain", "-uall"), git(tree, "diff"), git(tree, "diff", "--cached"),
            git(tree, "stash", "list", "--format=%H %gs"), files)


def case_a_tree_goes_along(hosts):
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    work(tree)
    before = look(tree)
    done = hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
    expect(done.returncode == 0 and b"api: moved to gpu1" in done.stdout, done)
    expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))
    other = tree_there(hosts, session)
    expect(other != tree and look(other) == before, f"{look(other)} instead of {before}")
    expect(not os.path.exists(other + "/ignored.o") and look(tree) == before, "the tree here was changed")
    expect(git(clone, "for-each-ref", "--format=%(refname)").count("agentdeck") == 1, "other refs were made")
    # Its agent works there, also on a commit of its own.
    for words in (("start", "api"), ("send", "api", "said there"), ("status", "--wait", "idle", "--timeout", "60", "api"), ("session", "stop", "api")):
        hosts.there(*words)
    [words] = move_of.conversation_of(hosts.far, there(hosts, "show", "api")["session_id"])
    expect(b"said here" in move_of.content(words) and b"said there" in move_of.content(words), "the agent there did not continue it")
    git(other, "commit", "-qm", "third")
    put(other + "/untracked dir/\u00e4 \"name\"", "changed there\n")
    os.remove(other + "/link")
    after = look(other)
    # The tree that is here is never replaced, and what was done there is a branch beside it.
    put(tree + "/kept", "changed by its user\n")
    kept, stashes = look(tree), git(tree, "stash", "list", "--format=%H")
    done = hosts.run("session", "move", "gpu1:api", "--to", "local", "--with-tree", "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["tree_branch"] == "agentdeck/api-from-gpu1", done)
    expect(states(hosts, session) == ("arrived", "moved") and look(tree) == kept and look(other) == after, states(hosts, session))
    came = hosts.path + "/came"
    git(repository, "worktree", "add", "-q", came, "agentdeck/api-from-gpu1")
    expect(look(came)[-1] == after[-1], f"{look(came)[-1]} instead of {after[-1]}")
    expect([git(came, "rev-parse", "HEAD^"), git(came, "log", "-1", "--format=%s")] == [after[0], "not committed\n"], "its commits")
    expect(git(came, "log", "--format=%s").split("\n")[1:4] == ["third", "second", "first"] and git(tree, "stash", "list", "--format=%H") == stashes, "its history")
    # Once more, there and back: nothing new, and then something.
    branches = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/agentdeck")
    for change, branch in ((None, "agentdeck/api-from-gpu1"), ("more\n", "agentdeck/api-from-gpu1-2")):
        expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0 and look(other) == after, "again")
        if change:
            put(other + "/more", change)
            after = look(other)
        done = hosts.run("session", "move", "gpu1:api", "--to", "local", "--with-tree")
        expect(done.returncode == 0 and f"its tree from gpu1 is branch {branch} here;".encode() in done.stdout, done)
        expect(look(tree) == kept and look(other) == after, "a tree was changed")
    expect(git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/agentdeck") == branches + "agentdeck/api-from-gpu1-2\n", "branches")
    expect(git(repository, "show", "agentdeck/api-from-gpu1-2:more") == "more\n", "the new file")
    # All of it goes into the old tree as its user wants it.
    git(tree, "stash", "push", "-qu")
    git(tree, "merge", "-q", "agentdeck/api-from-gpu1-2")
    expect(git(tree, "show", "HEAD:more") == "more\n", "merge")
    expect(hosts.run("start", "api").returncode == 0, "it does not start")


def case_a_return_without_changes_is_a_branch_of_the_same_commit(hosts):
    repository, clone = repositories(hosts)
    session, _ = launch(hosts, repository)
    expect(hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree").returncode == 0, "it does not move")
    other = tree_there(hosts, session)
    git(other, "commit", "-q", "--allow-empty", "-m", "there")
    # One that its user has made is no return.
    git(repository, "branch", "agentdeck/api-from-gpu1", "main")
    done = hosts.run("session", "move", "gpu1:api", "--to", "local", "--with-tree")
    expect(done.returncode == 0 and b"is branch agentdeck/api-from-gpu1-2 here" in done.stdout, done)
    expect(git(repository, "rev-parse", "agentdeck/api-from-gpu1-2") == git(other, "rev-parse", "HEAD"), "another commit")
    expect(git(repository, "rev-parse", "agentdeck/api-from-gpu1") == git(repository, "rev-parse", "main"), "a branch was moved")
    expect(hosts.run("start", "api").returncode == 0, "it does not start")


def case_what_was_staged_there_comes_back(hosts):
    """It is in the branch, also where the file has changed since, is gone, or is as it was committed."""
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    there_and_back = (("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree"), ("session", "move", "gpu1:api", "--to", "local", "--with-tree", "--json"))
    expect(hosts.run(*there_and_back[0]).returncode == 0, "it does not move")
    other, before = tree_there(hosts, session), look(tree)

    def back(name, subjects):
        after = look(other)
        done = hosts.run(*there_and_back[1])
        expect(done.returncode == 0 and json.loads(done.stdout)["tree_branch"] == name, done)
        expect(look(tree) == before and look(other) == after, "a tree was changed")
        found = git(repository, "log", "--format=%s", f"main..{name}").split("\n")[:-1]
        expect(found == subjects, f"{name}: {found}")
        expect(git(repository, "merge-base", "main", name) == git(repository, "rev-parse", "main"), "another history")
        expect(hosts.run("session", "move", "api", "--to", "gpu1").returncode == 0, "it does not go again")
        return name

    # Changed since, gone since, and as it was committed: the files alone do not have what was staged.
    put(other + "/both", "staged\n")
    git(other, "add", "both")
    put(other + "/both", "changed\n")
    name = back("agentdeck/api-from-gpu1", ["not committed", "staged"])
    expect([git(repository, "show", f"{name}{at}:both") for at in ("^", "")] == ["staged\n", "changed\n"], "changed since")
    git(other, "reset", "-q", "--hard")
    put(other + "/fresh", "staged\n")
    git(other, "add", "fresh")
    os.remove(other + "/fresh")
    name = back("agentdeck/api-from-gpu1-2", ["not committed", "staged"])
    expect(git(repository, "show", f"{name}^:fresh") == "staged\n" and "fresh" not in git(repository, "ls-tree", "--name-only", name), "gone since")
    git(other, "reset", "-q", "--hard")
    put(other + "/kept", "staged\n")
    git(other, "add", "kept")
    put(other + "/kept", "1\n")
    name = back("agentdeck/api-from-gpu1-3", ["not committed", "staged"])
    expect([git(repository, "show", f"{name}{at}:kept") for at in ("^", "")] == ["staged\n", "1\n"], "as it was")
    # What is staged, and no more, is one commit.
    put(other + "/kept", "staged\n")
    name = back("agentdeck/api-from-gpu1-4", ["not committed"])
    expect(git(repository, "show", f"{name}:kept") == "staged\n", "no more than staged")
    git(repository, "gc", "--quiet", "--prune=now")
    expect(git(repository, "show", "agentdeck/api-from-gpu1-2^:fresh") == "staged\n", "git has pruned it")


def case_a_return_is_killed_at_any_moment(hosts):
    """Nothing of the tree here changes, and at last there is one branch with all that was done there."""
    repository, clone = repositories(hosts)
    moments = random.Random(SEED)
    session, tree = launch(hosts, repository)
    for i in range(KILLS):
        way = ("session", "move", session, "--to", "gpu1", "--path", clone, *(() if i else ("--with-tree",)))
        expect(hosts.run(*way).returncode == 0, f"{i}: it does not go there")
        other = tree_there(hosts, session)
        put(f"{other}/there", f"{i}\n")
        before, after = look(tree), look(other)
        way = ("session", "move", "gpu1:" + session, "--to", "local", "--with-tree")
        process = begin(hosts, way)
        try:
            process.wait(timeout=moments.uniform(0, 1.0))
        except subprocess.TimeoutExpired:
            for home in ((hosts.near,), (hosts.far,), (hosts.near, hosts.far))[moments.randrange(3)]:
                kill(home)
        process.wait()
        hosts_of.wait_for(lambda way=way: hosts.run(*way).returncode == 0, f"seed {SEED}, kill {i}: it does not continue: {states(hosts, session)}")
        expect(states(hosts, session) == ("arrived", "moved"), states(hosts, session))
        expect(look(tree) == before and look(other) == after, f"seed {SEED}, kill {i}: a tree was changed")
        branches = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/agentdeck/").split()
        found = [git(repository, "show", f"{name}:there") for name in branches if "-from-gpu1" in name]
        expect(sorted(found) == [f"{n}\n" for n in range(i + 1)], f"seed {SEED}, kill {i}: {found}")


def case_a_repeated_move_says_what_came_of_the_tree(hosts):
    """The answers were lost: the move is ready, or has let go, or was taken."""
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    way, back = ("session", "move", "api", "--to", "gpu1", "--path", clone), ("session", "move", "gpu1:api", "--to", "local")
    expect(hosts.run(*way, "--with-tree").returncode == 0, "it does not move")
    expect(hosts.run(*way, "--with-tree").returncode == 0, "a tree that came is missed")
    put(tree_there(hosts, session) + "/there", "1\n")

    def undo(*steps):
        """Both ends are as before the last steps."""
        for home, state in zip((hosts.near, hosts.far), steps):
            move_of.edit(home, session, move__state=state)

    # With the tree: the branch is told each time.
    for given in ((), ("arrived", "moved"), ("ready", "moved"), ("ready", "leaving")):
        undo(*given)
        done = hosts.run(*back, "--with-tree", "--json")
        expect(done.returncode == 0 and json.loads(done.stdout)["tree_branch"] == "agentdeck/api-from-gpu1", f"{given}: {done}")
        expect(states(hosts, session) == ("arrived", "moved"), states(hosts, session))
    # Without it: that is said, and the session is moved.
    expect(hosts.run(*way).returncode == 0, "it does not go again")
    done = hosts.run(*back, "--json")
    expect(done.returncode == 0 and json.loads(done.stdout)["tree_branch"] is None, done)
    for given in (("arrived", "moved"), ("ready", "moved"), ("ready", "leaving")):
        undo(*given)
        refused(hosts, 1, "its tree did not come", *back, "--with-tree")
        expect(states(hosts, session) == ("arrived", "moved"), states(hosts, session))
    expect(hosts.run(*way).returncode == 0 and hosts.run(*back, "--with-tree").returncode == 0, "it does not come at last")


def case_what_has_become_another_kind_goes_along(hosts):
    """A directory of tracked files is a link or a file now, also an ignored one, and a tracked file is a directory."""
    repository, clone = repositories(hosts)
    for name in ("other/deep", "third.o/deep", "third.o/more/deep", "fourth.o/deep"):
        put(f"{repository}/{name}", "1\n")
    git(repository, "add", "-f", ".")
    git(repository, "commit", "-qm", "with another directory")
    session, tree = launch(hosts, repository)
    shutil.rmtree(tree + "/sub")
    os.symlink("kept", tree + "/sub")
    shutil.rmtree(tree + "/other")
    put(tree + "/other", "a file\n")
    shutil.rmtree(tree + "/third.o")
    os.symlink("kept", tree + "/third.o")
    shutil.rmtree(tree + "/fourth.o")
    put(tree + "/fourth.o", "a file\n")
    os.remove(tree + "/both")
    put(tree + "/both/deep", "in a directory\n")
    before = look(tree)
    done = hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
    expect(done.returncode == 0, done)
    other = tree_there(hosts, session)
    expect(look(other) == before and look(tree) == before, f"{look(other)} instead of {before}")


def case_what_a_move_does_not_carry_is_refused(hosts):
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    words = ("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")

    def stays(told):
        expect("cannot move with its tree" in refused(hosts, 1, told, *words), told)
        expect(states(hosts, session) == ("none", None), states(hosts, session))

    git(tree, "checkout", "-q", "--detach")
    stays("does not have agentdeck/api checked out")
    git(tree, "checkout", "-q", "agentdeck/api")
    put(tree + "/mine", "1\n")
    git(tree, "add", "mine")
    git(tree, "commit", "-qm", "mine")
    git(tree, "checkout", "-q", "-b", "other", "main")
    put(tree + "/mine", "2\n")
    git(tree, "add", "mine")
    git(tree, "commit", "-qm", "other")
    stays("does not have agentdeck/api checked out")
    git(tree, "checkout", "-q", "agentdeck/api")
    subprocess.run(["git", "-C", tree, "merge", "-q", "other"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stays("in progress: merge")
    git(tree, "merge", "--abort")
    # Another repository in it.
    git(hosts.path, "clone", "-q", repository, tree + "/inner")
    expect("inner" in refused(hosts, 1, "does not come along", *words), "inner")
    subprocess.run(["rm", "-rf", tree + "/inner"], check=True)
    git(tree, "sparse-checkout", "set", "--no-cone", "sub")
    refused(hosts, 1, "sparse checkout", *words)
    git(tree, "sparse-checkout", "disable")
    os.makedirs(repository + "/.git/lfs/objects")
    stays("Git LFS")
    os.removedirs(repository + "/.git/lfs/objects")
    # The other end.
    refused(hosts, 2, "is not in a Git repository there", *words[:6], hosts.path + "/work", "--with-tree")
    git(clone, "branch", "agentdeck/api", "main")
    refused(hosts, 1, "has a branch agentdeck/api with other commits", *words)
    git(clone, "branch", "-D", "agentdeck/api")
    expect(states(hosts, session) == ("none", None), states(hosts, session))
    for kind in ("--clone", None):
        done = hosts.run("add", repository, *([kind] if kind else []), "-t", "plain" + (kind or ""), "--agent", "demo")
        expect(done.returncode == 0, done)
    refused(hosts, 1, "that is a clone", "session", "move", "plain--clone", *words[3:])
    refused(hosts, 1, "has no tree to itself", "session", "move", "plain", *words[3:])
    expect(hosts.run(*words).returncode == 0, "it does not move at last")


def case_where_its_work_began_need_not_be_there(hosts):
    repository, clone = repositories(hosts)
    put(repository + "/kept", "2\n")
    git(repository, "commit", "-qam", "not there")
    session, tree = launch(hosts, repository)
    git(tree, "commit", "-q", "--amend", "-m", "another")
    done = hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
    expect(done.returncode == 0 and look(tree_there(hosts, session)) == look(tree), done)


def case_the_users_own_files_come_behind_those_of_the_tree(hosts):
    repository, clone = repositories(hosts)
    put(repository + "/.gitignore", "*.o\n.env\n")
    git(repository, "commit", "-qam", "ignore")
    session, tree = launch(hosts, repository)
    put(clone + "/.env", "of that machine\n")
    with open(hosts.far + "/config.toml", "a", encoding="utf-8") as file:
        file.write('[workspace]\ncopy = [".env"]\n')
    done = hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
    expect(done.returncode == 0, done)
    other = tree_there(hosts, session)
    with open(other + "/.env", encoding="utf-8") as file:
        expect(file.read() == "of that machine\n", "another .env")
    expect(look(other) == look(tree), "the tree is not the same")
    blob = git(clone, "hash-object", ".env").strip()
    known = subprocess.run(["git", "-C", clone, "cat-file", "-e", blob], check=False, stderr=subprocess.DEVNULL).returncode
    expect(known != 0, "git has the content of .env")


def case_a_tree_that_was_cut_is_not_passed_over(hosts):
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    for i in range(2000):
        put(f"{tree}/many/{i}", f"{i}\n")
    way = ("session", "move", session, "--to", "gpu1", "--path", clone)
    process = begin(hosts, (*way, "--with-tree"))

    def arrives():
        for name in glob.glob(hosts.far + "/**/instance.json", recursive=True):
            with open(name, encoding="utf-8") as file:
                if '"arriving":"' in file.read().replace(" ", ""):
                    return True
        return False
    hosts_of.wait_for(arrives, "it does not arrive")
    for home in (hosts.far, hosts.near):
        kill(home)
    process.wait()
    hosts_of.wait_for(lambda: not processes_of(hosts.far), "what was killed runs there")
    refused(hosts, 1, "with --with-tree if the tree is to come along", *way)
    expect(states(hosts, session) == ("none", None), states(hosts, session))
    done = hosts.run(*way, "--with-tree")
    expect(done.returncode == 0 and states(hosts, session) == ("moved", "arrived"), done)
    expect(look(tree_there(hosts, session)) == look(tree), "the tree is not the same")


def case_a_move_with_its_tree_is_given_up(hosts):
    repository, clone = repositories(hosts)
    session, tree = launch(hosts, repository)
    work(tree)
    before, refs = look(tree), git(clone, "for-each-ref")
    # The agent is not installed there, which is found after the tree has come.
    with open(hosts.far + "/config.toml", "a", encoding="utf-8") as file:
        file.write("[nothing]\nof = 1\n")
    refused(hosts, 1, "nothing", "session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
    expect(states(hosts, session) == ("none", None) and look(tree) == before and git(clone, "for-each-ref") == refs, "something is left there")
    hosts_of.write(hosts.far + "/config.toml", "[tmux]\nlaunch_in_user_scope = false\nlinger = false\n[supervise]\nauto = false\n")
    # Another session has its conversation there: the copy goes, with its tree and branch.
    move = str(uuid.uuid4())
    for step in ("leave", "pack-tree"):
        expect(hosts.run("session", "move", session, "--step", step, "--id", move, "--to", "gpu1").returncode == 0, step)
    expect(hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree").returncode == 0, "it does not continue")
    other = tree_there(hosts, session)
    expect(hosts.run("session", "move", "gpu1:api", "--to", "local").returncode == 0, "it does not come back")
    expect(look(other) == look(tree) == before, "there and back")


def hostile_commit(directory, commit, subject=None):
    """The same commit with a signature, and with another subject."""
    header, _, message = git(directory, "cat-file", "commit", commit).partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----"
    put(directory + "/commit.o", f"{header}\n{signature}\n\n{subject or message}")
    return git(directory, "hash-object", "-t", "commit", "-w", "commit.o").strip()


def prepare(hosts, repository, clone):
    """Whatever git could run for a tree is a program that says so."""
    hosts_of.write(hosts.path + "/program", f'#!/bin/sh\necho "$0 $*" >>{hosts.path}/ran\nexit 1\n', 0o755)
    for key in ("filter.there.smudge", "filter.there.clean", "diff.there.command", "diff.there.textconv", "merge.there.driver", "gpg.program", "core.fsmonitor",
                "core.alternateRefsCommand", "diff.external"):
        git(repository, "config", key, hosts.path + "/program")
    for key, value in (("log.showSignature", "true"), ("submodule.recurse", "true"), ("protocol.ext.allow", "always"), ("remote.origin.url", clone), ("remote.origin.promisor", "true"),
                       ("remote.origin.partialCloneFilter", "blob:none"), ("remote.origin.uploadpack", hosts.path + "/program"), ("extensions.partialClone", "origin")):
        git(repository, "config", key, value)
    for name in ("reference-transaction", "post-checkout", "post-commit", "post-index-change", "post-merge", "pre-commit"):
        shutil.copy(hosts.path + "/program", f"{repository}/.git/hooks/{name}")


def forget(repository):
    os.remove(repository + "/.git/config")
    git(repository, "init", "-q")
    shutil.rmtree(repository + "/.git/hooks")


def case_a_hostile_tree_runs_nothing_here(hosts):
    """What it is made of leads git to no program of its user, and git asks no server for what it left out."""
    repository, clone = repositories(hosts)
    ran = hosts.path + "/ran"
    session, tree = launch(hosts, repository)
    before = look(tree)
    git(clone, "branch", "theirs", git(clone, "commit-tree", "-m", "only there", "HEAD^{tree}").strip())
    prepare(hosts, repository, clone)
    expect(hosts.run("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree").returncode == 0, "it does not move")
    other = tree_there(hosts, session)
    put(other + "/stashed", "1\n")
    git(other, "stash", "push", "-qu", "-m", "usual")
    stash = hostile_commit(other, "stash@{0}", "On agentdeck/api: \033[2Jfor later")
    git(other, "stash", "drop", "-q")
    git(other, "stash", "store", "-m", "On agentdeck/api: for later", stash)
    put(other + "/.gitattributes", "* filter=there diff=there merge=there\n")
    put(other + "/.gitmodules", '[submodule "m"]\n\tpath = m\n\turl = ext::' + hosts.path + "/program\n")
    git(other, "add", ".")
    git(other, "commit", "-qm", "there")
    git(other, "reset", "-q", "--hard", hostile_commit(other, "HEAD"))
    put(other + "/kept", "there\n")
    done = hosts.run("session", "move", "gpu1:api", "--to", "local", "--with-tree", "--json")
    expect(not os.path.exists(ran), f"it ran: {open(ran, encoding='utf-8').read() if os.path.exists(ran) else ''}")
    expect(done.returncode == 0 and json.loads(done.stdout)["tree_branch"] == "agentdeck/api-from-gpu1", done)
    forget(repository)
    expect(look(tree)[:-2] == before[:-2] and look(tree)[-1] == before[-1], "the tree here was changed")
    expect(git(repository, "show", "agentdeck/api-from-gpu1:kept") == "there\n", "the file of there")
    expect(git(repository, "stash", "list", "--format=%H").split() == [stash], "the stash of there")


def case_a_hostile_tree_that_is_new_here_runs_nothing(hosts):
    """Also one whose files are written here."""
    repository, clone = repositories(hosts)
    ran = hosts.path + "/ran"
    # Its work began at a commit that is not sent, which git would ask the server for.
    put(clone + "/kept", "2\n")
    git(clone, "commit", "-qam", "not here")
    session, tree = launch_there(hosts, clone)
    put(tree + "/.gitattributes", "* filter=there diff=there merge=there ident\n")
    put(tree + "/committed", "$Id$\n")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "--amend", "-m", "there")
    put(tree + "/kept", "there\n")
    before = look(tree)
    prepare(hosts, repository, clone)
    done = hosts.run("session", "move", "gpu1:api", "--to", "local", "--path", repository, "--with-tree")
    expect(not os.path.exists(ran), f"it ran: {open(ran, encoding='utf-8').read() if os.path.exists(ran) else ''}")
    expect(done.returncode == 0, done)
    forget(repository)
    expect(look(here(hosts, "show", session)["path"]) == before, "the tree is not the same")


def processes_of(home):
    """Of agentdeck and git, by the home that they have."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.path.basename(hosts_of.command_of(name).split(b"\0")[0]) in (b"agentdeck", b"git"):
                with open(f"/proc/{name}/environ", "rb") as file:
                    if f"AGENTDECK_HOME={home}".encode() in file.read().split(b"\0"):
                        found.append(int(name))
        except OSError:
            pass
    return found


def kill(home):
    for process in processes_of(home):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def begin(hosts, words):
    return subprocess.Popen(["agentdeck", *words], env=hosts.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_one_whole(hosts, session, conversation, said, trees, before):
    """Never two that can start, always one whole copy, also of the tree."""
    found = move_of.check_invariant(hosts, session, conversation, said)
    whole = [look(tree) == before for tree, state in zip(trees, found) if tree and state not in (None, "arriving")]
    expect(any(whole), f"no whole tree: {found}")


def case_a_move_is_killed_at_any_moment(hosts):
    repository, clone = repositories(hosts)
    put(repository + "/.gitignore", "*.o\n.env\n")
    git(repository, "commit", "-qam", "ignore")
    put(clone + "/.env", "of that machine\n" * 10000)
    with open(hosts.far + "/config.toml", "a", encoding="utf-8") as file:
        file.write('[workspace]\ncopy = [".env"]\n')
    moments, whole_s = random.Random(SEED), 1.0
    for i in range(KILLS):
        session, tree = launch(hosts, repository, f"api{i}")
        work(tree)
        conversation, before = here(hosts, "show", session)["session_id"], look(tree)
        said = move_of.content(move_of.conversation_of(hosts.near, conversation)[0])
        way = ("session", "move", session, "--to", "gpu1", "--path", clone, "--with-tree")
        began = time.monotonic()
        process = begin(hosts, way)
        try:
            process.wait(timeout=moments.uniform(0, whole_s))
        except subprocess.TimeoutExpired:
            for home in ((hosts.near,), (hosts.far,), (hosts.near, hosts.far))[moments.randrange(3)]:
                kill(home)
        process.wait()
        found = states(hosts, session)
        other = tree_there(hosts, session) if found[1] else None
        check_one_whole(hosts, session, conversation, said, [tree, other], before)
        # What was killed may have left a command there that ends in a moment.
        hosts_of.wait_for(lambda way=way: hosts.run(*way).returncode == 0, f"seed {SEED}, kill {i}: it does not continue: {states(hosts, session)}")
        whole_s = max(whole_s, (time.monotonic() - began) / 2)
        expect(states(hosts, session) == ("moved", "arrived"), states(hosts, session))
        expect(look(tree_there(hosts, session)) == look(tree) == before, f"seed {SEED}, kill {i}: the tree is not the same")
        with open(tree_there(hosts, session) + "/.env", encoding="utf-8") as file:
            expect(file.read() == "of that machine\n" * 10000, f"seed {SEED}, kill {i}: a part of .env")


def case_a_link_that_is_lost_during_a_tree_is_no_refusal(hosts):
    repository, clone = repositories(hosts)
    session, tree = launch_there(hosts, clone)
    with open(tree + "/large", "wb") as file:
        file.write(os.urandom(4 << 20))
    before = look(tree)
    words = ("session", "move", "gpu1:api", "--to", "local", "--path", repository, "--with-tree")
    move_of.cut_link(hosts, 1 << 20)
    refused(hosts, move_of.UNREACHABLE, "run this again", *words)
    expect(states(hosts, session) == (None, "leaving"), states(hosts, session))
    hosts.settings("[hosts.gpu1]\n")
    done = hosts.run(*words)
    expect(done.returncode == 0 and states(hosts, session) == ("arrived", "moved"), done)
    expect(look(here(hosts, "show", session)["path"]) == before, "the tree is not the same")


def case_the_disk_there_is_full(hosts):
    repository, _ = repositories(hosts)
    session, tree = launch(hosts, repository)
    before = look(tree)
    hosts.down()
    kept = hosts.path + "/kept"
    os.rename(hosts.far, kept)
    os.mkdir(hosts.far)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "agentdeck-test", hosts.far], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        os.rmdir(hosts.far)
        os.rename(kept, hosts.far)
        raise hosts_of.Skipped("a user who may mount a small disk")
    try:
        shutil.copytree(kept, hosts.far, dirs_exist_ok=True)
        clone = hosts.far + "/clone"
        git(hosts.far, "clone", "--quiet", repository, clone)
        hosts.up()
        words = ("session", "move", "api", "--to", "gpu1", "--path", clone, "--with-tree")
        conversation = here(hosts, "show", "api")["session_id"]
        for large in (tree + "/large", move_of.conversation_of(hosts.near, conversation)[0]):
            with open(large, "ab") as file:
                size = file.tell()
                file.write(os.urandom(6 << 20).hex().encode())
            done = hosts.run(*words)
            expect(done.returncode not in (0, 70) and states(hosts, session) == ("none", None), f"{done} {states(hosts, session)}")
            os.truncate(large, size)
        expect(hosts.run("start", "api").returncode == 0 and hosts.run("session", "stop", "api").returncode == 0, "it does not start")
        os.remove(tree + "/large")
        expect(look(tree) == before, "the tree was changed")
        subprocess.run(["mount", "-o", "remount,size=200m", hosts.far], check=True)
        done = hosts.run(*words)
        expect(done.returncode == 0 and look(tree_there(hosts, session)) == before, done)
    finally:
        hosts.end()
        subprocess.run(["umount", "-l", hosts.far], check=True)


if __name__ == "__main__":
    sys.exit(hosts_of.main(globals()))
