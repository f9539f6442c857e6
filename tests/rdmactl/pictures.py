#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a person sees of "rdmactl status", and who may not change something: taken from a terminal (tmux) of 80 and of 200 columns, and compared with
tests/data/status/.

    pictures.py RDMACTL MOCK-DAEMON            TAP on stdout
    pictures.py RDMACTL MOCK-DAEMON --update   writes the pictures anew (then read the diff)

The texts are the daemon's own (daemon/health/judge-*.c). README.md shows these pictures: that is compared, too.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import fixtures as F
from rig import TOP, Bus, Rig
from tap import Tap

PICTURES = TOP / "tests/data/status"
HEIGHT = {80: 24, 200: 50}
# As it is written down a second sooner and later.
SINCE, LONG = F.AGO_SHORT, F.AGO_LONG


def adapters(now, n):
    return [F.device(now, i, HealthSince=F.us(now, LONG),
                     ports=[F.port(now, NetDevice=f"ibs{i}", HealthSince=F.us(now, LONG))]) for i in range(n)]


def host(now, pid, devices, health, **over):
    since = LONG if health == "ok" else SINCE
    s = F.state(now, pid, devices, HealthState=health, HealthSince=F.us(now, since), **over)
    s["Daemon"].update(LearningPersists=True, ExpectationConfigured=True)
    return s


def fall(now, device, netdev=None):
    """A port whose cable was pulled, and the record of it."""
    remedy = "no signal from the peer: look at the cable and at the switch port"
    device["HealthState"] = "failed"
    device["Ports"][0].update(
        PortState="down", PhysState="polling", HealthState="failed", DownSince=F.us(now, SINCE),
        Reasons=[F.reason(now, "port-down", ago=SINCE, found="down, physical state polling", wanted="active",
                          remedy=remedy)])
    name = f"{device['Name']}/1"
    return F.event(now, SINCE, name, "port-down", "ok", "failed",
                   f"{name}: port down (was active 3d 4h): found down, physical state polling, wanted active; {remedy}")


def healthy(now, pid):
    return host(now, pid, adapters(now, 8), "ok")


def port_down(now, pid):
    devices = adapters(now, 8)
    event = fall(now, devices[3])
    blip = F.event(now, LONG, "mlx5_1/1", "link-blip", "ok", "ok",
                   "mlx5_1/1: the link was down and came back between two readings")
    return host(now, pid, devices, "failed", Events=[blip, event])


def hung(now, pid):
    devices = adapters(now, 8)
    remedy = "driver or firmware hangs: see journalctl -k; a reset or a power cycle may be needed"
    devices[2].update(HealthState="unknown", Reasons=[
        F.reason(now, "device-unresponsive", "unknown", "device", SINCE, "no answer for 12s", "an answer within 5s",
                 remedy)])
    devices[2]["Ports"][0].update(HealthState="unknown", ProbeState="silent", LastProbe=F.us(now, SINCE))
    event = F.event(now, SINCE, "mlx5_2", "device-unresponsive", "ok", "unknown",
                    f"mlx5_2: device unresponsive: found no answer for 12s, wanted an answer within 5s; {remedy}")
    return host(now, pid, devices, "unknown", Events=[event])


def many(now, pid):
    """256 ports: two are down, one is slow, four never had a cable."""
    devices = adapters(now, 256)
    events = [fall(now, devices[n]) for n in (17, 200)]
    devices[42]["HealthState"] = "degraded"
    devices[42]["Ports"][0].update(HealthState="degraded", Width="2X", Rate=200000, Reasons=[
        F.reason(now, "width-degraded", "degraded", ago=LONG, found="200 Gb/s (2X NDR)", wanted="400 Gb/s (4X NDR)",
                 remedy="a lane is bad: reseat or replace the cable, or the transceiver")])
    for n in (252, 253, 254, 255):
        devices[n].update(HealthState="ignored")
        devices[n]["Ports"][0].update(PortState="down", PhysState="polling", HealthState="ignored", Required=False,
                                      IgnoredBecause="not expected: never seen ACTIVE")
    return host(now, pid, devices, "failed", Events=events)


# Who has no right is told by the daemon.
DENIED = (("ack mlx5_3/1 port-down", "polkit does not allow it, or the password was wrong"),
          ("release mlx5_3", "there is nobody to be asked for a password"),
          ("reload", "there is no polkit to allow it to others"))


