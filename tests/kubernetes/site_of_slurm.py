# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Slurm with its login host (tests/slurm), as a user of this machine sees it: two hosts."""
import importlib.machinery
import importlib.util
import os

from tools import PREFIX, TESTS, Failed, run, wait_for, write

LOGIN_PORT = "2200"
# srun passes on the bytes of the link as they come, and makes a terminal where there is one.
IN_JOB = """#!/bin/sh
export {variables}
[ ! -t 0 ] || pty=--pty
exec srun --jobid "$(cat ~/job-id)" --overlap --unbuffered $pty agentdeck "$@"
"""
JOB = """#!/bin/sh
export {variables}
exec agentdeck supervise --main --incarnation "$SLURM_JOB_ID"
"""
SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {work}/host-key
AuthorizedKeysFile {work}/key.pub
StrictModes no
PidFile none
SetEnv {variables}
"""
SSH = """
Host *
  Port {port}
  User {user}
  IdentityFile {work}/key
  StrictHostKeyChecking accept-new
  UserKnownHostsFile {work}/known
"""
LOGIN = """set -eu
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd "/run/user/$2"
chown "$2" "/run/user/$2"
exec /usr/sbin/sshd -D -e -f "$1/sshd_config"
"""


def load():
    loader = importlib.machinery.SourceFileLoader("slurm", TESTS + "/slurm")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("slurm", loader))
    loader.exec_module(module)
    module.Failed = Failed
    return module


slurm = load()


def words(variables):
    return " ".join(f"{name}={value}" for name, value in variables.items())


class Site:
    """The login host and a job: hosts of config.toml on this machine."""

    def __init__(self, journey):
        # Its name is that of its control groups, too.
        self.work = f"{journey.cluster.work}/{os.path.basename(journey.cluster.work)}-slurm"
        os.mkdir(self.work, 0o755)
        self.cluster = slurm.Cluster(self.work)
        self.cluster.set_up()
        self.job = slurm.Host(self.cluster, "job")
        self.common = {"PATH": f"{self.work}/bin:{PREFIX}/bin:/usr/bin:/bin"}
        os.mkdir(self.work + "/bin", 0o755)
        os.symlink(journey.claude, self.work + "/bin/claude")
        write(self.cluster.home + "/.claude.json", journey.settings(self.job.work))
        self.make_job(journey)
        self.make_login(journey)
        run("chown", "-R", f"{slurm.UID}:{slurm.UID}", self.cluster.home)
        write(self.cluster.home + "/job-id", self.job.submit().job)
        self.job.await_main(self.job.job)
        host = journey.host
        wait_for(lambda: host.try_deck("host", "add", "login", "127.0.0.1").returncode == 0, lambda: f"no login: {host.try_deck('host', 'check', 'login')} {self.cluster.said('sshd')}")
        host.deck("host", "add", "job", "127.0.0.1", "--program", "~/in-job")
        # Both have one home, where the conversation is already: it is the same one only in one directory.
        self.places = [("login", self.job.work), ("job", self.job.work)]

    def make_job(self, journey):
        variables = words({**self.common, "HOME": self.cluster.home, "AGENTDECK_HOME": self.job.state, "SLURM_CONF": self.work + "/slurm.conf", **journey.variables_at(slurm.CONTROLLER)})
        slurm.write(self.cluster.home + "/in-job", IN_JOB.format(variables=variables), 0o755)
        slurm.write(self.work + "/job.sh", JOB.format(variables=variables))

    def make_login(self, journey):
        variables = words({**self.common, "TMPDIR": f"/run/user/{slurm.UID}", **journey.variables})
        for key in ("key", "host-key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.work}/{key}")
        write(self.work + "/sshd_config", SSHD.format(port=LOGIN_PORT, work=self.work, variables=variables))
        write(self.work + "/ssh_config", SSH.format(port=LOGIN_PORT, work=self.work, user=slurm.USER))
        slurm.write(journey.home + "/bin/ssh", f'#!/bin/sh\nexec /usr/bin/ssh -F {self.work}/ssh_config "$@"\n', 0o755)
        self.cluster.start("sshd", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", LOGIN, "sh", self.work, str(slurm.UID))

    def end(self):
        for daemon in self.cluster.daemons.values():
            daemon.kill()
