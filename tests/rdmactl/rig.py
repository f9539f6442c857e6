# SPDX-License-Identifier: MIT
"""What the tests of rdmactl run it with: state files, a bus of its own, and what may be on a screen."""
import json
import os
import pathlib
import pty
import re
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
GOLDEN = HERE / "golden"


class Rig:
    """One rdmactl, one directory for state files."""

    def __init__(self, rdmactl, directory):
        self.rdmactl = os.path.abspath(rdmactl)
        self.directory = pathlib.Path(directory)
        self.file = self.directory / "state.json"

    def put(self, fixture):
        content = fixture(time.time(), os.getpid())
        self.file.unlink(missing_ok=True)
        if content is None:
            return
        if not isinstance(content, bytes):
            content = json.dumps(content, ensure_ascii=False).encode()
        self.file.write_bytes(content)

    def env(self, **more):
        return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "80", "TERM": "xterm",
                "RDMAD_BUS": "no", # Relative: what is printed must not depend on how long TMPDIR is.
                "RDMAD_STATE_FILE": self.file.name, **more}

    def run(self, *args, **env):
        # Sanitizers report by this exit status, which is none of rdmactl's.
        e = self.env(ASAN_OPTIONS="exitcode=99", UBSAN_OPTIONS="halt_on_error=1", **env)
        return subprocess.run([self.rdmactl, *args], env=e, stdin=subprocess.DEVNULL,
                              cwd=self.directory, capture_output=True, timeout=60)

    def run_on_terminal(self, *args, **env):
        """What a person's terminal would receive."""
        pid, fd = pty.fork()
        if pid == 0:
            e = self.env(**env)
            os.chdir(self.directory)
            os.execve(self.rdmactl, [self.rdmactl, *args], e)
        out = b""
        while True:
            try:
                data = os.read(fd, 65536)
            except OSError:
                break
            if not data:
                break
            out += data
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out

    def normalise(self, data):
        """What differs from run to run: who wrote the file and how long that runs, times."""
        text = data.decode()
        text = re.sub(rf"\bPid={os.getpid()}\b", "Pid=PID", text)
        text = re.sub(r", up (\d+\w+ ?)+", ", up UPTIME", text)
        return re.sub(r"=\d{16}\b", "=TIME", text)


class Bus:
    """A bus that is nobody else's, and a daemon on it that does as it is told."""

    CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>system</type><listen>unix:path={path}</listen>
        <policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""

    def __init__(self, rig, mock):
        self.rig, self.mock, self.daemon = rig, os.path.abspath(mock), None
        path = rig.directory / "private-bus"
        config = rig.directory / "bus.conf"
        config.write_text(self.CONFIG.format(path=path))
        self.env = {"RDMAD_BUS": "yes", "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={path}"}
        self.path = path
        self.start()

    def start(self):
        self.bus = subprocess.Popen(["dbus-daemon", f"--config-file={self.rig.directory}/bus.conf",
                                     "--print-address", "--nofork"], stdout=subprocess.PIPE)
        self.bus.stdout.readline()

    def play(self, *how):
        self.stop()
        self.daemon = subprocess.Popen([self.mock, *how], env={**os.environ, **self.env},
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.daemon.stdout.readline()

    def stop(self):
        if self.daemon:
            self.daemon.kill()
            self.daemon.wait()
            self.daemon.stdin.close()
            self.daemon = None

    def signal(self, **fields):
        """Has the daemon read its file again, and send a signal: HealthChanged, or Event with fields."""
        self.daemon.stdin.write("\t".join(f"{k}={v}" for k, v in fields.items()).encode() + b"\n")
        self.daemon.stdin.flush()

    def run(self, *args, **env):
        return self.rig.run(*args, **self.env, **env)

    def kill(self):
        self.bus.kill()
        self.bus.wait()
        self.path.unlink(missing_ok=True)

    def end(self):
        self.stop()
        self.kill()


def harmless(data, terminal=False):
    allowed = "\n\r\x1b" if terminal else "\n"
    text = data.decode("utf-8", "strict")
    bad = [c for c in text if c not in allowed and
           (ord(c) < 32 or 0x7f <= ord(c) <= 0x9f or 0x200b <= ord(c) <= 0x200f or
            0x2028 <= ord(c) <= 0x202e or 0x2060 <= ord(c) <= 0x206f)]
    return not bad
