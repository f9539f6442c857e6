#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs about setup: plan, apply.

    setup.py RDMACTL MOCK-DAEMON [--update]     as run.py

"""
import difflib
import json
import os
import shutil
import sys
import tempfile

import fixtures
from rig import GOLDEN, Bus, Rig, harmless
from tap import Tap


class Golden:
    """What some runs print, one after the other, against one golden file."""

    def __init__(self, tap, name, update):
        self.tap, self.name, self.update, self.parts = tap, name, update, []

    def add(self, p, shown):
        self.parts.append(f"$ rdmactl {shown}\n{p.stdout.decode()}"
                          + "".join(f"stderr: {x}\n" for x in p.stderr.decode().splitlines())
                          + f"[{p.returncode}]\n")

    def end(self, normalise=str):
        got, path = normalise("\n".join(self.parts)), GOLDEN / f"{self.name}.txt"
        if self.update:
            path.write_text(got)
        want = path.read_text() if path.exists() else ""
        self.tap(got == want, f"text is as in golden/{path.name}", "\n".join(difflib.unified_diff(
            want.splitlines(), got.splitlines(), "golden", "now", lineterm="")))


# ---- plan, apply ----

def step(step, object, found, wanted, result, detail=None, disruptive=False, **more):
    return {"Step": step, "Object": object, "Found": found, "Wanted": wanted, "Result": result,
            "Detail": detail, "Disruptive": disruptive, **more}


OK = [step("load-module", "ib_umad", "loaded", "loaded", "ok"),
      step("node-description", "mlx5_0", "node7 mlx5_0", "node7 mlx5_0", "ok",
           Call="write /sys/class/infiniband/mlx5_0/node_desc")]
DUE = [step("add-link", "rxe1", "no netdev d1", "rxe on d1", "waiting", "netdev d1 is not there",
            Call="RDMA_NLDEV_CMD_NEWLINK rxe1 rxe d1", Needs="netdev d1"),
       step("device-name", "mlx5_1", "mlx5_1", "ib_storage0", "waiting",
            "in use: 3 QPs are open on it, by processes 4711 and 4712", True,
            Call="RDMA_NLDEV_CMD_SET index 1 name ib_storage0", Needs=None),
       step("roce-mode", "mlx5_0/1", "IB/RoCE v1", "RoCE v2", "drifted"),
       step("netns-mode", "system", "shared", "exclusive", "blocked", "EBUSY: network namespaces exist",
            Remedy="Set ib_core.netns_mode=0 on the kernel command line.")]


def planned(steps):
    return lambda now, pid: fixtures.state(now, pid, [fixtures.device(now, 0), fixtures.device(now, 1)],
                                           Setup=steps)


def test_plan(tap, rig, update):
    golden = Golden(tap, "plan", update)
    for name, fixture, args, status in (
            ("due", planned(OK + DUE), [], 0), ("due", planned(OK + DUE), ["--exit-code"], 1),
            ("due", planned(OK + DUE), ["--all", "--no-legend"], 0),
            ("due", planned(OK + DUE), ["--all", "mlx5_0", "rxe*"], 0),
            ("due", planned(OK + DUE), ["--exit-code", "ib_umad"], 0),
            ("due", planned(OK + DUE), ["mlx5_7"], 1),
            ("ok", planned(OK), ["--exit-code"], 0), ("nothing", planned([]), ["--exit-code"], 0),
            ("sparse", fixtures.sparse, ["--exit-code"], 1)):
        rig.put(fixture)
        p = rig.run("plan", *args)
        tap(p.returncode == status, f"plan {' '.join(args)} of {name} exits with {status}", p)
        golden.add(p, " ".join(["plan", *args]))
    golden.end(lambda text: rig.normalise(text.encode()))

    rig.put(planned(OK + DUE))
    v = json.loads(rig.run("plan", "--json").stdout)
    tap(v["Daemon"] == {"Running": True} and v["Total"] == 6 and v["Differing"] == 4 and v["Setup"] == DUE,
        "plan --json: the daemon's own words", v)
    tap(json.loads(rig.run("plan", "--json", "--all").stdout)["Setup"] == OK + DUE, "plan --json --all")
    for fixture, status in ((fixtures.absent, 3), (fixtures.garbage, 1), (fixtures.dead, 3)):
        rig.put(fixture)
        p = rig.run("plan", "--json=short", "--exit-code")
        tap(p.returncode == status and "Running" in json.loads(p.stdout)["Daemon"],
            f"plan --json of {fixture.__name__} is JSON and exits with {status}", p)
        tap(rig.run("plan", "--exit-code").returncode == status, "... and so does the text")
    rig.put(fixtures.hostile)
    for args in ([], ["--json"]):
        p = rig.run("plan", *args)
        tap(p.returncode == 0 and harmless(p.stdout) and harmless(p.stderr), f"plan {args}: hostile", p)
    rig.put(planned(OK + DUE))
    wide = [x for x in rig.run("plan").stdout.decode().splitlines() if len(x) > 80]
    tap(not wide, "plan stays within 80 columns", "\n".join(wide))


def test_apply(tap, rig, mock, update):
    if not shutil.which("dbus-daemon"):
        tap(True, "apply # SKIP no dbus-daemon")
        return
    bus = Bus(rig, mock)
    golden = Golden(tap, "apply", update)
    made = [{**s, "Result": "ok", "Found": s["Wanted"], "Detail": None} for s in DUE]

    def play(before, after):
        rig.put(planned(after))
        os.replace(rig.file, f"{rig.file}.applied")
        rig.put(planned(before))
        bus.play(str(rig.file))

    try:
        for before, after, args, flags, status in (
                (OK + DUE, OK + made[:1] + DUE[1:], [], 0, 1),
                (OK + DUE, OK + made, ["--disruptive"], 1, 0),
                (OK + made, OK + made, [], 0, 0), ([], [], [], 0, 0)):
            play(before, after)
            p = bus.run("apply", *args)
            told = bus.daemon.stdout.readline().decode()
            tap(p.returncode == status and told == f"apply {flags}\n" and not p.stderr,
                f"apply {' '.join(args)} exits with {status}", (told, p))
            golden.add(p, " ".join(["apply", *args]))
        golden.end()
        play(OK + DUE, OK + made[:1] + DUE[1:])
        v = json.loads(bus.run("apply", "--json").stdout)
        tap(v == {"Daemon": {"Running": True}, "Changed": made[:1], "Left": DUE[1:]}, "apply --json", v)
        tap(bus.run("apply", "rxe1").returncode == 2, "apply takes no objects")
        bus.play("-r")
        p = bus.run("apply")
        tap(p.returncode == 1 and not p.stdout and b"refuses" in p.stderr, "apply that is refused", p)
        bus.stop()
        p = bus.run("apply")
        tap(p.returncode == 3 and not p.stdout and b"systemctl start rdmad" in p.stderr,
            "apply without a daemon", p)
        p = bus.run("apply", "--json=short")
        tap(p.returncode == 3 and p.stdout == b'{"Daemon":{"Running":false}}\n', "... as JSON", p)
    finally:
        bus.end()


def main():
    update = "--update" in sys.argv[3:]
    with open("/proc/self/comm", "w") as f:
        f.write("rdmad")
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(sys.argv[1], directory)
        test_plan(tap, rig, update)
        test_apply(tap, rig, sys.argv[2], update)
    return tap.end()


sys.exit(main())
