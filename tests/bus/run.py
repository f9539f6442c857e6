#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py SERVE TIME_OBJECTS MSEC: what people read D-Bus with can read rdmad: busctl, gdbus, python3-dbus; and 256 devices
are listed within MSEC. On a bus of its own, with the policy that is installed. TAP on stdout.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "rdmactl"))
from tap import Tap  # noqa: E402

SERVE, TIME_OBJECTS = (os.path.abspath(x) for x in sys.argv[1:3])
LIMIT = int(sys.argv[3])
SLOW = int(os.environ.get("RDMAD_TEST_SLOW", "1"))
BUS = """<busconfig><type>system</type><listen>unix:path={top}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/>
<allow receive_type="signal"/><allow send_destination="org.freedesktop.DBus"/></policy>
<policy user="{uid}"><allow own="org.rdmad1"/>
<allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/></policy>
<include>{policy}</include></busconfig>"""
PORT = "/org/rdmad1/port/d0p1"
tap = Tap()


def run(*args):
    return subprocess.run(args, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def busctl(*args):
    return run("busctl", f"--address={ADDRESS}", *args)


def gdbus(verb, path, *args):
    return run("gdbus", verb, "--address", ADDRESS, "--dest", "org.rdmad1", "--object-path", path, *args)


class Server:
    """Objects on the bus while it lasts."""

    def __init__(self, n):
        self.process = subprocess.Popen([SERVE, str(n)], env=ENV)

    def __enter__(self):
        wait_for(lambda: busctl("status", "org.rdmad1").returncode == 0, "org.rdmad1 is on the bus")
        return self.process

    def __exit__(self, *args):
        self.process.send_signal(signal.SIGTERM)
        tap(self.process.wait(timeout=30) == 0, "the server ends well")


def wait_for(condition, what):
    for _ in range(100 * SLOW):
        if condition():
            return True
        time.sleep(0.1)
    tap(False, what)
    return False


def test_busctl():
    p = busctl("--list", "tree", "org.rdmad1")
    paths = p.stdout.split()
    tap({f"/org/rdmad1/{x}" for x in ("device/d0", "device/d1", "device/d2", "port/d0p1", "port/d1p1", "port/d2p1")}
        <= set(paths) and "/org/freedesktop/LogControl1" in paths, "busctl tree", p)
    p = busctl("introspect", "org.rdmad1", PORT)
    words = {line.split()[0]: line.split() for line in p.stdout.splitlines()}
    tap(p.returncode == 0 and words[".Rate"][1:4] == ["property", "t", "400000"] and words[".Number"][-1] == "const"
        and words[".Gids"][-1] == "emits-invalidation" and words[".LastProbe"][-1] == "-"
        and words[".PortState"][-1] == "emits-change", "busctl introspect: values and when they change", p.stdout)
    p = busctl("introspect", "org.rdmad1", "/org/rdmad1")
    tap(all(w in p.stdout for w in ("org.freedesktop.DBus.ObjectManager", ".GetManagedObjects", ".HealthChanged",
                                    ".Reload")), "busctl introspect of the manager", p.stdout)
    p = busctl("--json=short", "get-property", "org.rdmad1", PORT, "org.rdmad1.Port", "Gids")
    gids = [{k: v["data"] for k, v in row.items()} for row in json.loads(p.stdout)["data"]]
    tap(len(gids) == 4 and gids[1] == {"Index": 1, "Type": gids[1]["Type"], "Gid": "fe80:0000:0000:0000:0000:0000:0000:0001",
                                       "Address": "fe80::1"}, "busctl --json reads a list, unknown left out", gids)
    p = busctl("--json=short", "call", "org.rdmad1", "/org/rdmad1", "org.rdmad1.Manager", "Describe")
    tap([d["Name"] for d in json.loads(json.loads(p.stdout)["data"][0])["Devices"]] == ["mlx5_0", "mlx5_1", "mlx5_2"],
        "busctl call Describe")


def test_gdbus():
    p = gdbus("introspect", "/org/rdmad1", "--recurse")
    tap(p.returncode == 0 and p.stdout.count("interface org.rdmad1.Port {") == 3
        and "readonly s FirmwareVersion = '28.39.1002';" in p.stdout, "gdbus introspect --recurse", p)
    p = gdbus("call", "/org/rdmad1", "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    tap(p.returncode == 0 and p.stdout.count("'org.rdmad1.Device':") == 3 and "'Rate': <uint64 400000>" in p.stdout,
        "gdbus call GetManagedObjects", p)
    p = gdbus("call", "/org/rdmad1", "--method", "org.rdmad1.Manager.Reload", "1")
    tap(p.returncode == 1 and "org.rdmad1.Error.InvalidArgs" in p.stderr, "gdbus shows our errors", p)


def test_python():
    p = run("/usr/bin/python3", str(here / "client.py"))
    said = p.stdout.splitlines()
    tap(p.returncode == 0 and len(said) == 8 and said[0].startswith("host ") and said[-1].startswith("3 devices in ")
        and "mlx5_0/1 unknown active 400000 Mbit/s fe80:: fe80::1 fe80::2 fe80::3" in said,
        "python3-dbus reads all of it", p)


def messages(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]


def test_monitors(top, server):
    """What a monitor sees of one change: one PropertiesChanged with what changed, one HealthChanged."""
    log = top / "busctl.log", top / "gdbus.log"
    with open(log[0], "w") as a, open(log[1], "w") as b:
        monitors = [subprocess.Popen(["busctl", f"--address={ADDRESS}", "--json=short", "--match",
                                      "type='signal',sender='org.rdmad1'", "monitor"], stdout=a, stderr=b, env=ENV),
                    subprocess.Popen(["gdbus", "monitor", "--address", ADDRESS, "--dest", "org.rdmad1"],
                                     stdout=b, env=ENV)]
    # Both are there once they have heard of something.
    heard = wait_for(lambda: (server.send_signal(signal.SIGUSR1), time.sleep(0.3), len(messages(log[0])) > 0
                              and "HealthChanged" in log[1].read_text())[-1], "monitors hear of changes")
    if heard:
        time.sleep(0.5)
        before = len(messages(log[0])), len(log[1].read_text())
        server.send_signal(signal.SIGUSR1)
        wait_for(lambda: "PropertiesChanged" in log[1].read_text()[before[1]:], "a change is signalled")
        time.sleep(0.5)
        new = messages(log[0])[before[0]:]
        changes = [m["payload"]["data"] for m in new if m.get("member") == "PropertiesChanged"]
        tap(len(new) == 2 and len(changes) == 1 and changes[0][0] == "org.rdmad1.Port"
            and set(changes[0][1]) - {"FlapCount"} == {"DownSince", "HealthState", "PhysState", "PortState"}
            and ("FlapCount" in changes[0][1]) == (changes[0][1]["PortState"]["data"] == "down")
            and changes[0][2] == [],
            "busctl monitor: one PropertiesChanged, with just what changed", json.dumps(new, indent=1))
        health = [m["payload"]["data"] for m in new if m.get("member") == "HealthChanged"]
        tap(len(health) == 1 and health[0][0] == PORT and sorted(health[0][1:3]) == ["failed", "ok"],
            "busctl monitor: one HealthChanged", health)
        text = log[1].read_text()[before[1]:]
        tap(text.count("PropertiesChanged (") == 1 and text.count("HealthChanged (") == 1, "gdbus monitor", text)
    for m in monitors:
        m.kill()
        m.wait()


def test_time():
    p = run(TIME_OBJECTS)
    objects, properties, answered, took = map(int, p.stdout.split())
    print(f"# {objects} objects with {properties} properties: {answered / 1000:.1f} ms, and read {took / 1000:.1f} ms")
    tap(objects == 512 and properties > 512 * 24 and took < LIMIT * 1000 * SLOW,
        f"GetManagedObjects with 256 devices: under {LIMIT} ms, median of five", p)


for tool in ("dbus-daemon", "busctl", "gdbus"):
    if not shutil.which(tool):
        print(f"1..0 # SKIP no {tool}")
        sys.exit(0)
with tempfile.TemporaryDirectory() as directory:
    top = pathlib.Path(directory)
    ADDRESS = f"unix:path={top}/bus"
    ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "DBUS_SYSTEM_BUS_ADDRESS": ADDRESS,
           "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
    (top / "bus.conf").write_text(BUS.format(top=top, uid=os.getuid(), policy=here.parents[1] / "units/org.rdmad1.conf"))
    bus = subprocess.Popen(["dbus-daemon", f"--config-file={top}/bus.conf", "--nofork", "--nopidfile",
                            "--print-address"], stdout=subprocess.PIPE)
    bus.stdout.readline()
    try:
        with Server(3) as server:
            test_busctl()
            test_gdbus()
            test_python()
            test_monitors(top, server)
        with Server(256):
            test_time()
    finally:
        bus.kill()
        bus.wait()
sys.exit(tap.end())
