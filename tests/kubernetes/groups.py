# SPDX-License-Identifier: GPL-3.0-or-later
"""The control groups of the node, in each hierarchy of version 1."""
import contextlib
import glob
import os
import time

from tools import read, run, write

ROOT = "/sys/fs/cgroup"


def make_groups(name):
    """The kubelet and runc make theirs below these."""
    for group in glob.glob(ROOT + "/*"):
        if not os.path.exists(group + "/cgroup.procs") or os.path.basename(group) == "unified":
            continue
        os.mkdir(f"{group}/{name}")
        for file in ("cpuset.cpus", "cpuset.mems"):
            with contextlib.suppress(FileNotFoundError):
                write(f"{group}/{name}/{file}", read(f"{group}/{file}"))


def clear_groups(name, depth):
    """Those at that depth and below it, as soon as their processes have ended."""
    for group in glob.glob(f"{ROOT}/*/{name}"):
        for _ in range(100):
            run("find", group, "-mindepth", depth, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+", check=False)
            if not os.path.exists(group) or not run("find", group, "-mindepth", depth, "-type", "d", check=False).stdout:
                break
            time.sleep(0.1)
