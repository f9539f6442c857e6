#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs about setup: plan, apply, verify.

    setup.py RDMACTL MOCK-DAEMON [--update]     as run.py

"""
import difflib
import json
import os
import pathlib
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


# ---- trees that stand for a host ----

def tree(rig, name, files):
    """Makes one anew: contents by path; None is a directory, a pathlib.Path the target of a link."""
    top = rig.directory / name
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    for path, content in files.items():
        at = top / path
        (at if content is None else at.parent).mkdir(parents=True, exist_ok=True)
        if isinstance(content, pathlib.Path):
            at.symlink_to(content)
        elif isinstance(content, bytes):
            at.write_bytes(content)
        elif content is not None:
            at.write_text(content)
    return name


def device(name, guid="0a7f:bc12:45ef:d23b", layer="InfiniBand", ports=(1,)):
    top = f"sys/class/infiniband/{name}"
    files = {f"{top}/node_guid": guid, f"{top}/node_type": "1: CA", f"{top}/board_id": "MT_0000000838"}
    for n in ports:
        files |= {f"{top}/ports/{n}/link_layer": layer, f"{top}/ports/{n}/state": "4: ACTIVE",
                  f"{top}/ports/{n}/phys_state": "5: LinkUp", f"{top}/ports/{n}/rate": "100 Gb/sec (4X EDR)",
                  f"{top}/ports/{n}/counters/symbol_error": "0",
                  f"{top}/ports/{n}/hw_counters/out_of_sequence": "0"}
    return files


MODULES = {
    "proc/sys/kernel/osrelease": "6.1.0-test\n",
    "lib/modules/6.1.0-test/modules.dep":
        "kernel/drivers/infiniband/core/ib_core.ko:\n"
        "kernel/drivers/infiniband/core/ib_umad.ko: kernel/drivers/infiniband/core/ib_core.ko\n"
        "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: kernel/drivers/infiniband/core/ib_core.ko\n"
        "kernel/net/sunrpc/xprtrdma/rpcrdma.ko: kernel/drivers/infiniband/core/ib_core.ko\n",
    "lib/modules/6.1.0-test/modules.builtin": "kernel/fs/configfs/configfs.ko\n",
    "lib/modules/6.1.0-test/modules.alias": "alias svcrdma rpcrdma\nalias rdma-link-rxe rdma_rxe\n"}
ETC = "etc/rdmad/rdmad.conf"
DROP = "etc/rdmad/rdmad.conf.d"


# ---- verify ----

def test_verify(tap, rig, update):
    golden = Golden(tap, "verify", update)

    def check(what, files, status, *args):
        p = rig.run("verify", f"--root={tree(rig, 'host', files)}", *args)
        tap(p.returncode == status and not p.stderr, f"verify of {what} exits with {status}", p)
        golden.add(p, f"verify --root=host {' '.join(args)}".strip() + f"    # {what}")
        return p

    check("nothing", {}, 0)
    check("defaults", {"usr/lib/rdmad/rdmad.conf": "# [Health]\n# FlapCount=3\n"}, 0)
    check("a misspelt value", {ETC: "[Setup]\nMode=aply\nDrift=repair\n"}, 1)
    check("an unknown key", {ETC: "[Health]\nFlapCuont=4\nFlapCount=5\n"}, 1)
    check("CRLF", {ETC: b"[Health]\r\nFlapCount=4\r\n"}, 0)
    check("a BOM", {ETC: b"\xef\xbb\xbf[Health]\nFlapCount=4\n"}, 0)
    check("UTF-16", {ETC: "[Health]\nFlapCount=4\n".encode("utf-16")}, 1)
    check("a line of 300 bytes", {ETC: "[Modules]\nLoad=" + "ib_umad " * 37 + "\nDeny=siw\n"}, 1)
    check("a header of 60 bytes", {ETC: f"[Link {'x' * 53}]\nType=rxe\n[Health]\nFlapCount=4\n"}, 1)
    p = check("1 MB", {ETC: "[Health]\n" + "# x\n" * 300000, f"{DROP}/10.conf": "[Health]\nFlapCount=4\n"}, 1)
    tap(b"larger than 1 MB" in p.stdout, "... is named", p)
    check("a section twice", {ETC: "[Health]\nFlapCount=4\n[Link rxe0]\nType=rxe\n",
                              f"{DROP}/10.conf": "[Link rxe0]\nNetDevice=d0\n[Health]\nFlapCount=\n",
                              "sys/class/net/d0/ifindex": "2\n"}, 0)
    check("a mask", {f"{DROP}/10-site.conf": pathlib.Path("/dev/null"),
                     "usr/lib/rdmad/rdmad.conf.d/10-site.conf": "[Health]\nFlapCount=4\n",
                     f"{DROP}/20-own.conf": "[Health]\nFlapCount=5\n"}, 0)
    check("what lacks something", {ETC: "[Link rxe0]\nType=rxe\n[Expect all]\nCount=4\n"}, 1)
    check("what matches nothing", {
        **device("mlx5_0", ports=(1, 2)), **device("mlx5_1", "0a7f:bc12:45ef:d24b", "Ethernet"),
        "sys/class/net/d0/ifindex": "2\n", ETC:
            "[Device mlx5_0]\nExpect=yes\n[Device mlx4_*]\nExpect=yes\n[Device guid=0a7f:bc12:45ef:d24b]\n"
            "Expect=yes\n[Device guid=0a7f:bc12:45ef:d25b]\nExpect=yes\n[Device board=MT_0000000838]\nExpect=no\n"
            "[Port mlx5_0/2 linklayer=InfiniBand]\nExpect=up\n[Port mlx5_1/2]\nExpect=up\n"
            "[Port linklayer=Ethernet]\nMinRate=100Gb/s\n[Link rxe0]\nType=rxe\nNetDevice=d0\n"
            "[Link rxe1]\nType=rxe\nNetDevice=d1\n[Expect all]\nMatch=mlx5_*\nCount=8\n"
            "[Expect other]\nMatch=hfi1_*\nCount=1\n[Counter symbol_*]\nThreshold=4\n"
            "[IPoIB ib0]\nMTU=2044\n[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\n[IPoIB d0]\nUmcast=no\n"
            "[Counter symbol_errors]\nThreshold=4\n[Counter out_of_sequence]\nThreshold=4\n"}, 0)
    check("what the kernel does not have", {
        **MODULES, "sys/module/siw2/refcnt": "0\n", ETC:
            "[Modules]\nLoad=ib-umad svcrdma nosuch\nLoad=configfs siw2 nosuch2\n"
            "[Link rxe0]\nType=rxe\nNetDevice=d0\n[Link siw0]\nType=siw\nNetDevice=d0\n"}, 1)
    check("what the kernel does not have, and need not", {
        **MODULES, ETC: "[Modules]\nLoad=nosuch\nLoad=\nLoad=ib_umad\n"}, 0)
    golden.end()

    # As what is read depends on who reads: root may read everything.
    tree(rig, "host", {ETC: "[Health]\nFlapCount=4\n"})
    (rig.directory / "host" / ETC).chmod(0)
    p = rig.run("verify", "--root=host", "--json")
    told = [x["Text"] for x in json.loads(p.stdout)["Problems"]]
    tap(told == ([] if os.geteuid() == 0 else ["cannot be read: Permission denied"]), "verify of mode 000", told)

    tree(rig, "host", {**device("mlx5_0"), ETC: "[Health]\nFlapCount=4\nFlapCount=5\nX=1\n[Device mlx4_0]\nExpect=no\n"})
    v = json.loads(rig.run("verify", "--root=host", "--json=short").stdout)
    tap(v["Daemon"] == {"Running": False} and v["Source"] == "sysfs" and v["Unsupported"] == []
        and [(x["File"], x["Line"]) for x in v["Problems"]] == [(f"host/{ETC}", 4)]
        and [(x["Section"], x["Line"]) for x in v["Unmatched"]] == [("Device mlx4_0", 5)]
        and [(x["Key"], x["Value"], x["Overridden"]) for x in v["Sections"][0]["Keys"]] ==
        [("FlapCount", "4", {"File": f"host/{ETC}", "Line": 3}), ("FlapCount", "5", None)], "verify --json", v)
    (rig.directory / "one.conf").write_text("[Device mlx5_1]\nExpect=yes\n[Device mlx5_9]\nExpect=yes\n")
    rig.put(planned(OK))
    p = rig.run("verify", "--config=one.conf")
    tap(p.returncode == 0 and b"mlx5_9] matches no device on this host now" in p.stdout
        and b"mlx5_1] matches" not in p.stdout, "verify --config: one file, and what rdmad knows of the host", p)
    for args, status in ((["--config=nosuch"], 1), (["--root=nosuch"], 1), (["one.conf"], 2), (["-Hx"], 2)):
        p = rig.run("verify", *args)
        tap(p.returncode == status and p.stderr and not p.stdout, f"verify {args} exits with {status}", p)


def main():
    update = "--update" in sys.argv[3:]
    with open("/proc/self/comm", "w") as f:
        f.write("rdmad")
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(sys.argv[1], directory)
        test_plan(tap, rig, update)
        test_apply(tap, rig, sys.argv[2], update)
        test_verify(tap, rig, update)
    return tap.end()


sys.exit(main())
