#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs rdmactl inspect on the trees of tests/data/trees/, on pairs of them that differ, and on what
rdmactl collect makes of them.

    inspect.py RDMACTL             compare with tests/data/inspect-golden/, TAP on stdout
    inspect.py RDMACTL --update    write the golden files anew (then read the diff)
"""
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
GOLDEN = DATA / "inspect-golden"

# exit status by tree
STATUS = {"hostile": 3}


class Rig:
    def __init__(self, rdmactl, directory):
        self.rdmactl = os.path.abspath(rdmactl)
        self.directory = pathlib.Path(directory)
        self.put("none.conf", "")

    def put(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)

    def make(self, tree, name):
        """Builds a tree of DATA under another name, anew."""
        shutil.rmtree(self.directory / name, ignore_errors=True)
        subprocess.run([DATA / "make-tree", DATA / "trees" / f"{tree}.tree",
                        self.directory / name], check=True)
        return self.directory / name

    def run(self, *args, config="none.conf", program=None):
        # Relative names: what is printed must not depend on where this runs. Sanitizers report by
        # this exit status, which is none of rdmactl's.
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "400", "TZ": "UTC",
               "TMPDIR": str(self.directory), "ASAN_OPTIONS": "exitcode=99",
               "UBSAN_OPTIONS": "halt_on_error=1"}
        return subprocess.run([*(program or []), self.rdmactl, "inspect", f"--config={config}", *args],
                              env=env, cwd=self.directory, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)

    def json(self, *args, **more):
        p = self.run("--json=short", *args, **more)
        return p.returncode, json.loads(p.stdout)


def normalise(data):
    text = data.decode()
    text = re.sub(r"\b\d{16}\b", "0", text)  # microseconds since the epoch
    text = re.sub(r"^ *\d+\w+ ago", "  SPAN ago", text, flags=re.M)
    text = re.sub(r"\bsince \d\d:\d\d:\d\d\b", "since TIME", text)
    text = re.sub(r"\bfor \d+(us|ms|s)\b", "for SPAN", text)
    return text


def compare(tap, path, got, update):
    if update:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(got)
    want = path.read_text() if path.exists() else ""
    diff = "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), "golden", "now",
                                          lineterm=""))
    tap(got == want, f"{path.name} is as it was", diff)


def trees():
    return sorted(p.stem for p in (DATA / "trees").glob("*.tree"))


def test_golden(tap, rig, update):
    for tree in trees():
        rig.make(tree, tree)
        p = rig.run(tree, "--full")
        tap(p.returncode == STATUS.get(tree, 0) and not p.stderr,
            f"{tree}: exits with {STATUS.get(tree, 0)}", f"{p.returncode} {p.stderr.decode()}")
        compare(tap, GOLDEN / f"{tree}.txt", normalise(p.stdout), update)
        j = rig.run(tree, "--json")
        tap(j.returncode == p.returncode, f"{tree}: the same exit status for JSON", j.returncode)
        compare(tap, GOLDEN / f"{tree}.json", normalise(j.stdout), update)


def device(root, name):
    return next(d for d in root["Devices"] if d["Name"] == name)


def port(root, name, number=1):
    return next(p for p in device(root, name)["Ports"] if p["Number"] == number)


def test_values(tap, rig):
    """What each layout is there to show, besides that it stays as it is."""
    root = {tree: rig.json(tree)[1] for tree in trees()}

    def same(got, want, what):
        tap(got == want, what, f"{got!r}, wanted {want!r}")

    p1, p2 = port(root["mlx4"], "mlx4_0"), port(root["mlx4"], "mlx4_0", 2)
    same((p1["PortState"], p1["Rate"], p1["Speed"], p2["PortState"], p2["HealthState"]),
         ("active", 40000, "QDR", "down", "ignored"), "mlx4: two ports, each its own")
    d = device(root["mlx5-ndr"], "mlx5_0")
    same((d["Driver"], d["PciAddress"][:5], len(d["Ports"]), port(root["mlx5-ndr"], "mlx5_0")["Rate"]),
         ("mlx5_core", "0000:", 1, 400000), "mlx5 NDR: driver, slot, 400 Gb/s")
    tap(len(d["PcieLinks"]) > 1 and all(l["Speed"] for l in d["PcieLinks"]), "mlx5 NDR: PCIe links",
        d["PcieLinks"])
    p = port(root["mlx5-bond"], "mlx5_bond_0")
    same((p["NetDevice"], p["Bond"], [(l["Name"], l["State"], l["Carrier"]) for l in p["BondLegs"]]),
         ("bond0", "bond0", [("enp3s0f0np0", "active", True), ("enp3s0f1np1", "backup", True)]),
         "mlx5 bond: the port is on the bond, which has two legs")
    tap(any(g["Type"] == "RoCE v2" for g in p["Gids"]), "mlx5 bond: GIDs", p["Gids"])
    vfs = [d["Name"] for d in root["mlx5-vf"]["Devices"] if d["VirtualFunction"]]
    same(vfs, ["mlx5_1", "mlx5_2"], "mlx5 VF: told from its physical function")
    same(device(root["hfi1"], "hfi1_0")["Driver"], "hfi1", "hfi1: driver")
    same([port(root["hfi1"], n)["PortState"] for n in ("hfi1_0", "hfi1_1")], ["active", "down"],
         "hfi1: states")
    same([port(root["irdma"], n)["NetDevice"] for n in ("rocep24s0f0", "rocep24s0f1")],
         ["ens1f0", "ens1f1"], "irdma: netdevs")
    same(device(root["bnxt_re"], "bnxt_re0")["Driver"], "bnxt_en", "bnxt_re: driver")
    p = port(root["efa"], "rdmap16s27")
    same((p["LinkLayer"], p["Rate"], p["NetDevice"], p["HealthState"]), (None, 400000, None, "ok"),
         "efa: no link layer that it could be, and well")
    tap(all(r["Daemon"]["Running"] is False and r["Daemon"]["Trees"] == [t]
            for t, r in root.items()), "no daemon runs, and the JSON says of what tree it is")
    good = port(root["hostile"], "good")
    same((good["HealthState"], good["PortState"], good["Rate"]), ("ok", "active", 100000),
         "hostile: a good device beside bad ones")


def test_one_bad_attribute(tap, rig):
    """Each attribute of a port and a device in turn as a directory, a FIFO, empty, junk, unreadable."""
    at = rig.make("mlx5-ndr", "bad")
    base = rig.json("bad")[1]
    dev = at / "sys/class/infiniband/mlx5_0"
    dev = dev.resolve() if dev.is_symlink() else dev
    keys = {
        "node_guid": {"NodeGuid"}, "sys_image_guid": {"SysImageGuid"}, "fw_ver": {"FirmwareVersion"},
        "node_type": {"NodeType", "Protocol"}, "board_id": {"BoardId"},
        "ports/1/state": {"PortState"}, "ports/1/phys_state": {"PhysState"},
        "ports/1/rate": {"Rate", "Width", "Speed"}, "ports/1/lid": {"Lid"},
        "ports/1/sm_lid": {"SmLid"}, "ports/1/lid_mask_count": {"Lmc"},
        "ports/1/link_layer": {"LinkLayer"}, "ports/1/gids/0": {"Gids"}, "ports/1/pkeys/0": {"PKeys"},
    }

    def spoil(path, how):
        path.unlink()
        if how == "directory":
            path.mkdir()
        elif how == "fifo":
            os.mkfifo(path)
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "junk":
            path.write_bytes(bytes(i * 167 % 256 for i in range(70 * 1024)))
        elif how == "dangling":
            path.symlink_to("/proc/self/nothing")

    def flat(value, prefix=""):
        if isinstance(value, dict):
            for k, v in value.items():
                yield from flat(v, f"{prefix}/{k}")
        elif isinstance(value, list) and value and isinstance(value[0], dict) and "Gid" not in value[0] \
                and "PKey" not in value[0]:
            for i, v in enumerate(value):
                yield from flat(v, f"{prefix}/{v.get('Name', v.get('Number', i))}")
        else:
            # Times differ from run to run.
            yield prefix, 0 if isinstance(value, int) and value > 10 ** 15 else value

    # What is made of them: a port whose state is not known has no health either.
    follow = {"ports/1/state": {"HealthState", "Id", "Severity", "Class", "Subject", "Since", "Found",
                                "Wanted", "Remedy", "Acknowledged", "Reasons", "Required"},
              # What the type "IB/RoCE v1" of a GID means, and whether there may be a netdev.
              "node_type": {"Gids"}, "ports/1/link_layer": {"Gids", "NetDevice", "NetDeviceIndex"}}
    before = dict(flat(base))
    for name, hidden in keys.items():
        path = dev / name
        content = path.read_bytes()
        for how in ("directory", "fifo", "empty", "junk", "dangling"):
            spoil(path, how)
            status, now = rig.json("bad")
            now = dict(flat(now))
            differs = {k for k in set(before) | set(now) if before.get(k) != now.get(k)}
            stray = {k for k in differs if k.rsplit("/", 1)[1] not in hidden | follow.get(name, set())
                     or not k.startswith(("/Devices/mlx5_0", "/HealthState"))}
            tap(not stray, f"{name} as {how}: hides nothing else", stray)
            wrong = {k: now.get(k) for k in differs if k.rsplit("/", 1)[1] in hidden
                     and "/mlx5_0" in k and now.get(k) not in (None, "", "unknown")}
            tap(not wrong, f"{name} as {how}: is unknown and nothing else", wrong)
            if how == "directory":
                path.rmdir()
            else:
                path.unlink()
            path.write_bytes(content)


def test_bad_netdev(tap, rig):
    """The same for a netdev: the bond below a port."""
    at = rig.make("mlx5-bond", "net")
    net = (at / "sys/class/net/bond0").resolve()
    leg = (at / "sys/class/net/enp3s0f0np0").resolve()

    def bond():
        p = port(rig.json("net")[1], "mlx5_bond_0")
        return p["HealthState"], p["Bond"], [(l["Name"], l["State"], l["Carrier"]) for l in p["BondLegs"]]

    good = bond()
    first, second = good[2]
    nameless = ("enp3s0f0np0", None, True)
    for path, want in ((net / "flags", good), (net / "carrier", good), (net / "operstate", good),
                       (net / "type", good), (net / "mtu", good), (leg / "flags", good),
                       (leg / "carrier_up_count", good), (leg / "address", good),
                       (leg / "bonding_slave/mii_status", good), (leg / "phys_port_name", good),
                       (leg / "bonding_slave/state", ("ok", "bond0", [nameless, second])),
                       (leg / "ifindex", ("ok", "bond0", [second])),
                       (net / "ifindex", ("ok", None, []))):
        content = path.read_bytes()
        for bad in (b"", b"\n", b"\x00\xff" * 35 * 1024, None):
            path.unlink()
            if bad is None:
                os.mkfifo(path)
            else:
                path.write_bytes(bad)
            got = bond()
            tap(got == want, f"netdev: {path.parent.name}/{path.name} is bad", f"{got}, wanted {want}")
        path.unlink()
        path.write_bytes(content)


def replace(path, old, new):
    text = path.read_text()
    assert old in text, (path, old, text)
    path.chmod(0o644)
    path.write_text(text.replace(old, new))


def class_device(tree, name):
    return (tree / "sys/class/infiniband" / name).resolve()


def remove_device(tree, name):
    # The nodes go with it: a node alone is that of a device in another network namespace.
    for node in [*tree.glob("sys/class/infiniband_verbs/*"), *tree.glob("sys/class/infiniband_mad/*")]:
        if (node / "ibdev").is_file() and (node / "ibdev").read_text().strip() == name:
            shutil.rmtree(node.resolve())
            if node.is_symlink():
                node.unlink()
    shutil.rmtree(class_device(tree, name))
    link = tree / "sys/class/infiniband" / name
    if link.is_symlink():
        link.unlink()


def whole(rig, name):
    """The tree with all lanes of mlx5_3, of which it has half."""
    tree = rig.make("mlx5-ndr", name)
    function = class_device(tree, "mlx5_3").parents[1]
    for end in (function, function.parent):
        replace(end / "current_link_width", "8", "16")
    return tree


def test_pairs(tap, rig):
    a = whole(rig, "a")
    b = whole(rig, "b")
    p = class_device(b, "mlx5_2") / "ports/1"
    replace(p / "state", "4: ACTIVE", "1: DOWN")
    replace(p / "phys_state", "5: LinkUp", "3: Disabled")
    status, root = rig.json("a", "b")
    down = port(root, "mlx5_2")
    tap(status == 2 and down["HealthState"] == "failed" and down["Reasons"][0]["Id"] == "port-down",
        "a port that fell between two trees failed", (status, down))
    tap([port(root, f"mlx5_{i}")["HealthState"] for i in (0, 1, 3)] == ["ok"] * 3, "... it alone")
    out = rig.run("a", "b").stdout.decode()
    tap("mlx5_2/1 port-down" in out and "captured tree b, the last of 2 taken 1min apart" in out
        and "try:" not in out and "not running" not in out, "... in text, without commands to try", out)
    status, root = rig.json("b")
    tap(status == 0 and port(root, "mlx5_2")["HealthState"] == "ignored"
        and "never seen ACTIVE" in port(root, "mlx5_2")["IgnoredBecause"],
        "one tree: a port that is down is judged by the configuration only", status)
    rig.put("up.conf", "[Port mlx5_2/1]\nExpect=up\n")
    status, root = rig.json("b", config="up.conf")
    tap(status == 2 and port(root, "mlx5_2")["HealthState"] == "failed", "... which may expect it", status)

    b = whole(rig, "b")
    remove_device(b, "mlx5_1")
    status, root = rig.json("a", "b")
    x = root["Missing"]
    tap(status == 2 and len(x) == 1 and x[0]["Name"] == "mlx5_1" and
        x[0]["Reasons"][0]["Id"] == "device-missing" and x[0]["NodeGuid"] and x[0]["PciAddress"],
        "a device that went is missing", (status, x))
    status, root = rig.json("a", "b", "--interval=5s")
    tap(status == 3 and root["Missing"][0]["HealthState"] == "unknown",
        "... and not before MissingDelaySec=", (status, root["Missing"]))
    status, root = rig.json("a", "b", "a")
    tap(status == 0 and not root["Missing"], "... and was, when it is back", (status, root["Missing"]))

    b = whole(rig, "b")
    replace(class_device(b, "mlx5_1") / "node_guid", ":5e18", ":5e99")
    status, root = rig.json("a", "b")
    tap(status == 0 and not root["Missing"] and device(root, "mlx5_1")["NodeGuid"].endswith("5e99")
        and any("mlx5_1" in e["Message"] and e["Reason"] == "inventory" for e in root["Events"]),
        "another adapter in its slot: replaced, and that is told", (status, root["Events"]))

    b = whole(rig, "b")
    (b / "sys/class/infiniband/mlx5_1").rename(b / "sys/class/infiniband/roce9")
    for ibdev in [*b.glob("sys/class/infiniband_verbs/*/ibdev"), *b.glob("sys/class/infiniband_mad/*/ibdev")]:
        if ibdev.read_text().strip() == "mlx5_1":
            replace(ibdev, "mlx5_1", "roce9")
    status, root = rig.json("a", "b")
    tap(status == 0 and not root["Missing"] and not root["Events"] and
        [d["Name"] for d in root["Devices"]] == ["mlx5_0", "roce9", "mlx5_2", "mlx5_3"],
        "another name for the same GUID is the same device", [d["Name"] for d in root["Devices"]])
    b = whole(rig, "b")
    replace(class_device(b, "mlx5_3") / "fw_ver", "28.", "29.")
    status, root = rig.json("a", "b")
    tap(status == 0 and len(root["Events"]) == 1 and "firmware" in root["Events"][0]["Message"],
        "new firmware is an event", root["Events"])

    rig.make("mlx5-ndr", "a")
    status, root = rig.json("a", "a")
    reasons = device(root, "mlx5_3")["Reasons"]
    tap(status == 1 and [r["Id"] for r in reasons] == ["pcie-degraded"] and "x8" in reasons[0]["Found"],
        "a PCIe link with half of its lanes, in two trees", (status, reasons))
    status, root = rig.json("a")
    tap(status == 0 and not device(root, "mlx5_3")["Reasons"], "... in one it may be saving power", status)

    rig.make("mlx5-bond", "a")
    b = rig.make("mlx5-bond", "b")
    net = (b / "sys/class/net/bond0").resolve()
    before = int((net / "carrier_down_count").read_text())
    (net / "carrier_down_count").write_text(f"{before + 3}\n")
    status, root = rig.json("a", "b")
    tap(status == 1 and port(root, "mlx5_bond_0")["Reasons"][0]["Id"] == "link-flapping",
        "a carrier count that rose: the link fell unseen", (status, port(root, "mlx5_bond_0")["Reasons"]))


def test_blips(tap, rig, update):
    """A link_downed that rose between two trees, with the port ACTIVE in both: falls as the daemon counts them."""
    def pair(**downs):
        for tree in ("a", "b"):
            own = class_device(whole(rig, tree), "mlx5_1") / "ports/1/counters/excessive_buffer_overrun_errors"
            replace(own, "15", "0")
            for name, values in downs.items():
                path = class_device(rig.directory / tree, name) / "ports/1/counters/link_downed"
                path.chmod(0o644)
                path.write_text(f"{values[tree == 'b']}\n")
        return rig.json("a", "b")

    def blips(root):
        return {p["Name"]: (p["Ports"][0]["FlapCount"], [r["Id"] for r in p["Ports"][0]["Reasons"]])
                for p in root["Devices"]}

    quiet = (0, [])
    status, root = pair(mlx5_0=(5, 6), mlx5_1=(3, 3))
    got = blips(root)
    tap(status == 0 and got == {"mlx5_0": (1, []), "mlx5_1": quiet, "mlx5_2": quiet, "mlx5_3": quiet},
        "link_downed 5 to 6: one blip, and no other port", (status, got))
    tap(len(root["Events"]) == 1 and "mlx5_0/1: link blip: down and up again" in root["Events"][0]["Message"],
        "... that is told", root["Events"])
    p = rig.run("a", "b", "--full")
    compare(tap, GOLDEN / "pair-blip.txt", normalise(p.stdout), update)
    status, root = pair(mlx5_0=(5, 9), mlx5_1=(254, 255), mlx5_2=(7, 2), mlx5_3=(255, 255))
    got = blips(root)
    tap(status == 1 and got["mlx5_0"] == (4, ["link-flapping"]), "5 to 9: flapping", (status, got))
    tap(got["mlx5_1"] == (1, ["counter-saturated"]), "254 to 255: one blip, and saturated", got)
    tap(got["mlx5_2"] == quiet, "7 to 2: a reset, no fall", got)
    tap(got["mlx5_3"] == (0, ["counter-saturated"]), "255 twice: nothing can be seen", got)
    p = rig.run("a", "b", "--full")
    compare(tap, GOLDEN / "pair-flapping.txt", normalise(p.stdout), update)

    for tree in ("a", "b"):
        rig.make("soft", tree)
    path = class_device(rig.directory / "b", "rxe0") / "ports/1/hw_counters/link_downed"
    path.write_text("2\n")
    got = port(rig.json("a", "b")[1], "rxe0")["FlapCount"]
    tap(got == 0, "Ethernet: the netdev's carrier counts are the better witness", repr(got))
    for tree in ("a", "b"):
        (rig.directory / tree / "sys/class/net/eth0").resolve().joinpath("carrier_up_count").unlink()
    got = port(rig.json("a", "b")[1], "rxe0")["FlapCount"]
    tap(got == 2, "... without them the driver's own counter tells", repr(got))


def test_input(tap, rig):
    (rig.directory / "nothing").mkdir()
    rig.put("file", "not an archive")
    for args, want in ((["nothing"], b"sys/class/infiniband"), (["nowhere"], b"No such file"),
                       (["file"], b"tar"), ([], b"TREE"), (["mlx4", "--interval=x"], b"time span"),
                       (["mlx4", "nothing"], b"nothing"), (["mlx4", "--host=x"], b"--host"),
                       (["mlx4", "--all"], b"--all")):
        p = rig.run(*args)
        tap(p.returncode == 3 and want in p.stderr and not p.stdout,
            f"inspect {' '.join(args)}: refused with 3", p)
    p = rig.run("mlx4", config="absent.conf")
    tap(p.returncode == 3 and b"absent.conf" in p.stderr, "no such configuration", p)
    rig.put("wrong.conf", "[Health]\nFlapCount=many\n")
    status, root = rig.json("mlx4", config="wrong.conf")
    tap(status == 1 and root["Reasons"][0]["Id"] == "config-invalid"
        and "wrong.conf:2" in root["Reasons"][0]["Found"], "a wrong line is named", (status, root["Reasons"]))
    rig.put("want.conf", "[Device mlx5_9]\nExpect=yes\n")
    status, root = rig.json("mlx4", config="want.conf")
    tap(status == 2 and root["Missing"][0]["Name"] == "mlx5_9", "a device that is configured is missed",
        (status, root["Missing"]))
    subprocess.run(["tar", "-C", rig.directory / "mlx4", "-czf", rig.directory / "mlx4.tar.gz", "."],
                   check=True)
    packed, plain = rig.json("mlx4.tar.gz"), rig.json("mlx4")
    for status, root in (packed, plain):
        for key in ("Timestamp", "Trees"):
            del root["Daemon"][key]
    tap(normalise(json.dumps(packed).encode()) == normalise(json.dumps(plain).encode()),
        "an archive is as good as the tree", packed)
    left = [p.name for p in rig.directory.glob("rdmactl.*")]
    tap(not left, "nothing is left of the archive", left)

    # Links out of a tree lead nowhere, and nothing outside is opened.
    t = rig.make("mlx4", "out")
    fw = class_device(t, "mlx4_0") / "fw_ver"
    fw.unlink()
    rig.put("secret", "1.2.3\n")
    fw.symlink_to(rig.directory / "secret")
    status, root = rig.json("out")
    tap(device(root, "mlx4_0")["FirmwareVersion"] is None, "a link out of the tree is not followed")


def test_collect(tap, rig):
    """The tree as this host's /sys, where that can be: what is collected of it is judged alike."""
    def collect(tree, *args, before=""):
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": str(rig.directory),
               "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1"}
        inner = f'mount --bind "$0/sys" /sys && {before} exec "$@"'
        return subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", inner,
                               rig.directory / tree, rig.rdmactl, "collect", *args],
                              env=env, cwd=rig.directory, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)

    rig.make("mlx4", "own")
    if subprocess.run(["unshare", "--mount", "--map-root-user", "mount", "--bind",
                       rig.directory / "own/sys", "/sys"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        tap(True, "collect # SKIP no mount namespace")
        return

    def judged(name):
        root = rig.json(name)[1]
        for key in ("Timestamp", "Trees"):
            del root["Daemon"][key]
        return normalise(json.dumps(root, indent=1).encode())

    for tree in trees():
        rig.make(tree, tree)
        p = collect(tree, f"{tree}.tgz")
        tap(p.returncode == 0, f"collect of {tree}", p)
        want, got = judged(tree), judged(f"{tree}.tgz")
        tap(want == got, f"{tree}: what is collected says the same",
            "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(), "tree", "collected",
                                           lineterm="", n=0)))
    file = rig.directory / "mlx4.tgz"
    tap(file.stat().st_mode & 0o777 == 0o600, "collect: mode 0600")
    before = file.read_bytes()
    p = collect("mlx4", "mlx4.tgz")
    tap(p.returncode == 1 and b"exists" in p.stderr and file.read_bytes() == before,
        "collect: nothing is written over", p)
    p = collect("mlx4", "--force", "mlx4.tgz")
    tap(p.returncode == 0 and file.read_bytes() != before, "collect --force", p)
    p = collect("mlx4", "new/")
    names = {str(x.relative_to(rig.directory / "new")) for x in (rig.directory / "new").rglob("*")}
    tap(p.returncode == 0 and {"versions", "left-out", "journal.export", "proc/version",
                               "sys/class/infiniband/mlx4_0"} <= names, "collect into a directory", names)
    p = collect("mlx4", "--force", "new/")
    tap(p.returncode == 1, "collect: never over a directory", p)
    p = collect("mlx4", "nowhere/x.tgz")
    tap(p.returncode == 1 and p.stderr, "collect: where nothing can be written", p)
    tap(collect("mlx4", "a", "b").returncode == 2, "collect: one file")
    p = collect("mlx4", "closed.tgz", before='exec sh -c \'"$@" <&- >&- 2>&-\' sh "$@"; ')
    tap(p.returncode == 1 and (rig.directory / "closed.tgz").exists() and judged("closed.tgz") == judged("mlx4"),
        "collect: without stdin, stdout and stderr it is the same but for what is said", p)

    # A disk without room: nothing is left of the tree, and what was there stays.
    full = rig.directory / "full"
    full.mkdir()
    for room, args, where in (("64k", ["full/new/"], b"full/new/"), ("4k", ["full/x.tgz"], b"full/x.tgz"),
                              ("64k", ["x.tgz"], b"full/rdmactl.")):
        tmp = 'TMPDIR="$PWD/full" ' if args == ["x.tgz"] else ""
        p = collect("mlx5-ndr", *args, before=f'mount -t tmpfs -o size={room} tmpfs full && {tmp}'
                    'sh -c \'"$@"; r=$?; find full -mindepth 1 >&2; exit $r\' sh "$@"; exit; ')
        tap(p.returncode == 1 and where in p.stderr and p.stderr.endswith(b": No space left on device\n"),
            f"collect {args[0]}: a full disk is named, nothing is left", p)
    left = [p.name for p in rig.directory.glob("*rdmactl.*")] + \
        [p.name for p in rig.directory.glob("*.tgz.*")]
    tap(not left, "collect: nothing is left", left)


def main():
    args = sys.argv[1:]
    update = "--update" in args
    rdmactl, = (a for a in args if not a.startswith("--"))
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(rdmactl, directory)
        test_golden(tap, rig, update)
        test_values(tap, rig)
        test_one_bad_attribute(tap, rig)
        test_bad_netdev(tap, rig)
        test_pairs(tap, rig)
        test_blips(tap, rig, update)
        test_input(tap, rig)
        test_collect(tap, rig)
        # What is closed to its owner, too, is to be removable.
        subprocess.run(["chmod", "-R", "u+rwx", directory], check=False, stderr=subprocess.DEVNULL)
    sys.exit(tap.end())


main()
