#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs about setup: plan, apply, verify, import-rdma-conf, doctor.

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
       step("device-name", "mlx5_2", "mlx5_2", "ib0", "blocked", "[Device] Name=ib0 matches more than one device: mlx5_2 mlx5_3",
            True, Call="rdma dev set mlx5_2 name ib0", Remedy="select the one by guid= or pci="),
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
    tap(v["Daemon"] == {"Running": True} and v["Total"] == 7 and v["Differing"] == 5 and v["Setup"] == DUE,
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
                (OK + DUE, OK + made[:1] + DUE[1:], ["rxe1", "mlx5_0"], "0 rxe1 mlx5_0", 1),
                (OK + DUE, OK + made[:1] + DUE[1:], ["ib_umad"], "0 ib_umad", 0),
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
        late = pathlib.Path(f"{rig.file}.late")
        late.touch()
        play(OK + DUE, OK + made)
        p = bus.run("apply")
        tap(p.returncode == 1 and b"rxe1: add-link" in p.stdout and p.stderr == b"rdmactl: Setup goes on\n",
            "apply that is late: what there is by then", p)
        late.unlink()
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
    check("links within the tree", {
        f"{DROP}/10.conf": pathlib.Path("/usr/share/site/rdma.conf"), f"{DROP}/20.conf": pathlib.Path("../own.conf"),
        f"{DROP}/30.conf": pathlib.Path("/nosuch.conf"), "usr/share/site/rdma.conf": "[Health]\nFlapCount=4\n",
        "etc/rdmad/own.conf": "[Health]\nFlapCount=5\n"}, 1)
    check("a directory that is a link within the tree", {
        "etc/rdmad": pathlib.Path("/srv/site"), "srv/site/rdmad.conf": "[Health]\nFlapCount=4\n",
        "srv/site/rdmad.conf.d/10.conf": "[Health]\nFlapCount=5\n"}, 0)
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
    check("what is hardly meant so", {
        **device("mlx5_0"), **device("mlx5_1", "0a7f:bc12:45ef:d24b", "Ethernet"), ETC:
            "[Device mlx5_*]\nName=ib0\n[Device guid=0a7f:bc12:45ef:d24b]\nName=roce0\n[Port mlx5_0/1]\nRoCEMode=v2\n"
            "[Port mlx5_*]\nRoCEToS=106\n[Modules]\nDeny=ib_ipoib rdma_rxe\n[Link rxe0]\nType=rxe\nNetDevice=mlx5_0\n"
            "[IPoIB ib0.8002]\nParent=mlx5_1\nPKey=8002\n[IPoIB ib0.8001]\nParent=ib0\nPKey=32769\n",
        f"{DROP}/10.conf": "[IPoIB ib0.8003]\nParent=ib0\nPKey=8003\nPKey=0x8003\n"}, 0)
    check("quotes, lists and interfaces that are hardly meant so", {ETC:
            "[Device *]\nNodeDescription=\"%H %d\"\n[Device mlx5_0]\nName=rxe0\n[Link rxe0]\nType=rxe\nNetDevice=d0\n"
            "[Device netdev=d0]\nName=rxe0\nNodeDescription=%H # ours\n[IPoIB c1]\nParent=ib0\nPKey=0x8001\nMode=datagram\nMTU=65520\n"
            "[IPoIB c2]\nParent=c1\nPKey=0X8002\n[IPoIB c3]\nMode=datagram\nMTU=10236\n[IPoIB c4]\nMTU=65520\n"}, 0)
    check("lists with commas, names of files", {ETC:
            "[Modules]\nLoad=ib_umad,ib_ipoib\nLoad=rdma_rxe.ko.xz of:Nx,b\nDeny=siw ib_*\n"
            "[Port *]\nOptionalCounters=a,b c\n"}, 1)
    check("a name that takes itself away", {
        **device("mlx5_0"), **device("mlx5_1", "0a7f:bc12:45ef:d24b", "Ethernet"),
        ETC: "[Device mlx5_0]\nName=ib0\nNodeDescription=%d\n[Device mlx5_1]\nName=roce0\n"}, 0)
    check("one name for two", {
        **device("mlx5_0"), **device("mlx5_1", "0a7f:bc12:45ef:d24b", "Ethernet"),
        ETC: "[Device mlx5_*]\nName=ib0\nNodeDescription=%d\n[Modules]\nDeny=siw\n"}, 0)
    check("what the kernel does not have", {
        **MODULES, "sys/module/siw2/refcnt": "0\n", ETC:
            "[Modules]\nLoad=ib-umad svcrdma nosuch\nLoad=configfs siw2 nosuch2\n"
            "[Link rxe0]\nType=rxe\nNetDevice=d0\n[Link siw0]\nType=siw\nNetDevice=d0\n"}, 1)
    check("links on VLANs", {
        "sys/class/net/d0.5/uevent": "DEVTYPE=vlan\nINTERFACE=d0.5\n", "sys/class/net/d0/uevent": "INTERFACE=d0\n", ETC:
            "[Link rxe0]\nType=rxe\nNetDevice=d0\n[Link rxe1]\nType=rxe\nNetDevice=d0.5\n"
            "[Link siw0]\nType=siw\nNetDevice=d0.5\n"}, 1)
    check("IPoIB without connected mode", {
        **MODULES, "sys/class/net/ib0/type": "32\n", "sys/class/net/ib0/ifindex": "2\n", "sys/class/net/ib0/iflink": "2\n",
        "sys/class/net/ib1/type": "32\n", "sys/class/net/ib1/mode": "datagram\n", "sys/class/net/ib1/ifindex": "3\n",
        "sys/class/net/ib1/iflink": "3\n", "sys/class/net/ib0.8002/type": "32\n",
        "sys/class/net/ib0.8002/ifindex": "4\n", "sys/class/net/ib0.8002/iflink": "2\n",
        ETC: "[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\nMode=connected\n[IPoIB ib1]\nMode=connected\n"
             "[IPoIB ib0]\nMode=datagram\n[IPoIB ib2]\nMode=connected\n[IPoIB ib0.8002]\nMode=connected\n"}, 1)
    check("rdma_cm without configfs", {
        **MODULES, "sys/kernel/config/nullb/features": "", "sys/module/rdma_cm/refcnt": "0\n",
        ETC: "[Port *]\nRoCEMode=v2\nRoCEToS=106\n"}, 1)
    check("what the kernel does not have, and need not", {
        **MODULES, ETC: "[Modules]\nLoad=nosuch\nLoad=\nLoad=ib_umad\n"}, 0)
    golden.end()

    # What may be in a text that is valid UTF-8.
    tree(rig, "host", {ETC: "[Device driver=\u202emlx5]\nMonitor=no\n[Device *]\nNodeDescription=\u202e\u200b%H\n[\u202e]\n",
                       f"{DROP}/\u202e.conf": "[Health]\nFlapCount=4\nx\u009b=3\n"})
    for args in ([], ["--json"]):
        p = rig.run("verify", "--root=host", *args)
        tap(p.returncode == 1 and harmless(p.stdout) and harmless(p.stderr), f"verify {args}: hostile", p)

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
        if args == ["one.conf"]:
            tap(b"--config=FILE" in p.stderr, "verify FILE says how it is asked", p)
        tap(p.returncode == status and p.stderr and not p.stdout, f"verify {args} exits with {status}", p)


# ---- import-rdma-conf ----

RHEL = """# Load IPoIB
IPOIB_LOAD=yes
SRP_LOAD="yes"
SRPT_LOAD=no
ISER_LOAD='yes'   # a comment
export ISERT_LOAD=yes
RDS_LOAD=no
XPRTRDMA_LOAD=yes
SVCRDMA_LOAD=yes
TECH_PREVIEW_LOAD=yes
FIXUP_MTRR_REGS=no
NFSoRDMA_LOAD=yes
NFSoRDMA_PORT=2050
"""
ODD = """IPOIB_LOAD=yes
IPOIB_LOAD=no
RDS_LOAD=YES
SRP_LOAD=$(hostname)
ISER_LOAD=yes; reboot
if [ -e /x ]; then
UNHEARD_OF=yes
  UMAD_LOAD=yes
MLX5_LOAD=yes
9LIVES=1
SRPT_LOAD="yes
"""


def test_import(tap, rig, update):
    golden = Golden(tap, "import-rdma-conf", update)

    def convert(text, *args):
        (rig.directory / "rdma.conf").write_bytes(text if isinstance(text, bytes) else text.encode())
        return rig.run("import-rdma-conf", "rdma.conf", *args)

    def understood(p):
        """What verify makes of it, which is the daemon's reading."""
        (rig.directory / "made.conf").write_bytes(p.stdout)
        v = json.loads(rig.run("verify", "--config=made.conf", "--json").stdout)
        return v["Problems"], [f"{k['Key']}={k['Value']}" for s in v["Sections"] for k in s["Keys"]]

    for what, text, keys in (
            ("RHEL", RHEL, ["Load=ib_ipoib", "Load=ib_srp", "Load=ib_iser", "Load=ib_isert", "Load=rpcrdma",
                            "Load=rpcrdma", "Load=rpcrdma"]),
            ("odd", ODD, ["LoadInfiniBand=", "LoadInfiniBand=ib_umad", "Load=ib_umad"]),
            ("RDS", "RDS_LOAD=yes\r\nIPOIB_LOAD=no\r\n", ["Load=ib_ipoib rds rds_rdma", "LoadInfiniBand=",
                                                        "LoadInfiniBand=ib_umad"]),
            ("nothing", "", ["LoadInfiniBand=", "LoadInfiniBand=ib_umad"]),
            ("OFED", "UMAD_LOAD=no\nIPOIB_LOAD=yes\nSET_IPOIB_CM=auto\n",
             ["LoadInfiniBand=", "LoadInfiniBand=ib_ipoib", "Load=ib_ipoib"]),
            ("OFED that says no word of IPoIB", "UMAD_LOAD=no\n", ["LoadInfiniBand="]),
            ("OFED without both", "IPOIB_LOAD=no\nUMAD_LOAD=no\n", ["LoadInfiniBand=", "LoadInfiniBand="])):
        p = convert(text, "--output=-")
        golden.add(p, f"import-rdma-conf rdma.conf --output=-    # {what}")
        tap(p.returncode == 0 and understood(p) == ([], keys), f"import-rdma-conf of {what}: what rdmad reads",
            understood(p))
    golden.end()
    p = convert(b"IPOIB_LOAD=yes\nSRP_LOAD=y\x1b[31mes\nISER_LOAD=\xff\n", "--output=-")
    tap(p.returncode == 0 and harmless(p.stdout) and harmless(p.stderr) and p.stderr.count(b"left out") == 2,
        "import-rdma-conf: hostile", p)
    p = convert(b"IPOIB_LOAD=yes\n\0\nSRP_LOAD=yes\n", "--output=-")
    tap(p.returncode == 1 and not p.stdout and b"NUL byte" in p.stderr, "... no text file: refused as a whole", p)
    p = convert("IPOIB_LOAD=maybe\n", "--output=-")
    tap(p.returncode == 0 and b"counted as no" in p.stderr, "... neither yes nor no is said", p)
    p = convert("127.0.0.1 localhost\nLANG=C\n", "--output=other.conf")
    tap(p.returncode == 1 and b"nothing is written" in p.stderr and not (rig.directory / "other.conf").exists(),
        "... another file", p)
    p = convert("LANG=C\nSRP_LOAD=no\n", "--output=-")
    tap(p.returncode == 0 and b"LANG=C: not known" in p.stderr, "... but for one key of the old services", p)
    p = rig.run("import-rdma-conf", ".")
    tap(p.returncode == 1 and b"not a file" in p.stderr, "... a directory", p)

    target = rig.directory / "drop-in.conf"
    p = convert(RHEL, "--output=drop-in.conf")
    tap(p.returncode == 0 and b"Load=ib_srp" in target.read_bytes() and target.stat().st_mode & 0o777 == 0o644
        and b"rdmactl verify" in p.stdout, "import-rdma-conf --output", p)
    before = target.read_bytes()
    p = convert("IPOIB_LOAD=yes\n", "--output=drop-in.conf")
    tap(p.returncode == 1 and b"exists" in p.stderr and b"--force" in p.stderr and target.read_bytes() == before,
        "... never writes over what is there", p)
    p = convert("IPOIB_LOAD=yes\n", "--output=drop-in.conf", "--force")
    tap(p.returncode == 0 and target.read_bytes() != before, "... but with --force", p)
    left = [x.name for x in rig.directory.glob("drop-in.conf.*")]
    tap(not left, "... and leaves nothing behind", left)
    for args, status in ((["nosuch"], 1), (["rdma.conf", "--output=no/such/x"], 1), (["a", "b"], 2), (["-Hx"], 2)):
        p = rig.run("import-rdma-conf", *args)
        tap(p.returncode == status and p.stderr and not p.stdout, f"import-rdma-conf {args} exits with {status}", p)


# ---- doctor ----

LOADED = {f"sys/module/{m}/refcnt": "1\n" for m in ("ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm", "ib_ipoib")}
# A host in order: one adapter, what it needs, rdmad.
HOST = {
    **MODULES, **LOADED, **device("mlx5_0"),
    "lib/modules/6.1.0-test/modules.dep": "".join(
        f"kernel/drivers/infiniband/{m}.ko:\n" for m in ("ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm",
                                                         "ib_ipoib", "mlx5_ib", "rdma_rxe")),
    "sys/class/infiniband_verbs/uverbs0/ibdev": "mlx5_0\n", "sys/class/infiniband_mad/umad0/ibdev": "mlx5_0\n",
    "dev/infiniband/uverbs0": "", "dev/infiniband/umad0": "", "dev/infiniband/rdma_cm": "",
    "dev/infiniband/by-ibdev/uverbs-mlx5_0": pathlib.Path("../uverbs0"),
    "proc/mounts": "configfs /sys/kernel/config configfs rw,nosuid 0 0\n", "sys/kernel/config/rdma_cm": None,
    "etc/passwd": "root:x:0:0::/root:/bin/sh\nrdmad:x:980:980::/:/sbin/nologin\n",
    "usr/lib/systemd/system/rdmad.service": "[Service]\nExecStart=/usr/sbin/rdmad\n",
    "etc/systemd/system/sysinit.target.wants/rdmad.service": pathlib.Path("/usr/lib/systemd/system/rdmad.service"),
    "etc/systemd/system.conf.d/50-memlock.conf": "[Manager]\nDefaultLimitMEMLOCK=infinity\n",
    "etc/security/limits.d/rdma.conf": "* soft memlock unlimited\n* hard memlock unlimited\n"}
OFED = "lib/modules/6.1.0-test/updates/dkms"


def modinfo(release):
    return b"\x7fELF\0\0license=GPL\0vermagic=" + release.encode() + b" SMP preempt mod_unload modversions \0\0"


def without(files, *prefixes):
    return {path: c for path, c in files.items() if not path.startswith(prefixes)}


SITUATIONS = {
    "a host in order": (HOST, 0, set()),
    "nothing at all": ({}, 0, set()),
    "no RDMA": (without(HOST, "sys/class", "sys/module", "dev/infiniband/"), 0, set()),
    "a kernel that was updated": ({**without(HOST, "lib/modules"), "lib/modules/6.1.0-new/modules.dep": "\n"},
                                  1, {"no-module-directory"}),
    "a tree without modules": (without(HOST, "lib/modules"), 0, set()),
    "modules that are not loaded": (without(HOST, "sys/module/ib_umad", "sys/module/rdma_ucm", "sys/module/ib_ipoib"),
                                    1, {"module-not-loaded"}),
    "a module that Deny= forbids": ({**without(HOST, "sys/module/ib_ipoib"), ETC: "[Modules]\nDeny=ib_ipoib\n"}, 0, set()),
    "modules of another kernel": ({
        **HOST, f"{OFED}/mlx5_ib.ko": modinfo("6.1.0-old"), f"{OFED}/mlx_compat.ko.xz": b"\xfd7zXZ",
        "lib/modules/6.1.0-test/modules.dep": HOST["lib/modules/6.1.0-test/modules.dep"].replace(
            "kernel/drivers/infiniband/mlx5_ib.ko", "updates/dkms/mlx_compat.ko.xz:\nupdates/dkms/mlx5_ib.ko")},
        1, {"stale-modules"}),
    "half of MLNX_OFED": ({
        **HOST, f"{OFED}/ib_core.ko": modinfo("6.1.0-test"), "sys/module/ib_uverbs/taint": "OE\n",
        "lib/modules/6.1.0-test/modules.dep": HOST["lib/modules/6.1.0-test/modules.dep"].replace(
            "kernel/drivers/infiniband/ib_core.ko", "updates/dkms/ib_core.ko")},
        1, {"mixed-modules", "loaded-not-installed"}),
    "blacklisted modules": ({
        **HOST, "etc/modprobe.d/site.conf": "# blacklist ib_core\nblacklist mlx5_ib\nblacklist nouveau\n"
                                            "install ib_ipoib /bin/true\ninstall ib_qib modprobe -i ib_qib\n"},
        1, {"module-blacklisted"}),
    "device nodes": ({
        **without(HOST, "dev/infiniband/umad0", "dev/infiniband/rdma_cm"),
        "dev/infiniband/by-ibdev/uverbs-rocep1s0": pathlib.Path("../uverbs0")}, 1, {"no-node", "stale-name"}),
    "GUIDs of zeros": ({**HOST, **device("mlx5_1", "0000:0000:0000:0000"), **device("rxe0", "0x0")}, 1, {"zero-guid"}),
    "no configfs, and RoCEMode=": ({
        **HOST, "proc/mounts": "proc /proc proc rw 0 0\n", ETC: "[Port *]\nRoCEMode=v2\n"}, 1, {"no-configfs"}),
    "no rdma_cm in configfs": (without(HOST, "sys/kernel/config"), 0, set()),
    "cgroups that are limited": ({
        **HOST, "sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory rdma misc\n",
        "sys/fs/cgroup/cgroup.subtree_control": "cpu rdma\n",
        "sys/fs/cgroup/system.slice/rdma.max": "mlx5_0 hca_handle=2 hca_object=max\nmlx5_1 hca_handle=max hca_object=max\n"},
        1, {"rdma-cgroup-limit"}),
    "cgroups that nobody uses": ({
        **HOST, "sys/fs/cgroup/cgroup.controllers": "cpu rdma\n", "sys/fs/cgroup/cgroup.subtree_control": "cpu\n"}, 0, set()),
    "memlock for logins only": (without(HOST, "etc/systemd/system.conf.d"), 1, {"memlock-units"}),
    "memlock for units only": ({
        **HOST, "etc/security/limits.d/rdma.conf": "* - memlock 65536\n@rdma - memlock unlimited\n"}, 1, {"memlock-logins"}),
    "memlock of users' units": ({
        **HOST, "etc/systemd/system/user@.service.d/x.conf": "[Service]\nLimitMEMLOCK=64M\n"}, 1, {"memlock-units"}),
    "memlock that nobody raised": (without(HOST, "etc/systemd/system.conf.d", "etc/security"), 0, set()),
    "rivals that are there": ({
        **HOST, "usr/lib/systemd/system/rdma-ndd.service": "[Service]\n",
        "usr/lib/udev/rules.d/60-rdma-persistent-naming.rules": "# rdma_rename NAME_FALLBACK\nPROGRAM=\"rdma_rename %k\"\n",
        "etc/NetworkManager/system-connections/ib0.nmconnection": "[connection]\ntype=infiniband\n",
        "usr/lib/systemd/system/opensm.service": "[Service]\n",
        "etc/systemd/system/multi-user.target.wants/opensm.service": pathlib.Path("/usr/lib/systemd/system/opensm.service"),
        "etc/rdma/rdma.conf": "IPOIB_LOAD=yes\n", "bin/mlnx_interface_mgr.sh": "#!/bin/sh\n"}, 0, set()),
    "rivals that do the same": ({
        **HOST, "usr/lib/systemd/system/rdma-ndd.service": "[Service]\n",
        "usr/lib/udev/rules.d/60-rdma-persistent-naming.rules": "PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n",
        "etc/systemd/network/ib0.netdev": "[NetDev]\nName=ib0.8001\nKind=ipoib\n",
        "etc/NetworkManager/system-connections/ib0.nmconnection": "[connection]\ntype=infiniband\n",
        "usr/lib/systemd/system/openibd.service": "[Service]\n", "usr/lib/systemd/system/rdma.service": "[Service]\nExecStart=x\n",
        "etc/systemd/system/sysinit.target.wants/openibd.service": pathlib.Path("/usr/lib/systemd/system/openibd.service"),
        ETC: "[Device *]\nNodeDescription=%H %d\nName=ib0\n[IPoIB ib0]\nMode=connected\n"},
        1, {"rival-ndd", "rival-rename", "rival-networkd", "rival-networkmanager", "rival-openibd", "rival-rdma-service"}),
    "rivals that are masked": ({
        **HOST, "usr/lib/udev/rules.d/60-rdma-persistent-naming.rules": "PROGRAM=\"rdma_rename %k\"\n",
        "etc/udev/rules.d/60-rdma-persistent-naming.rules": pathlib.Path("/dev/null"),
        "usr/lib/systemd/system/rdma-ndd.service": "[Service]\n",
        "etc/systemd/system/rdma-ndd.service": pathlib.Path("/dev/null"),
        ETC: "[Device *]\nNodeDescription=%H\nName=ib0\n"}, 0, set()),
    "rdmad as it was unpacked": ({
        **without(HOST, "etc/systemd/system/sysinit"), "etc/passwd": "root:x:0:0::/root:/bin/sh\n",
        ETC: "[Helth]\nFlapCount=3\n"}, 1, {"rdmad-user", "config-invalid"}),
}


def test_doctor(tap, rig, update):
    golden = Golden(tap, "doctor", update)
    for what, (files, status, warnings) in SITUATIONS.items():
        tree(rig, "host", files)
        for path in (rig.directory / "host/dev/infiniband").glob("*[!v]"):
            path.chmod(0o600 if what == "device nodes" and path.name == "uverbs0" else 0o666) if path.is_file() else None
        p = rig.run("doctor", "--root=host")
        golden.add(p, f"doctor --root=host    # {what}")
        v = json.loads(rig.run("doctor", "--root=host", "--json").stdout)
        got = {f["Id"] for f in v["Findings"] if f["Severity"] == "warning"}
        wanted = warnings | ({"node-mode"} if what == "device nodes" else set())
        tap(p.returncode == status and got == wanted and not p.stderr, f"doctor of {what}: {sorted(got)}", p)
        tap(all(f["Found"] and (f["Severity"] not in ("warning", "note") or f["Id"] in ("no-device",)
                                or (f["Why"] and f["Remedy"])) for f in v["Findings"]),
            "... each with why and what to do", v)
        wide = [x for x in p.stdout.decode().splitlines() if len(x) > 80 and len(x.split()) > 2 and not x.startswith("ok")]
        tap(not wide, "... within 80 columns", "\n".join(wide))
    golden.end()
    tree(rig, "host", {**HOST, "etc/modprobe.d/\u202e.conf": "blacklist ib_\u202e\x1b[31m\n",
                       "etc/rdmad/rdmad.conf": "[Device *]\nName=\u202e\n[\u202e]\n",
                       "sys/fs/cgroup/cgroup.controllers": "rdma\n", "sys/fs/cgroup/cgroup.subtree_control": "rdma\n",
                       "sys/fs/cgroup/system.slice/rdma.max": b"\xff\x1b[31m hca_handle=3\n"})
    for args in ([], ["--json"]):
        p = rig.run("doctor", "--root=host", *args)
        tap(p.returncode == 1 and harmless(p.stdout) and harmless(p.stderr), f"doctor {args}: hostile", p)
    outside = tree(rig, "outside", {"passwd": "root:x\n"})
    tree(rig, "host", {**HOST, "etc/passwd": "root:x\n"})
    (rig.directory / "host/etc/passwd").unlink()
    (rig.directory / "host/etc/passwd").symlink_to(rig.directory / outside / "passwd")
    v = json.loads(rig.run("doctor", "--root=host", "--json").stdout)
    tap("rdmad-user" not in {f["Id"] for f in v["Findings"]}, "a link out of the tree is not followed", v)
    p = rig.run("doctor")
    tap(p.returncode in (0, 1) and harmless(p.stdout) and not p.stderr, "doctor of this host", p)
    for args, status in ((["--root=nosuch"], 1), (["x"], 2), (["-Hx"], 2)):
        p = rig.run("doctor", *args)
        tap(p.returncode == status and p.stderr and not p.stdout, f"doctor {args} exits with {status}", p)


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
        test_import(tap, rig, update)
        test_doctor(tap, rig, update)
    return tap.end()


sys.exit(main())
