# SPDX-License-Identifier: GPL-3.0-or-later
"""What agents do to a tree.  Each function is one step, takes a World, and may find that it cannot."""
import os
import shutil

from trees import ENVIRONMENT, git, write

ALL = []


def operation(function):
    ALL.append(function)
    return function


@operation
def edit(world):
    world.change()


@operation
def add_untracked(world):
    write(f"{world.tree}/new{world.number()}", f"new {world.random.random()}\n")


@operation
def stage(world):
    write(f"{world.tree}/staged{world.number()}", f"staged {world.random.random()}\n")
    world.git("add", "-A")


@operation
def stage_and_remove(world):
    name = f"gone{world.number()}"
    write(f"{world.tree}/{name}", f"only in the index {world.random.random()}\n")
    world.git("add", name)
    os.unlink(f"{world.tree}/{name}")


@operation
def commit(world):
    world.commit()


@operation
def commit_twice(world):
    world.commit()
    world.commit()


@operation
def amend(world):
    world.commit()
    world.change("two")
    world.git("commit", "-q", "-a", "--amend", "-m", f"amended {world.number()}")


@operation
def reset(world):
    world.git("reset", "-q", "--hard", "HEAD~1")


@operation
def undo(world):
    world.commit()
    world.git("revert", "--no-edit", "HEAD")


@operation
def stash(world):
    world.change()
    world.git("stash", "-q")


@operation
def stash_untracked(world):
    write(f"{world.tree}/stashed{world.number()}", f"stashed {world.random.random()}\n")
    world.git("stash", "-q", "-u")


@operation
def stash_and_pop(world):
    world.change("two")
    world.git("stash", "-q")
    world.git("stash", "pop", "-q")
    world.git("checkout", "-q", "two")


@operation
def stash_two_and_drop(world):
    for name in ("one", "two"):
        world.change(name)
        world.git("stash", "-q")
    world.git("stash", "drop", "-q", "stash@{1}")


@operation
def new_branch(world):
    world.git("checkout", "-q", "-b", f"topic{world.number()}")
    world.commit()


@operation
def rename_branch(world):
    if world.branch():
        world.git("branch", "-m", f"renamed{world.number()}")


@operation
def rename_pushed_branch(world):
    name = world.branch()
    if name and name != "main":
        world.git("push", "-q", "-f", "-u", "origin", name)
        world.git("branch", "-m", f"renamed{world.number()}")
        world.commit()


@operation
def orphan_branch(world):
    world.git("checkout", "-q", "--orphan", f"orphan{world.number()}")
    world.git("commit", "-q", "--allow-empty", "-m", f"root {world.count}")


@operation
def delete_branch(world):
    name = f"deleted{world.number()}"
    start = world.branch() or world.git("rev-parse", "HEAD")
    world.git("checkout", "-q", "-b", name)
    world.commit()
    world.git("checkout", "-q", start)
    world.git("branch", "-q", "-D", name)


@operation
def detach(world):
    world.git("checkout", "-q", "--detach")


@operation
def detach_and_commit(world):
    world.git("checkout", "-q", "--detach")
    world.commit()


@operation
def push(world):
    name = world.branch()
    if name:
        world.git("push", "-q", "-f", "-u", "origin", name)


@operation
def push_detached(world):
    world.git("push", "-q", "origin", f"HEAD:refs/heads/pushed{world.number()}")
    world.git("fetch", "-q", "origin")


@operation
def upstream_deleted(world):
    name = world.branch()
    if name and name != "main":
        world.git("push", "-q", "-f", "-u", "origin", name)
        git(world.remote, "update-ref", "-d", f"refs/heads/{name}")
        world.git("fetch", "-q", "-p", "origin")


@operation
def upstream_rewound(world):
    """Somebody else has pushed an earlier commit with force."""
    name = world.branch()
    if name and name != "main":
        world.commit()
        world.git("push", "-q", "-f", "-u", "origin", name)
        git(world.remote, "update-ref", f"refs/heads/{name}", world.git("rev-parse", "HEAD~1"))
        world.git("fetch", "-q", "origin")