class Terminal:
    """One of tmux's, that nobody looks at."""

    def __init__(self, directory):
        self.directory, self.n = directory, 0
        self.env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self.env.pop("TMUX", None)

    def tmux(self):
        return ["tmux", "-u", "-f", "/dev/null", "-S", f"{self.directory}/tmux{self.n}"]

    def __call__(self, *args):
        return subprocess.run([*self.tmux(), *args], env=self.env, check=True, capture_output=True, timeout=60).stdout.decode()

    def shoot(self, command, env, width, colours):
        """What is on the screen when the command has ended."""
        self.n += 1  # one that ends would not take another
        words = " ".join(f"{k}='{v}'" for k, v in env.items())
        self("new-session", "-d", "-x", str(width), "-y", str(HEIGHT[width]),
             f"env -u COLUMNS {words} {command}; {' '.join(self.tmux())} wait-for -S taken; sleep 60")
        self("wait-for", "taken")
        picture = self("capture-pane", "-p", *(["-e"] if colours else []))
        self("kill-server")
        return picture.rstrip("\n") + "\n"


def normalise(picture):
    """The process that plays the daemon is young."""
    return re.sub(r", up (\d+\w+ ?)+", ", up 3d 4h", picture)


def compare(tap, name, got, update):
    path = PICTURES / f"{name}.txt"
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(got)
    want = path.read_text() if path.exists() else ""
    tap(got == want, path.name, "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), "golden", "now", lineterm="")))


def test_pictures(tap, rig, bus, terminal, update):
    env = {**rig.env(**bus.env), "PATH": os.environ["PATH"]}
    env.pop("COLUMNS")
    for scene in (healthy, port_down, hung, many):
        rig.put(scene)
        bus.play(str(rig.file))
        for width in HEIGHT:
            got = normalise(terminal.shoot(f"{rig.rdmactl} status --no-pager", env, width, False))
            compare(tap, f"{scene.__name__.replace('_', '-')}-{width}", got, update)
            lines = got.splitlines()
            tap(lines[0].startswith("● RDMA ") and len(lines) < HEIGHT[width] and max(map(len, lines)) <= width,
                "... is on one screen, from its first line on", got)
        # A terminal keeps each colour up to the next change of it.
        seen = terminal.shoot(f"{rig.rdmactl} status --no-pager", env, 80, True)
        wanted = {"healthy": "\x1b[1m\x1b[32m", "hung": "\x1b[1m\x1b[33m"}.get(scene.__name__, "\x1b[1m\x1b[31m")
        tap(seen.startswith(wanted + "●"), f"{scene.__name__}: the verdict in its colour", repr(seen[:40]))


def test_denied(tap, rig, bus, terminal, update):
    env = {**rig.env(**bus.env), "PATH": os.environ["PATH"]}
    env.pop("COLUMNS")
    daemon = (TOP / "daemon/publish/bus-authorize.c").read_text()
    for width in HEIGHT:
        got = ""
        for command, why in DENIED:
            bus.play("-r", f"Only root may do that: {why}")
            tap("Only root may do that%s%s" in daemon and f'"{why}"' in daemon, f"the daemon's own words: {why}")
            got += f"$ rdmactl {command}\n" + terminal.shoot(f"{rig.rdmactl} --no-ask-password {command}", env, width, False)
        compare(tap, f"denied-{width}", got, update)


def test_readme(tap):
    readme = (TOP / "README.md").read_text()
    for path in sorted(PICTURES.glob("*.txt")):
        tap(path.read_text() in readme, f"README.md shows {path.name} as it is")


def main():
    for program in ("tmux", "dbus-daemon"):
        if not shutil.which(program):
            print(f"1..0 # SKIP no {program}")
            return 0
    # It stands for the daemon, whose process rdmactl looks for.
    with open("/proc/self/comm", "w") as f:
        f.write("rdmad")
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(sys.argv[1], directory)
        bus = Bus(rig, sys.argv[2])
        try:
            terminal, update = Terminal(directory), "--update" in sys.argv[3:]
            test_pictures(tap, rig, bus, terminal, update)
            test_denied(tap, rig, bus, terminal, update)
            test_readme(tap)
        finally:
            bus.end()
    return tap.end()


sys.exit(main())
