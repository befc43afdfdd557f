# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes with one node, in namespaces of this machine."""
import json
import os
import signal
import subprocess
import threading

from groups import clear_groups
from image import IMAGE, PAUSE, make_images
from tools import DEADLINE_S, PREFIX, first_child, read, run, wait_for, write

NODE_ADDRESS, PLUGINS = "10.99.0.1", "/usr/lib/cni"
DAEMONS = ("containerd", "kubelet", "apiserver", "manager", "scheduler")
CANARY = "canary-5f2c1e7d"

CONTAINERD = """
version = 2
root = "{work}/containerd"
state = "/run/containerd"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{work}/cni"
"""
KUBELET = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
    "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"},
    "address": NODE_ADDRESS, "cgroupDriver": "cgroupfs", "failCgroupV1": False, "failSwapOn": False, "localStorageCapacityIsolation": False,
    "makeIPTablesUtilChains": False, "resolvConf": "", "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1Mi", "imagefs.available": "1Mi"},
}
NETWORK = {
    "cniVersion": "0.4.0", "name": "pods", "plugins": [
        {"type": "bridge", "bridge": "cni0", "isDefaultGateway": True, "ipMasq": False, "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.98.0.0/24"}]]}},
    ],
}
# What the node's programs write outside of its directory ends with it.
NODE = """set -eu
mount --make-rshared /
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mkdir -p /run/lib/upper /run/lib/work /run/netns
mount -t overlay -o lowerdir=/var/lib,upperdir=/run/lib/upper,workdir=/run/lib/work overlay /var/lib
mkdir -p /var/lib/cni /var/lib/kubelet
mount --bind "$1/kubelet" /var/lib/kubelet
: >/run/ready
while sleep 1; do :; done
"""


class Cluster:
    def __init__(self, work, programs, options):
        self.work, self.programs, self.options = work, programs, options
        self.daemons, self.node, self.keeping = {}, None, threading.Lock()
        self.environment = {"PATH": f"{PREFIX}/bin:{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": work + "/near", "KUBECONFIG": work + "/kubeconfig",
                            "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SECRET_KEY": "secret-" + CANARY}

    def start(self, name, *words):
        with open(f"{self.work}/{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def said(self, name):
        return read(f"{self.work}/{name}.out")[-3000:]

    def set_up(self):
        for name in ("near", "etcd", "certs", "kubelet", "containerd", "cni", "volumes"):
            os.mkdir(f"{self.work}/{name}")
        run("ip", "link", "set", "lo", "up")
        run("ip", "addr", "add", NODE_ADDRESS + "/32", "dev", "lo")
        run("ip", "route", "add", "default", "dev", "lo")
        run("openssl", "genrsa", "-out", self.work + "/key", "2048")
        write(self.work + "/tokens", "labtoken,admin,1,system:masters\n")
        write(self.work + "/kubelet.yaml", json.dumps({**KUBELET, "cgroupRoot": "/" + os.path.basename(self.work), "volumePluginDir": self.work + "/plugins"}))
        write(self.work + "/containerd.toml", CONTAINERD.format(work=self.work, pause=PAUSE, plugins=PLUGINS))
        write(self.work + "/cni/pods.conflist", json.dumps(NETWORK))
        write(self.work + "/kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab", "users": [{"name": "admin", "user": {"token": "labtoken"}}],
            "clusters": [{"name": "lab", "cluster": {"server": "https://127.0.0.1:6443", "insecure-skip-tls-verify": True}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin", "namespace": "default"}}]}))
        make_images(self.work, self.programs, [self.options.claude] if self.options.claude else [])
        self.start_etcd()
        self.start_node()
        self.start_apiserver()
        self.start_manager()
        self.start_scheduler()
        self.await_node()

    def start_etcd(self):
        client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
        self.start("etcd", "etcd", "--data-dir", self.work + "/etcd", "--unsafe-no-fsync", "--listen-client-urls", client, "--advertise-client-urls", client,
                   "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer)

    def start_apiserver(self):
        key = self.work + "/key"
        self.start("apiserver", "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--bind-address=127.0.0.1", "--advertise-address=" + NODE_ADDRESS,
                   "--authorization-mode=AlwaysAllow", f"--token-auth-file={self.work}/tokens", f"--cert-dir={self.work}/certs", "--service-account-issuer=https://lab",
                   "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.97.0.0/24", "--allow-privileged",
                   "--disable-admission-plugins=ServiceAccount", "--kubelet-preferred-address-types=InternalIP")
        wait_for(lambda: self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0, lambda: "no apiserver: " + self.said("apiserver"))

    def start_manager(self):
        self.start("manager", "kube-controller-manager", f"--kubeconfig={self.work}/kubeconfig", "--leader-elect=false", f"--cert-dir={self.work}/certs")

    def start_scheduler(self):
        self.start("scheduler", "kube-scheduler", f"--kubeconfig={self.work}/kubeconfig", "--leader-elect=false")

    def start_node(self):
        """As it boots: containerd, the images, the kubelet."""
        self.start("node", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", NODE, "sh", self.work)
        self.node = wait_for(lambda: first_child(self.daemons["node"].pid), "no node")
        wait_for(lambda: os.path.exists(f"/proc/{self.node}/root/run/ready"), lambda: "no node: " + self.said("node"))
        self.start_containerd()
        for name in ("agents", "pause"):
            self.in_node("ctr", "-n", "k8s.io", "images", "import", f"{self.work}/{name}.tar")
        self.start_kubelet()

    def in_node(self, *words, check=True):
        return run(*self.entering(), *words, check=check, env=self.environment)

    def entering(self):
        return ("nsenter", "-t", str(self.node), "-m", "-p", "--")

    def start_containerd(self):
        self.start("containerd", *self.entering(), "containerd", "--config", self.work + "/containerd.toml")
        wait_for(lambda: self.in_node("ctr", "version", check=False).returncode == 0, lambda: "no containerd: " + self.said("containerd"))

    def start_kubelet(self):
        self.start("kubelet", *self.entering(), "kubelet", f"--config={self.work}/kubelet.yaml", f"--kubeconfig={self.work}/kubeconfig",
                   "--hostname-override=node1", "--node-ip=" + NODE_ADDRESS, f"--cert-dir={self.work}/certs")

    def await_node(self):
        wait_for(lambda: self.kubectl("get", "node", "node1", "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}', check=False).stdout == b"True",
                 lambda: "the node does not become ready: " + self.said("kubelet"))

    def kubectl(self, *words, check=True, **more):
        return run("kubectl", *words, check=check, env=self.environment, **more)

    def again(self, name):
        {"containerd": self.start_containerd, "kubelet": self.start_kubelet, "apiserver": self.start_apiserver, "manager": self.start_manager, "scheduler": self.start_scheduler}[name]()

    def keep(self):
        """As an init system does: a kubelet that finds no containerd ends."""
        with self.keeping:
            for name in DAEMONS:
                if self.daemons[name].poll() is not None:
                    self.again(name)

    def kill(self, name):
        """kill -9 of this daemon itself, not of what entered the node for it."""
        process = self.daemons[name]
        os.kill(first_child(process.pid) if name in ("kubelet", "containerd") else process.pid, signal.SIGKILL)
        process.wait(DEADLINE_S)

    def cut_power(self):
        os.kill(self.node, signal.SIGKILL)
        for name in ("node", "kubelet", "containerd"):
            self.daemons[name].wait(DEADLINE_S)
        # A machine that boots has none, either.
        clear_groups(os.path.basename(self.work), "1")
