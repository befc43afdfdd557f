# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of the Pods, as archives: no registry is asked."""
import glob
import hashlib
import io
import json
import os
import shutil
import tarfile

from tools import PREFIX, TESTS, run

UID = 1000
IMAGE, PAUSE = "localhost/agents:1", "localhost/pause:1"


def add_file(archive, name, data, mode=0o644):
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(data), mode
    archive.addfile(about, io.BytesIO(data))


def image(path, name, layers, **config):
    """An archive as "docker save" makes it, of these layers."""
    config = {"architecture": "amd64", "os": "linux", "config": config, "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]}}
    with tarfile.open(path, "w") as archive:
        add_file(archive, "config.json", json.dumps(config).encode())
        for number, layer in enumerate(layers):
            add_file(archive, f"{number}.tar", layer)
        add_file(archive, "manifest.json", json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": [f"{number}.tar" for number in range(len(layers))]}]).encode())


def layer_of(add):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        add(archive)
    return data.getvalue()


def make_images(work, programs, libraries_of=()):
    def ours(archive):
        archive.add(PREFIX)
        for path in ("/lib/terminfo", "/usr/lib/locale/C.utf8"):
            if os.path.exists(path):
                archive.add(path)
        add_file(archive, "etc/passwd", f"root:x:0:0::/root:/bin/sh\nagent:x:{UID}:{UID}::/home/agent:/bin/sh\n".encode())
        add_file(archive, "etc/group", f"root:x:0:\nagent:x:{UID}:\n".encode())
    own = [path for pattern in ("bin/agentdeck*", "libexec/agentdeck/agentdeck-*") for path in glob.glob(f"{PREFIX}/{pattern}")]
    plain = run(TESTS + "/testbed/testimage", "plain", shutil.which("tmux"), shutil.which("git"), *("+" + path for path in [*own, *libraries_of])).stdout
    image(work + "/agents.tar", IMAGE, [plain, layer_of(ours)], Env=[f"PATH={PREFIX}/bin:/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"])
    image(work + "/pause.tar", PAUSE, [layer_of(lambda archive: archive.add(programs + "/pause/pause", "pause"))], Entrypoint=["/pause"])
