# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of docs/workspaces.md.  Each function makes a tree and returns what must be found: "safe", or
the kind and a part of the text of a finding.  A finding "safe KIND TEXT" is one that is listed only."""
import hashlib
import os
import shutil
import subprocess

import operations
from trees import git, write

ALL = {}


def case(*kinds):
    def register(function):
        ALL[function.__name__] = (function, kinds or ("clone", "worktree"))
        return function
    return register


def after(step, answer, *kinds):
    def run(world):
        step(world)
        return answer
    ALL[step.__name__] = (run, kinds or ("clone", "worktree"))


@case()
def as_it_was_made(_):
    return "safe"


after(operations.edit, "file  M one")
after(operations.add_untracked, "file ?? new")
after(operations.stage, "file A  staged")
after(operations.stage_and_remove, "file AD gone")
after(operations.assume_unchanged, "file  M two")
after(operations.skip_worktree, "file  M dir/three")
after(operations.lying_settings, "file  M two")
after(operations.ignored_file, "safe ignored ignored")
after(operations.exclude_work, "unknown info/exclude")
after(operations.merge_in_conflict, "state merge")
after(operations.rebase_in_conflict, "state rebase")
after(operations.pick_in_conflict, "state cherry-pick")
after(operations.bisect, "state bisect")
after(operations.merge_on_forge, "safe")
after(operations.push, "safe")
after(operations.new_branch, "branch 1 commit", "clone")
after(operations.fetched_by_the_user, "safe")
after(operations.merged_by_the_user, "safe")
after(operations.forge_a_push, "branch agent: 1 commit", "clone")
after(operations.fetch_from_itself, "branch agent: 1 commit", "clone")
after(operations.forge_a_log, "branch agent: 1 commit", "clone")
after(operations.push_to_what_is_gone, "branch agent: 1 commit", "clone")
after(operations.push_elsewhere, "safe")
after(operations.detach_and_commit, "detached HEAD: 1 commit")
after(operations.tag_a_dropped_commit, "ref refs/tags/light", "clone")
after(operations.annotate, "ref refs/tags/v", "clone")
after(operations.note, "ref refs/notes/commits", "clone")
after(operations.amend, "reflog ")
after(operations.reset, "safe")
after(operations.delete_branch, "reflog ")
after(operations.stash, "stash stash@{0}: WIP", "clone")
after(operations.stash_and_pop, "safe", "worktree")
after(operations.ref_of_the_worktree, "ref refs/worktree/keep")
after(operations.ref_at_the_top, "ref SAVED")
after(operations.reset_and_expired, "ref ORIG_HEAD")
after(operations.rules_below, "file ?? lib1/.gitignore: its rules")
after(operations.nested_pushed_to_what_is_gone, "branch in nested")
after(operations.nested_pushed_into_the_tree, "branch in build/nested")
after(operations.squash_merge, "safe merged agent")
after(operations.submodule_clean, "safe")
after(operations.submodule_with_commit, "branch in sub")
after(operations.submodule_recorded_and_not_pushed, "branch in sub")
after(operations.submodule_with_stash, "stash in sub")
after(operations.submodule_edited, "file in sub")
after(operations.submodule_removal_staged, "file D  sub")
after(operations.submodule_move_staged, "file ")
after(operations.submodule_addition_staged, "file A  sub")
after(operations.submodule_staged_among_changes, "file D  sub")
after(operations.submodule_left_with_commit, "branch in .git/modules/sub")
after(operations.nested, "branch in nested")
after(operations.nested_and_ignored, "branch in build/nested")
after(operations.nested_bare, "safe")


@case("worktree")
def stash_in_a_worktree(world):
    operations.stash(world)
    return "safe kept-stash stash@{0}"


@case()
def branch_that_only_the_tree_has(world):
    world.git("branch", "-q", "--set-upstream-to=origin/main")
    for _ in range(3):
        world.commit()
    return "branch agent: 3 commits not on origin/main"


@case("worktree")
def branch_that_outlives_the_worktree(world):
    world.record["made_branch"] = False
    world.commit()
    return "safe"


@case("worktree")
def amended_on_a_branch_that_stays(world):
    world.record["made_branch"] = False
    operations.amend(world)
    return "safe kept-log 1 commit"


@case("clone")
def renamed_branch(world):
    world.commit()
    world.git("branch", "-m", "other")
    return "branch other: 1 commit"


@case()
def gone_without_a_merge(world):
    world.commit()
    operations.upstream_deleted(world)
    return "branch agent: 1 commit that nothing else has; origin/agent is gone"


@case()
def undone_after_a_squash_merge(world):
    operations.squash_merge(world)
    operations.undo(world)
    return "branch agent: 3 commits"


@case()
def rules_in_no_commit(world):
    world.git("rm", "-q", "--cached", ".gitignore")
    world.git("commit", "-q", "-m", "no rules")
    write(f"{world.tree}/.gitignore", "*\n")
    return "file ?? .gitignore"


@case()
def rules_below_an_ignored_directory(world):
    write(f"{world.tree}/build/.gitignore", "*\n")
    return "safe ignored build"


@case()
def rules_of_a_cache(world):
    write(f"{world.tree}/.cache/.gitignore", "*\n")
    write(f"{world.tree}/.cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# a cache\n")
    write(f"{world.tree}/.cache/data", "made again\n")
    return "safe ignored .cache"


@case("clone")
def hook_of_its_own(world):
    write(f"{world.tree}/.git/hooks/pre-commit", "#!/bin/sh\nmake check\n")
    return "file ?? .git/hooks/pre-commit"


@case("clone")
def hooks_that_are_generated(world):
    write(f"{world.tree}/.git/hooks/pre-push", LFS_HOOK)
    write(f"{world.tree}/.git/hooks/pre-commit.sample", "#!/bin/sh\n")
    write(f"{world.tree}/.git/hooks/commit-msg", "#!/bin/sh\nthe source has it, too\n")
    write(f"{world.source}/.git/hooks/commit-msg", "#!/bin/sh\nthe source has it, too\n")
    return "safe"


@case()
def file_in_the_git_directory(world):
    directory = world.git("rev-parse", "--absolute-git-dir")
    write(f"{directory}/plan.txt", "what to do next\n")
    return "file ?? .git/plan.txt"


@case()
def pipe_that_is_not_ignored(world):
    os.mkfifo(f"{world.tree}/pipe")
    return "file ?? pipe: a pipe"


@case()
def pipe_that_is_ignored(world):
    os.makedirs(f"{world.tree}/build")
    os.mkfifo(f"{world.tree}/build/pipe")
    return "safe ignored build"


@case("clone")
def worktree_outside_of_a_clone(world):
    world.git("worktree", "add", "-q", "--detach", world.path("outside"))
    return "state outside: another worktree"


@case("clone")
def clone_that_borrows(world):
    shutil.rmtree(world.tree)
    git(world.root, "clone", "-q", "--shared", world.source, world.tree)
    return "unknown borrows objects"


@case("clone")
def shallow_clone(world):
    shutil.rmtree(world.tree)
    git(world.root, "clone", "-q", "--depth=1", f"file://{world.source}", world.tree)
    world.commit()
    return "unsafe"


@case()
def lfs_file_with_a_new_date(world):
    content = b"large\n" * 1000
    pointer = (f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(content).hexdigest()}\n"
               f"size {len(content)}\n")
    write(f"{world.tree}/large.bin", pointer)
    world.git("add", "large.bin")
    world.git("commit", "-q", "-m", "large")
    operations.push(world)
    with open(f"{world.tree}/large.bin", "wb") as file:
        file.write(content)
    return "safe"


@case()
def lfs_file_that_changed(world):
    lfs_file_with_a_new_date(world)
    with open(f"{world.tree}/large.bin", "r+b") as file:
        file.write(b"L")
    return "file  M large.bin"


LFS_HOOK = """#!/bin/sh
command -v git-lfs >/dev/null 2>&1 || { printf >&2 "\\n%s\\n\\n" "git-lfs is missing"; exit 2; }
git lfs pre-push "$@"
"""


def store_large_file(world, name="large.bin", directories=None):
    """As git-lfs does: a pointer in a commit, and the content beside git's objects."""
    content = f"large {world.number()}\n" * 500
    digest = hashlib.sha256(content.encode()).hexdigest()
    write(f"{world.tree}/{name}", f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n")
    world.git("add", name)
    world.git("commit", "-q", "-m", f"add {name}")
    write(f"{world.tree}/{name}", content)
    common = os.path.join(world.tree, world.git("rev-parse", "--git-common-dir"))
    for directory in directories or [common]:
        write(f"{directory}/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}", content)


@case("clone")
def lfs_content_of_a_clone(world):
    store_large_file(world)
    git(world.source, "fetch", "-q", world.tree, "agent:brought")
    return f"content 1 file of Git LFS, as large.bin: git fetch does not bring them along: mkdir -p {world.source}/.git/lfs"


@case("worktree")
def lfs_content_of_a_worktree(world):
    store_large_file(world)
    operations.push(world)
    return "safe"


@case("clone")
def lfs_content_that_was_copied(world):
    store_large_file(world)
    git(world.source, "fetch", "-q", world.tree, "agent:brought")
    command = world.verdict()["findings"][0]["detail"].split(": ", 1)[1]
    subprocess.run(["sh", "-c", command], check=True)
    return "safe"


@case()
def lfs_content_of_a_nested_repository(world):
    """Its name is the agent's, and a part of the command that a user is to copy."""
    nested = f"{world.tree}/it's; touch canary;'"
    git(world.root, "init", "-q", nested)
    content = "large\n"
    digest = hashlib.sha256(content.encode()).hexdigest()
    write(f"{nested}/large.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n")
    git(nested, "add", "large.bin")
    git(nested, "commit", "-q", "-m", "large")
    write(f"{nested}/.git/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}", content)
    command = [f for f in world.verdict()["findings"] if f["kind"] == "content"][0]["detail"].split(": ", 1)[1]
    subprocess.run(["sh", "-c", command], check=True, cwd=world.root)
    if os.path.exists(world.path("canary")) or not os.path.exists(f"{world.source}/.git/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}"):
        return "a command that does what it says"
    return "branch in it's"


@case("clone")
def lfs_content_that_the_remote_has(world):
    store_large_file(world, directories=[f"{world.tree}/.git", world.remote])
    operations.push(world)
    return "safe"


def network(world, hook):
    """Its remote is on another machine, so its log is all that says that it was pushed."""
    world.record["remotes"] = [["origin", "https://git.invalid/api"]]
    if hook:
        write(f"{world.tree}/.git/hooks/pre-push", LFS_HOOK)
    store_large_file(world)
    operations.push(world)
    world.git("remote", "set-url", "origin", "https://git.invalid/api")


@case("clone")
def lfs_content_pushed_to_another_machine(world):
    network(world, True)
    return "safe"


@case("clone")
def lfs_content_pushed_without_its_hook(world):
    network(world, False)
    return "content 1 file of Git LFS"


@case("clone")
def lfs_content_pushed_with_other_hooks(world):
    """As husky does: git runs the hooks elsewhere, and git-lfs' own one no more."""
    network(world, True)
    world.git("config", "core.hooksPath", ".husky/_")
    return "content 1 file of Git LFS"


@case("clone")
def lfs_content_that_was_fetched(world):
    """Somebody else has pushed it: the source repository has its pointer, and nothing of it."""
    store_large_file(world)
    operations.push(world)
    world.git("fetch", "-q", "origin")
    world.record = world.run("record", world.record)
    return "safe"


@case()
def source_that_borrows_from_the_tree(world):
    """It has the branch, and none of its objects."""
    world.commit()
    write(f"{world.source}/.git/objects/info/alternates", f"{world.tree}/.git/objects\n")
    if world.kind == "worktree":
        nested = f"{world.tree}/build/nested"
        git(world.root, "clone", "-q", world.source, nested)
        write(f"{world.source}/.git/objects/info/alternates", f"{nested}/.git/objects\n")
    else:
        git(world.source, "fetch", "-q", world.tree, "agent:brought")
    return "unknown borrows its objects"


@case()
def grafts(world):
    """Newer versions of libgit2 obey them: the commit of the source would have ours as its parent."""
    world.git("checkout", "-q", "-b", "new")
    commit = world.commit()
    common = world.git("rev-parse", "--path-format=absolute", "--git-common-dir")
    write(f"{common}/info/grafts", f"{git(world.source, 'rev-parse', 'main')} {commit}\n")
    return "unknown info/grafts"


@case()
def nested_bare_with_a_linked_head(world):
    """As core.preferSymlinkRefs makes it."""
    nested = f"{world.tree}/build/nested.git"
    git(world.root, "init", "-q", "--bare", nested)
    git(world.tree, "push", "-q", nested, "HEAD:main")
    os.unlink(f"{nested}/HEAD")
    os.symlink("refs/heads/main", f"{nested}/HEAD")
    return "unknown in build/nested.git"


@case()
def mounted_directory(world):
    """A bind mount of the same file system, which no device number shows."""
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode != 0:
        return "safe"
    os.makedirs(f"{world.tree}/build/mounted")
    os.makedirs(world.path("precious"))
    write(world.path("program"), f"#!/bin/sh\nexec unshare -Urm sh -c 'mount --bind \"$1\" \"$2\" && exec \"$3\" \"$4\"' - "
          f"'{world.path('precious')}' '{world.tree}/build/mounted' '{world.program}' \"$1\"\n")
    os.chmod(world.path("program"), 0o755)
    world.program = world.path("program")
    return "unknown build/mounted/ is on another file system"


@case("clone")
def annex_content_of_a_clone(world):
    key = "SHA256E-s5--0123.bin"
    write(f"{world.tree}/.git/annex/objects/0a/1b/{key}/{key}", "large")
    return f"content 1 file of git-annex, as {key}: git fetch does not bring them along: mkdir -p {world.source}/.git/annex"


@case("clone")
def annex_content_that_the_source_has(world):
    for directory in (world.tree, world.source):
        write(f"{directory}/.git/annex/objects/0a/1b/KEY/KEY", "large")
    return "safe"


def new_dates(world):
    for directory, below, names in os.walk(world.tree):
        below[:] = [name for name in below if name != ".git"]
        for name in names:
            os.utime(os.path.join(directory, name))


@case()
def files_with_new_dates(world):
    new_dates(world)
    return "safe"


@case()
def staged_file_with_a_new_date(world):
    world.change("two")
    world.git("add", "two")
    new_dates(world)
    return "file M  two"


@case()
def edited_file_among_new_dates(world):
    world.change("two")
    world.git("add", "two")
    world.change("two")
    new_dates(world)
    return "file MM two"


@case()
def changed_mode(world):
    os.chmod(f"{world.tree}/two", 0o755)
    return "file  M two"


@case()
def link_in_place_of_a_file(world):
    os.unlink(f"{world.tree}/two")
    os.symlink("one", f"{world.tree}/two")
    return "file  T two"


@case()
def emptied_file(world):
    write(f"{world.tree}/two", "")
    return "file  M two"


@case()
def promised_file(world):
    write(f"{world.tree}/promised", "")
    world.git("add", "-N", "promised")
    return "file A  promised"


@case()
def sparse_checkout(world):
    world.git("sparse-checkout", "set", "--no-cone", "/one", "/.gitignore")
    return "safe"


@case()
def many_files(world):
    for i in range(60):
        write(f"{world.tree}/new{i}", "x\n")
    return "more file 10"