@operation
def squash_merge(world):
    """On the forge, by somebody else, who deletes the branch."""
    name = world.branch()
    if not name or name == "main":
        return
    world.commit()
    world.git("push", "-q", "-f", "-u", "origin", name)
    tip = world.git("rev-parse", "HEAD")
    third = world.path(f"third{world.number()}")
    git(world.root, "clone", "-q", world.remote, third)
    git(third, "merge", "-q", "--squash", f"origin/{name}")
    git(third, "commit", "-q", "--allow-empty", "-m", f"squashed {world.count}")
    git(third, "push", "-q", "origin", "main")
    shutil.rmtree(third)
    git(world.remote, "update-ref", "-d", f"refs/heads/{name}")
    world.git("fetch", "-q", "-p", "origin")
    world.squashed.append(tip)


@operation
def merge_on_forge(world):
    world.commit()
    world.git("push", "-q", "origin", f"HEAD:refs/heads/merged{world.number()}")
    world.git("fetch", "-q", "origin")


@operation
def forge_a_push(world):
    world.commit()
    world.git("update-ref", f"refs/remotes/origin/forged{world.number()}", "HEAD")


@operation
def fetch_from_itself(world):
    world.commit()
    world.git("fetch", "-q", ".", f"HEAD:refs/remotes/origin/mine{world.number()}")


@operation
def forge_a_log(world):
    world.commit()
    world.git("update-ref", "--create-reflog", "-m", "fetch origin: storing head",
              f"refs/remotes/origin/logged{world.number()}", "HEAD")


@operation
def push_to_what_is_gone(world):
    """By a rule that sends pushes elsewhere."""
    other = world.path(f"gone{world.number()}.git")
    git(world.root, "init", "-q", "--bare", other)
    world.commit()
    world.git("-c", f"url.{other}.pushInsteadOf={world.remote}", "push", "-q", "origin", f"HEAD:refs/heads/there{world.count}")
    shutil.rmtree(other)


@operation
def push_elsewhere(world):
    other = world.path(f"other{world.number()}.git")
    git(world.root, "init", "-q", "--bare", other)
    name = f"fork{world.count}"
    world.git("remote", "add", name, other)
    world.git("push", "-q", name, "HEAD:refs/heads/work")


@operation
def fetched_by_the_user(world):
    world.commit()
    git(world.source, "fetch", "-q", world.tree, f"HEAD:refs/heads/brought{world.number()}")


@operation
def merged_by_the_user(world):
    world.commit()
    if git(world.source, "status", "--porcelain", "-uno"):
        return
    git(world.source, "fetch", "-q", world.tree, "HEAD")
    git(world.source, "merge", "-q", "--no-edit", "FETCH_HEAD", check=False)
    if git(world.source, "status", "--porcelain", "-uno"):
        git(world.source, "merge", "--abort", check=False)


@operation
def source_goes_on(world):
    world.commit(world.source)


@operation
def tag_a_dropped_commit(world):
    world.commit()
    world.git("tag", f"light{world.number()}")
    world.git("reset", "-q", "--hard", "HEAD~1")


@operation
def annotate(world):
    world.git("tag", "-a", f"v{world.number()}", "-m", f"release {world.random.random()}")


@operation
def note(world):
    world.git("notes", "add", "-f", "-m", f"note {world.random.random()}")


@operation
def ref_of_the_worktree(world):
    world.commit()
    world.git("update-ref", f"refs/worktree/keep{world.number()}", "HEAD")
    world.git("reset", "-q", "--hard", "HEAD~1")


def hidden_commit(world):
    """A commit that no branch and no log has."""
    write(f"{world.tree}/hidden", f"hidden {world.number()} {world.random.random()}\n")
    world.git("add", "-f", "hidden")
    commit_id = world.git("commit-tree", "-p", "HEAD", "-m", f"hidden {world.count}", world.git("write-tree"))
    world.git("rm", "-q", "-f", "hidden")
    return commit_id


