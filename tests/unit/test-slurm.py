#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""test-slurm.py - a host that Slurm has made, with tests/helper/fake-slurm in the place of its programs

USAGE
  test-slurm.py [CASE...]   only these; agentdeck and its helpers are found in PATH

The login host is another home of this machine, which a stand-in for ssh enters. A job is its real batch
script, with the real main program.

EXIT STATUS
  0 all passed; 1 some failed; 77 there is no tmux
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 120
USAGE, UNREACHABLE = 64, 69
HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = "[tmux]\nlaunch_in_user_scope = false\nlinger = false\n[supervise]\nauto = false\n"
LOGIN = '[hosts.login1]\nssh = "ann@login1"\n'
SSH = """#!/bin/sh
for word; do
	case $word in -fN | -O) exit 0 ;; esac
	last=$word
done
exec env -i {environment} /bin/sh -c "$last"
"""


class Failed(Exception):
    """What was expected, and what was there."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def wait_for(condition, what):
    until = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        expect(time.monotonic() < until, f"{what}, {DEADLINE_S} s later")
        time.sleep(0.05)
    return value


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Site:
    """This machine, and a login host with a Slurm behind it."""

    def __init__(self, root):
        self.path = tempfile.mkdtemp(dir=root)
        self.near, self.home, self.slurm, self.bin, self.far_bin = (f"{self.path}/{name}" for name in ("near", "home", "slurm", "bin", "far-bin"))
        for name in (self.near, self.home, self.slurm, self.bin, self.far_bin, self.home + "/work"):
            os.mkdir(name, 0o700)
        for name in ("sbatch", "squeue", "srun", "scancel"):
            os.symlink(f"{HERE}/../helper/fake-slurm", f"{self.far_bin}/{name}")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AGENTDECK_", "TMUX", "XDG_", "DBUS_", "SLURM_"))}
        self.environment = {**kept, "PATH": f"{self.bin}:{kept['PATH']}", "AGENTDECK_HOME": self.near}
        self.far = {"PATH": f"{self.far_bin}:{kept['PATH']}", "HOME": self.home, "AGENTDECK_HOME": self.home + "/deck", "FAKE_SLURM": self.slurm, "TMPDIR": root, "SHELL": "/bin/sh", "SBATCH_EXPORT": "ALL", "SBATCH_TIMELIMIT": "5", "SBATCH_OUTPUT": "/dev/null", "SQUEUE_STATES": "SUSPENDED", "USER": "ann"}
        self.far.update({key: value for key, value in kept.items() if key.endswith("SAN_OPTIONS")})
        os.mkdir(self.home + "/deck", 0o700)
        write(self.home + "/deck/config.toml", SETTINGS)
        # What a login makes of it: the job gets that.
        write(self.home + "/.profile", f"export PATH='{self.far['PATH']}'\n")
        # Only a login shell has the programs of Slurm in its PATH.
        words = " ".join(f"'{key}={value}'" for key, value in {**self.far, "PATH": kept["PATH"]}.items())
        write(self.bin + "/ssh", SSH.format(environment=words), 0o755)
        self.settings(LOGIN)

    def settings(self, text):
        write(self.near + "/config.toml", SETTINGS + text)

    def config(self):
        return read(self.near + "/config.toml")

    def set(self, name, text=""):
        write(f"{self.slurm}/{name}", text)

    def unset(self, name):
        os.remove(f"{self.slurm}/{name}")

    def jobs(self):
        return [json.loads(read(f"{self.slurm}/{name}")) for name in sorted(os.listdir(self.slurm)) if name.endswith(".json")]

    def calls(self, program):
        return [call for call in map(json.loads, read(self.slurm + "/calls").splitlines()) if call[0] == program]

    def run(self, *words, **more):
        return subprocess.run(["agentdeck", *words], env=more.pop("env", self.environment), check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)

    def json(self, *words):
        done = self.run(*words, "--json")
        expect(done.returncode == 0, f"{words}: {done}")
        return json.loads(done.stdout)

    def refused(self, status, told, *words, **more):
        done = self.run(*words, **more)
        message = (done.stderr + done.stdout).decode()
        expect(done.returncode == status and told in message, f"{words}: exit {done.returncode} instead of {status}, without '{told}': {message}")
        expect("\033" not in message and "\u202e" not in message, f"an escape sequence: {message!r}")

    def create(self, *words):
        return self.json("-H", "login1", "host", "create", "job", "--slurm", *words)

    def script(self):
        return read(self.home + "/deck/jobs/job/job")

    def answers(self):
        wait_for(lambda: self.run("host", "check", "job").returncode == 0, "the job does not answer")

    def running(self):
        return wait_for(lambda: [one for one in self.json("-H", "job", "list") if one["status"] == "running"], "no session runs")[0]

    def end(self):
        for name in os.listdir(self.slurm):
            if name in ("hang", "late"):
                self.unset(name)
        self.set("full")
        for job in self.jobs():
            if job["state"] == "RUNNING":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(job["pid"], signal.SIGTERM)
                wait_for(lambda pid=job["pid"]: not os.path.exists(f"/proc/{pid}") or "State:\tZ" in read(f"/proc/{pid}/status"), "a job does not end")


# ---- the cases -----------------------------------------------------------------------------------------


def case_a_job_is_a_host(site):
    made = site.create("--partition", "gpu", "--account=ml", "--gpus=a100:2", "--cpus", "4", "--memory=16G", "--time", "1-0")
    expect(made["success"] and made["name"] == "job" and made["job"] == "101" and not made["was_there"], made)
    expect(f'[hosts.job]\nssh = "ann@login1"\nprogram = "{site.home}/deck/jobs/job/enter"\n' in site.config(), site.config())
    expect("timeout = 60\n" in site.config(), site.config())
    for line in ("--partition=gpu", "--account=ml", "--gpus=a100:2", "--cpus-per-task=4", "--mem=16G", "--time=1-0"):
        expect(f"#SBATCH {line}\n" in site.script(), f"no {line}: {site.script()}")
    [call] = site.calls("sbatch")
    expect("--export=NIL" in call and "--dependency=singleton" in call, call)
    holds = json.loads(read(site.slurm + "/options.101"))
    expect((holds["time"], holds["output"], holds["export"]) == ("1-0", "job.log", "NIL"), holds)
    site.answers()
    site.json("-H", "job", "launch", site.home + "/work", "-t", "talk", "-c", "agentdeck-demo-agent", "-m", "remember me")
    one = site.running()
    expect(one["title"] == "talk" and one["via"] == "job", one)
    expect(site.json("host", "list")[1]["name"] == "login1", "host list")
    site.refused(1, "a job of Slurm ends by scancel on its login host", "host", "stop", "job")
    # The next job waits for the end of this one, and resumes the conversation.
    renewed = site.json("host", "create", "job", "--renew")
    expect(renewed["job"] == "102" and not renewed["was_there"], renewed)
    again = site.json("host", "create", "job", "--renew")
    expect(again["job"] == "102" and again["was_there"], again)
    os.kill(site.jobs()[0]["pid"], signal.SIGUSR1)
    wait_for(lambda: site.jobs()[0]["state"] == "COMPLETED" or not site.run("host", "check", "job"), "it does not end")
    site.answers()
    expect(site.running()["session_id"] == one["session_id"], "another conversation")
    expect([job["state"] for job in site.jobs()] == ["COMPLETED", "RUNNING"], site.jobs())


def case_a_word_comes_before_the_time_limit(site):
    """The job of the stand-in has five minutes: a supervisor that begins then tells it at once."""
    site.create()
    site.answers()
    site.json("-H", "job", "launch", site.home + "/work", "-t", "talk", "-c", "agentdeck-demo-agent", "-m", "remember me")
    site.running()
    told = site.path + "/told"
    write(site.home + "/deck/jobs/job/state/config.toml", f'{SETTINGS}[notify]\ncommand = ["tee", "-a", "{told}"]\n')
    wait_for(lambda: os.path.exists(told) and "\n" in read(told), "no word")
    said = json.loads(read(told).splitlines()[0])
    expect(said["occasion"] == "ends" and said["title"] == "talk" and re.fullmatch(r"its host ends at 20\d\d-\d\d-\d\d \d\d:\d\d [+-]\d{4}", said["message"]), said)


def case_a_host_that_does_not_run_says_why(site):
    site.set("full")
    site.create()
    site.refused(UNREACHABLE, "pending since ", "host", "check", "job")
    site.refused(UNREACHABLE, ": Resources", "-H", "job", "list")
    expect(re.fullmatch(r"pending since \d\d:\d\d: Resources", site.json("host", "list")[0]["problem"]), site.json("host", "list"))
    expect(b"Resources" in site.run("list", "-A").stderr, site.run("list", "-A"))
    site.set("gone")
    site.refused(UNREACHABLE, "Unable to contact slurm controller (connect failure); squeue does not answer", "host", "check", "job")
    site.unset("gone")
    [job] = site.jobs()
    site.set("101.json", json.dumps({**job, "state": "RUNNING", "pid": os.getpid()}))
    site.refused(UNREACHABLE, "the job has just started", "host", "check", "job")
    for state, reason, told in (("TIMEOUT", "TimeLimit", "the job has ended (TIMEOUT): agentdeck host create job --renew"), ("SUSPENDED", "None", "suspended (None)"),
                                ("FAILED", "NonZeroExitCode", f"the job has ended (FAILED), see {site.home}/deck/jobs/job/job.log: agentdeck host create job --renew"),
                                ("PENDING", "JobHeldUser", "JobHeldUser, until scontrol release 101"), ("SPECIAL_EXIT", "None", "special_exit (None)"),
                                ("PENDING", "\033[2J\u202eout", "pending since "), ("PENDING", "\033[2J\u202eout", "out")):
        site.set("101.json", json.dumps({**job, "state": state, "reason": reason}))
        site.refused(UNREACHABLE, told, "host", "check", "job")
    # A job that waits counts more than a later one that has ended.
    site.set("102.json", json.dumps({**job, "id": 102, "state": "CANCELLED"}))
    site.refused(UNREACHABLE, "pending since ", "host", "check", "job")
    site.unset("102.json")
    expect(not site.calls("srun"), "a step ran before the batch script")
    site.unset("101.json")
    site.refused(UNREACHABLE, "the job has ended: agentdeck host create job --renew", "host", "check", "job")
    site.settings(LOGIN + f'[hosts.renamed]\nssh = "ann@login1"\nprogram = "{site.home}/deck/jobs/job/enter"\n')
    expect(site.json("host", "create", "renamed", "--renew")["name"] == "renamed", "it has another name now")
    # The words of the job have its first name.
    for words in ((), ("-H", "login1")):
        renewed = site.json(*words, "host", "create", "job", "--renew")
        expect(renewed["name"] == "renamed" and "[hosts.job]" not in site.config(), f"{words}: {renewed}: {site.config()}")
    site.settings(site.config().replace(SETTINGS, "") + f'[hosts.other]\nssh = "ann@login1"\nprogram = "/elsewhere/jobs/job/enter"\n')
    site.refused(1, "other and renamed both have a job of this name: name one of them", "host", "create", "job", "--renew")


def case_a_kill_submits_no_second_job(site):
    site.set("full")
    # The job is there, and its id was never read.
    site.set("hang")
    process = subprocess.Popen(["agentdeck", "host", "create", "job", "--slurm"], env=site.far)
    wait_for(site.jobs, "no job")
    process.kill()
    process.wait()
    site.unset("hang")
    expect(site.create() == {**site.create(), "job": "101", "was_there": True}, "another job")
    expect(len(site.jobs()) == 1 and len(site.calls("sbatch")) == 1, site.jobs())
    # It is on its way, without the command that has called sbatch.
    site.unset("101.json")
    site.set("late")
    process = subprocess.Popen(["agentdeck", "host", "create", "job", "--renew"], env=site.far)
    wait_for(lambda: len(site.calls("sbatch")) == 2, "no sbatch")
    process.kill()
    process.wait()
    later = subprocess.Popen(["agentdeck", "host", "create", "job", "--renew", "--json"], env=site.far, stdout=subprocess.PIPE)
    time.sleep(0.5)
    expect(later.poll() is None and not site.jobs(), f"it did not wait: {site.jobs()}")
    site.unset("late")
    said = json.loads(later.communicate(timeout=DEADLINE_S)[0])
    expect(said["was_there"] and len(site.jobs()) == 1 and len(site.calls("sbatch")) == 2, f"{said}: {site.jobs()}")


def case_a_job_is_found_though_sbatch_has_failed(site):
    site.set("full")
    site.set("lost")
    made = site.create()
    expect(made["job"] == "101" and not made["was_there"] and "hosts.job" in site.config(), made)
    site.unset("101.json")
    expect(site.json("host", "create", "job", "--renew")["job"] == "101", "the next job")
    # An entry of another deck of the same login.
    entry = '[hosts.job]\nssh = "ann@login1"\nprogram = "/elsewhere/jobs/job/enter"\n'
    site.settings(LOGIN + entry)
    site.refused(1, "but config.toml has /elsewhere/jobs/job/enter for job: name the login host of job with -H", "host", "create", "job", "--renew")
    # The entry cannot be written.
    site.unset("101.json")
    site.unset("lost")
    site.settings(LOGIN)
    site.set("late")
    process = subprocess.Popen(["agentdeck", "-H", "login1", "host", "create", "job", "--slurm"], env=site.environment, stderr=subprocess.PIPE)
    wait_for(lambda: len(site.calls("sbatch")) == 3, "no sbatch")
    site.settings("not TOML\n")
    site.unset("late")
    said = process.communicate(timeout=DEADLINE_S)[1].decode()
    expect(process.returncode == 1 and "job 101 is submitted, but its host job is not added" in said, said)
    site.settings(LOGIN)
    expect(site.create()["was_there"] and "hosts.job" in site.config(), "the same command adds it")


def case_what_slurm_refuses_may_be_said_otherwise(site):
    site.set("refuse", "sbatch: error: invalid partition specified: \033[2Jnone\n")
    site.refused(1, "invalid partition specified", "-H", "login1", "host", "create", "job", "--slurm", "--partition=none")
    expect("hosts.job" not in site.config(), site.config())
    # The script stays, for what no option says.
    site.refused(1, f"change {site.home}/deck/jobs/job/job", "-H", "login1", "host", "create", "job", "--slurm", "--partition=none")
    site.unset("refuse")
    write(site.home + "/deck/jobs/job/job", site.script().replace("#SBATCH --partition=none\n", "#SBATCH --partition=gpu\n#SBATCH --qos=high\n"), 0o700)
    site.set("full")
    expect(site.json("-H", "login1", "host", "create", "job", "--renew")["job"] == "101", "the changed script")
    expect(json.loads(read(site.slurm + "/options.101"))["qos"] == "high", "not the changed script")
    # None of its jobs ever ran.
    site.unset("101.json")
    site.create("--account=ann@ml/x")
    expect("#SBATCH --account=ann@ml/x\n" in site.script() and "qos" not in site.script(), site.script())
    site.unset("101.json")
    site.create()
    site.refused(1, "there is another script", "-H", "login1", "host", "create", "job", "--slurm", "--gpus=1")
    # What was changed beside the options stays.
    changed = site.script().replace("export HOME=", "module load x || true\nexport HOME=")
    write(site.home + "/deck/jobs/job/job", changed, 0o700)
    expect(site.create()["was_there"] and site.script() == changed, "the same once more")
    site.settings(LOGIN + '[hosts.job]\nssh = "elsewhere"\n')
    site.refused(1, "which is no job of login1", "-H", "login1", "host", "create", "job", "--slurm")
    site.refused(1, "has no script", "-H", "login1", "host", "create", "other", "--renew")
    site.refused(1, "is not installed here: name the login host", "host", "create", "here", "--slurm", env={**site.environment, "PATH": os.path.dirname(shutil.which("agentdeck"))})


def case_values_are_words_and_no_more(site):
    for words in (("--partition=a b",), ("--gpus=1\n#SBATCH --uid=0",), ("--time=$(id)",), ("--memory='1'",), ("--account=",), ("--cpus=`id`",)):
        site.refused(USAGE, "use letters, digits", "-H", "login1", "host", "create", "job", "--slurm", *words)
    for name in ("../up", "-n", "a b", "local", "a;b", ""):
        site.refused(USAGE, "", "-H", "login1", "host", "create", "--slurm", "--", name)
    site.refused(USAGE, "add one of them", "-H", "login1", "host", "create", "job")
    site.refused(USAGE, "the same script again: change the script, instead of adding --gpus", "-H", "login1", "host", "create", "job", "--renew", "--gpus=1")
    expect(not os.path.exists(site.slurm + "/calls"), "something was run")
    # A home that a shell would read as more than a word.
    home = site.path + "/a 'b' $(touch owned)\"\n#SBATCH --uid=0"
    os.mkdir(home, 0o700)
    os.mkdir(home + "/deck", 0o700)
    os.symlink(site.home + "/deck/config.toml", home + "/deck/config.toml")
    done = site.run("host", "create", "job", "--slurm", "--json", env={**site.far, "HOME": home, "AGENTDECK_HOME": home + "/deck"})
    expect(done.returncode == 0, done)
    wait_for(lambda: os.path.exists(home + "/deck/jobs/job/state/main.json"), "no main program")
    entered = subprocess.run([home + "/deck/jobs/job/enter", "list", "--json"], env=site.far, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
    expect(json.loads(entered.stdout) == [], entered)
    expect(not os.path.exists(home + "/deck/jobs/job/owned"), "a shell read it")


def main():
    if not shutil.which("tmux"):
        print("skip: no tmux")
        return 77
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ad-slurm-") as root:
        for name in sys.argv[1:] or cases:
            site = Site(root)
            try:
                cases[name](site)
                print(f"ok {name}", flush=True)
            except (Failed, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}", flush=True)
            finally:
                site.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