@operation
def ref_at_the_top(world):
    world.git("update-ref", "SAVED_" + "X" * world.number() + "_HEAD", hidden_commit(world))


@operation
def reset_and_expired(world):
    world.commit()
    world.git("reset", "-q", "--hard", "HEAD~1")
    world.git("reflog", "expire", "--expire=now", "--all")


@operation
def rules_below(world):
    directory = f"{world.tree}/lib{world.number()}"
    write(f"{directory}/.gitignore", "*\n")
    write(f"{directory}/work", f"work {world.random.random()}\n")
    world.hides = getattr(world, "hides", []) + [f"lib{world.count}/work"]


@operation
def nested_pushed_to_what_is_gone(world):
    path, remote = f"{world.tree}/nested{world.number()}", world.path(f"gone{world.count}.git")
    git(world.root, "init", "-q", "--bare", remote)
    git(world.root, "clone", "-q", remote, path)
    world.commit(path)
    git(path, "push", "-q", "origin", "HEAD")
    shutil.rmtree(remote)


@operation
def nested_pushed_into_the_tree(world):
    path, remote = f"{world.tree}/build/nested{world.number()}", f"{world.tree}/build/remote{world.count}.git"
    git(world.root, "init", "-q", "--bare", remote)
    git(world.root, "clone", "-q", remote, path)
    world.commit(path)
    git(path, "push", "-q", "origin", "HEAD")


@operation
def nested(world):
    path = f"{world.tree}/nested{world.number()}"
    git(world.root, "init", "-q", path)
    world.commit(path)


@operation
def nested_and_ignored(world):
    path = f"{world.tree}/build/nested{world.number()}"
    git(world.root, "init", "-q", path)
    world.commit(path)


@operation
def nested_bare(world):
    path = f"{world.tree}/build/bare{world.number()}.git"
    git(world.root, "clone", "-q", "--bare", world.tree, path)


@operation
def nested_worktree(world):
    path = f"{world.tree}/build/worktree{world.number()}"
    world.git("worktree", "add", "-q", "--detach", path)
    if world.random.random() < 0.5:
        world.commit(path)


@operation
def ignored_file(world):
    write(f"{world.tree}/ignored{world.number()}.o", "made again\n")


def hide(world, flag, name):
    world.git("update-index", flag, name)
    world.change(name)
    world.hides = getattr(world, "hides", []) + [name]


@operation
def assume_unchanged(world):
    hide(world, "--assume-unchanged", "two")


@operation
def skip_worktree(world):
    hide(world, "--skip-worktree", "dir/three")


@operation
def exclude_work(world):
    name = f"excluded{world.number()}"
    common = os.path.join(world.tree, world.git("rev-parse", "--git-common-dir"))
    os.makedirs(f"{common}/info", exist_ok=True)
    with open(f"{common}/info/exclude", "a", encoding="utf-8") as file:
        file.write(f"{name}\n")
    write(f"{world.tree}/{name}", f"work {world.random.random()}\n")
    world.hides = getattr(world, "hides", []) + [name]


def conflict(world):
    """Two commits that change the same line: the branch is at one, the return value is the other."""
    world.git("stash", "-q", "-u", check=False)
    base = world.git("rev-parse", "HEAD")
    write(f"{world.tree}/one", f"other {world.number()}\n")
    world.git("commit", "-q", "-a", "-m", "other")
    other = world.git("rev-parse", "HEAD")
    world.git("reset", "-q", "--hard", base)
    write(f"{world.tree}/one", f"mine {world.number()}\n")
    world.git("commit", "-q", "-a", "-m", "mine")
    return other


@operation
def merge_in_conflict(world):
    world.git("merge", conflict(world), check=False)


@operation
def rebase_in_conflict(world):
    world.git("rebase", conflict(world), check=False)


@operation
def rebase_with_work_put_aside(world):
    other = conflict(world)
    world.change("two")
    world.git("rebase", "--autostash", other, check=False)


@operation
def rebase_stopped_to_edit(world):
    world.commit()
    world.commit()
    world.git("rebase", "-q", "-i", "HEAD~2", check=False, env=dict(ENVIRONMENT, GIT_SEQUENCE_EDITOR="sed -i s/^pick/edit/"))
    if world.random.random() < 0.5:
        world.commit()


@operation
def revert_in_conflict(world):
    world.change()
    world.git("commit", "-q", "-a", "-m", "to revert")
    reverted = world.git("rev-parse", "HEAD")
    write(f"{world.tree}/one", f"after it {world.number()}\n")
    world.git("commit", "-q", "-a", "-m", "after it")
    world.git("revert", "--no-edit", reverted, check=False)


@operation
def pick_in_conflict(world):
    world.git("cherry-pick", conflict(world), check=False)


@operation
def merge_without_commit(world):
    world.git("merge", "-s", "ours", "--no-commit", "--no-ff", "main", check=False)


@operation
def bisect(world):
    world.git("bisect", "start", check=False)


@operation
def rebased(world):
    world.commit()
    world.git("fetch", "-q", "origin")
    world.git("rebase", "-q", "origin/main", check=False)
    world.git("rebase", "--abort", check=False)


def submodule(world):
    """With its own remote; pushed with the tree's branch."""
    name = f"sub{world.number()}"
    remote = world.path(f"other{world.count}.git")
    seed = world.path(f"seed{world.count}")
    git(world.root, "init", "-q", "--bare", remote)
    git(world.root, "clone", "-q", remote, seed)
    world.commit(seed, "first")
    git(seed, "push", "-q", "origin", "main")
    shutil.rmtree(seed)
    world.git("submodule", "--quiet", "add", remote, name)
    world.git("commit", "-q", "-m", f"add {name}")
    world.git("push", "-q", "origin", f"HEAD:refs/heads/with-{name}")
    world.git("fetch", "-q", "origin")
    return name


@operation
def submodule_clean(world):
    submodule(world)


@operation
def submodule_with_commit(world):
    name = submodule(world)
    world.commit(f"{world.tree}/{name}")


@operation
def submodule_recorded_and_not_pushed(world):
    name = submodule(world)
    world.commit(f"{world.tree}/{name}")
    world.git("commit", "-q", "-a", "-m", "newer submodule")
    world.git("push", "-q", "origin", f"HEAD:refs/heads/newer-{name}")
    world.git("fetch", "-q", "origin")


@operation
def submodule_with_stash(world):
    name = submodule(world)
    world.change("first", f"{world.tree}/{name}")
    git(f"{world.tree}/{name}", "stash", "-q")


@operation
def submodule_edited(world):
    name = submodule(world)
    world.change("first", f"{world.tree}/{name}")


@operation
def submodule_left_with_commit(world):
    name = submodule(world)
    world.commit(f"{world.tree}/{name}")
    world.git("submodule", "--quiet", "deinit", "-f", name)


@operation
def submodule_removed_with_commit(world):
    name = submodule(world)
    world.commit(f"{world.tree}/{name}")
    world.git("rm", "-q", "-f", name)
    world.git("commit", "-q", "-m", f"without {name}")


@operation
def submodule_removal_staged(world):
    world.git("rm", "-q", submodule(world))


@operation
def submodule_move_staged(world):
    name = submodule(world)
    world.git("mv", name, f"moved-{name}")


@operation
def submodule_addition_staged(world):
    name = submodule(world)
    world.git("reset", "-q", "--soft", "HEAD~1")
    world.git("submodule", "absorbgitdirs", name)


@operation
def submodule_staged_among_changes(world):
    world.git("update-index", "--force-remove", submodule(world))
    os.utime(f"{world.tree}/two")


@operation
def lying_settings(world):
    world.git("config", "core.trustctime", "false")
    path = f"{world.tree}/two"
    status = os.stat(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    write(path, text[:-2] + "x\n" if not text.endswith("x\n") else text[:-2] + "y\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    world.hides = getattr(world, "hides", []) + ["two"]


@operation
def clean_up(world):
    world.git("reset", "-q", "--hard", check=False)
    world.git("clean", "-q", "-f", "-d", check=False)
