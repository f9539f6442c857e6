#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs rdmactl on the state files of fixtures.py, and on a bus of its own with a mock of the daemon.

    run.py RDMACTL MOCK-DAEMON            compare with tests/rdmactl/golden/, TAP on stdout
    run.py RDMACTL MOCK-DAEMON --update   write the golden files anew (then read the diff)

The process itself plays the daemon that wrote the files: it takes the name "rdmad" and puts its own
number in them.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import fixtures
from rig import GOLDEN, TOP, Bus, Rig, harmless
from tap import Tap

# fixture: exit statuses of check and of the other read verbs
STATUS = {
    "healthy": (0, 0), "softroce": (0, 0), "port_down": (2, 0), "eight_one_down": (2, 0),
    "unresponsive": (3, 0), "missing": (2, 0), "flapping": (1, 0), "classes": (1, 0), "starting": (1, 0),
    "ignored": (0, 0), "setup_failed": (1, 0), "many": (2, 0), "all_down": (2, 0),
    "nothing": (0, 0), "dead": (3, 3), "sparse": (3, 0), "hostile": (2, 0), "truncated": (3, 1),
    "topology": (0, 0), "odd_topology": (0, 0), "garbage": (3, 1), "empty": (3, 1), "array": (3, 1), "absent": (3, 3),
}


def test_golden(tap, rig, update):
    for fixture in fixtures.ALL:
        name = fixture.__name__
        check_status, status = STATUS[name]
        parts = []
        for args in (["status"], ["list"], ["show"], ["show", "*", "*/*"], ["topo"], ["check"]):
            # Two of the big ones would only repeat themselves.
            if name in ("many", "all_down") and args in (["show", "*", "*/*"], ["topo"]):
                continue
            rig.put(fixture)
            p = rig.run(*args)
            want = check_status if args == ["check"] else status
            if name == "nothing" and "*" in args:
                want = 1
            tap(p.returncode == want, f"{name}: {' '.join(args)} exits with {want}",
                f"{p.returncode}: {p.stderr.decode()}")
            parts.append(f"$ rdmactl {' '.join(args)}\n{rig.normalise(p.stdout)}"
                         + "".join(f"stderr: {line}\n"
                                   for line in rig.normalise(p.stderr).splitlines())
                         + f"[{p.returncode}]\n")
        got = "\n".join(parts)
        path = GOLDEN / f"{name}.txt"
        if update:
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(got)
        want = path.read_text() if path.exists() else ""
        diff = ""
        if got != want:
            import difflib
            diff = "\n".join(difflib.unified_diff(want.splitlines(), got.splitlines(),
                                                  "golden", "now", lineterm=""))
        tap(got == want, f"{name}: text is as in golden/{path.name}", diff)


def test_width(tap, rig):
    for fixture in fixtures.ALL:
        rig.put(fixture)
        for verb in ("status", "list", "topo"):
            p = rig.run(verb)
            lines = p.stdout.decode().splitlines()
            # Commands and names of one word are never broken.
            wide = [x for x in lines if len(x) > 80 and not x.lstrip().startswith("try:")
                    and any(len(w) < 60 for w in x.split()) and "\\x" not in x]
            tap(not wide, f"{fixture.__name__}: {verb} stays within 80 columns", "\n".join(wide))
        p = rig.run("status", COLUMNS="64")
        tap(b"(, " not in p.stdout, f"{fixture.__name__}: a shorter verdict is a sentence", p.stdout[:200])
    rig.put(fixtures.eight_one_down)
    p = rig.run("list", COLUMNS="4294967295")
    tap(p.returncode == 0 and len(p.stdout) < 5000, "list: a width that nothing has is no table of that width", p.stderr)
    n = len(rig.run("status").stdout.splitlines())
    tap(n <= 23, "8 ports, one down, fit 80x24", n)
    rig.put(fixtures.many)
    n = len(rig.run("status").stdout.splitlines())
    tap(n <= 23, "256 ports, two down, fit 80x24", n)
    tap(len(rig.run("status", "--full").stdout.splitlines()) > 256, "--full lists every port")


def test_hostile(tap, rig):
    rig.put(fixtures.hostile)
    for args in (["status"], ["list"], ["show"], ["show", "*", "*/*"], ["check"], ["topo"],
                 ["topo", "--json"], ["check", "nothing\x1b[31m"], ["status", "--full"], ["\x1b[31m"],
                 ["--json=\x1b[31m"], ["status", "--json"], ["list", "--json=short"]):
        p = rig.run(*args)
        tap(harmless(p.stdout) and harmless(p.stderr), f"hostile: {args!r} is harmless", p.stdout)
    status, out = rig.run_on_terminal("status", "--no-pager")
    escapes = set(re.findall(rb"\x1b[^m]*m?", out))
    tap(harmless(out, True) and escapes <= {b"\x1b[0m", b"\x1b[1m", b"\x1b[2m", b"\x1b[31;1m",
                                            b"\x1b[32;1m", b"\x1b[33;1m"},
        "hostile: on a terminal only our own colours", escapes)
    p = rig.run("status")
    tap(b"try: " not in p.stdout or b"$(" not in b"".join(
        x for x in p.stdout.splitlines() if b"try: " in x), "hostile: no command to paste has it")


def test_json(tap, rig):
    def verbs():
        yield from (["status"], ["list"], ["show"], ["show", "*", "*/*"], ["check"], ["topo"],
                    ["status", "mlx5_0/1"], ["list", "nosuch"], ["show", "nosuch"],
                    ["check", "nosuch"], [])

    for fixture in fixtures.ALL:
        for args in verbs():
            for option in ("--json", "--json=short"):
                rig.put(fixture)
                p = rig.run(*args, option)
                try:
                    v = json.loads(p.stdout)
                    ok = isinstance(v, dict) and "Running" in v["Daemon"] or \
                        fixture.__name__ == "sparse"
                except (ValueError, KeyError) as e:
                    v, ok = e, False
                tap(ok, f"{fixture.__name__}: {' '.join(args)} {option} is JSON", f"{v}\n{p.stdout}")
    rig.put(fixtures.absent)
    p = rig.run("status", "--json=short")
    tap(p.stdout == b'{"Daemon":{"Running":false}}\n' and p.returncode == 3,
        "daemon away: the JSON says so and nothing else", p.stdout)
    rig.put(fixtures.dead)
    p = rig.run("--json")
    tap(json.loads(p.stdout)["Daemon"]["Running"] is False and p.returncode == 3,
        "dead daemon: Running is false whatever the file says")
    rig.put(fixtures.eight_one_down)
    v = json.loads(rig.run("--json", "status", "mlx5_3/1", "mlx5_5").stdout)
    tap([d["Name"] for d in v["Devices"]] == ["mlx5_3", "mlx5_5"], "status --json filters")
    whole = json.loads(rig.run("--json").stdout)
    tap(whole == json.loads(rig.file.read_text()), "status --json is the description itself")
    v = json.loads(rig.run("check", "--json").stdout)
    tap(v["ExitStatus"] == 2 and v["Objects"][0]["Object"] == "mlx5_3/1"
        and v["Objects"][0]["Reasons"][0]["Id"] == "port-down", "check --json names what failed", v)
    off, text = (re.sub(r"written .* ago", "", rig.normalise(rig.run("status", *x).stdout)) for x in (["--json=off"], []))
    tap(off == text, "--json=off is text", off)
    tap(rig.run("--json=help").stdout.split() == [b"pretty", b"short", b"off"], "--json=help")


def test_check(tap, rig):
    rig.put(fixtures.eight_one_down)
    for args, status in ((["mlx5_0"], 0), (["mlx5_3"], 2), (["mlx5_3/1"], 2), (["mlx5_*/1"], 2),
                         (["mlx5_[012]"], 0), (["mlx5_0", "mlx5_3/*"], 2), (["nosuch"], 3),
                         (["--bogus"], 3), (["--json=xml"], 3)):
        p = rig.run("check", *args)
        tap(p.returncode == status, f"check {' '.join(args)} exits with {status}",
            f"{p.returncode} {p.stdout}")
    p = rig.run("check")
    tap(p.stdout == b"rdma FAILED: mlx5_3/1 port-down\n", "check names what failed", p.stdout)
    rig.put(fixtures.healthy)
    first = rig.run("check").stdout
    healthy2 = lambda now, pid: fixtures.state(now, pid, [fixtures.device(now, 6, Name="ibp9s0")])
    rig.put(healthy2)
    tap(first == rig.run("check").stdout == b"rdma OK: 1 port ok\n",
        "check is the same on hosts that differ only in names", first)
    for fixture in fixtures.ALL:
        rig.put(fixture)
        p = rig.run("check")
        tap(p.stdout.count(b"\n") == 1 and p.stdout.startswith(b"rdma ") and not p.stderr,
            f"{fixture.__name__}: check is one line", p.stdout + p.stderr)
    rig.put(fixtures.healthy)
    with open("/dev/full", "wb") as full:
        p = subprocess.run([rig.rdmactl, "check"], env=rig.env(), cwd=rig.directory, stdout=full,
                           stderr=subprocess.DEVNULL)
        tap(p.returncode == 3, "check that nobody can read is not ok", p.returncode)
        p = subprocess.run([rig.rdmactl, "list"], env=rig.env(), cwd=rig.directory, stdout=full,
                           stderr=subprocess.DEVNULL)
        tap(p.returncode == 1, "list that cannot be written fails", p.returncode)


def test_check_options(tap, rig):
    ok, classes, healthy, failed = fixtures.healthy, fixtures.classes, fixtures.healthy, fixtures.port_down
    for fixture, args, status, line in (
            # what fails
            (classes, [], 1, b"rdma DEGRADED: host setup-failed, mlx5_0/1 width-degraded, "
                             b"mlx5_2 device-unresponsive"),
            (classes, ["--fail-on=degraded"], 1, b"rdma DEGRADED: "),
            (classes, ["--fail-on=failed"], 3, b"rdma DEGRADED: "),
            (classes, ["--fail-on=failed", "mlx5_0"], 0, b"rdma DEGRADED: mlx5_0/1 width-degraded"),
            (classes, ["--fail-on=unknown"], 2, b"rdma DEGRADED: "),
            (failed, ["--fail-on=failed"], 2, b"rdma FAILED: "),
            (fixtures.unresponsive, ["--fail-on=failed"], 3, b"rdma UNKNOWN: "),
            (fixtures.unresponsive, ["--fail-on=unknown"], 2, b"rdma UNKNOWN: "),
            (fixtures.starting, [], 1, b"rdma STARTING: "),
            (fixtures.starting, ["--fail-on=failed"], 0, b"rdma STARTING: "),
            (fixtures.dead, ["--fail-on=failed"], 3, b"rdma UNKNOWN: "),
            # classes
            (classes, ["--class=setup"], 1, b"rdma DEGRADED: host setup-failed\n"),
            (classes, ["--class=device"], 3, b"rdma UNKNOWN: mlx5_2 device-unresponsive\n"),
            (classes, ["--class=link", "mlx5_0", "mlx5_1"], 1, b"rdma DEGRADED: mlx5_0/1 width-degraded\n"),
            (classes, ["--class=link", "mlx5_2"], 3, b"rdma UNKNOWN: mlx5_2/1"),
            (classes, ["--class=fabric"], 0, b"rdma OK: 3 ports ok\n"),
            (classes, ["--class=fabric,config,monitor"], 0, b"rdma OK: 3 ports ok\n"),
            (classes, ["--class=link,setup"], 1, b"rdma DEGRADED: host setup-failed, mlx5_0/1 width"),
            (failed, ["--class=device"], 0, b"rdma OK: 1 port ok\n"),
            (failed, ["--class=link"], 2, b"rdma FAILED: mlx5_0/1 port-down\n"),
            (fixtures.missing, ["--class=link"], 0, b"rdma OK: 1 port ok, 1 device missing\n"),
            (fixtures.missing, ["--class=device"], 2, b"rdma FAILED: mlx5_1 device-missing\n"),
            (fixtures.starting, ["--class=link"], 1, b"rdma STARTING: mlx5_0/1\n"),
            (fixtures.starting, ["--class=setup"], 0, b"rdma OK: 1 port ok\n"),
            (fixtures.ignored, ["--class=link"], 0, b"rdma OK: 1 of 4 ports ok, 3 ignored\n"),
            # groups
            (classes, ["--group=compute"], 1, b"rdma DEGRADED: mlx5_0/1 width-degraded\n"),
            (classes, ["--group=storage"], 0, b"rdma OK: 1 port ok\n"),
            (classes, ["--group=old"], 3, b"rdma UNKNOWN: mlx5_2 device-unresponsive\n"),
            (classes, ["--group=nosuch"], 3, b"rdma UNKNOWN: no port here is of that group\n"),
            (classes, ["--group=compute", "mlx5_1"], 3, b"rdma UNKNOWN: no port here"),
            # acknowledged
            (classes, ["--ignore-acked", "mlx5_0"], 0, b"rdma OK: 1 port ok\n"),
            (classes, ["--ignore-acked"], 1, b"rdma DEGRADED: host setup-failed, mlx5_2 device-unr"),
            (fixtures.flapping, ["--ignore-acked"], 0, b"rdma OK: 1 port ok\n"),
            # numbers
            (healthy, ["--perfdata"], 0, b"rdma OK: 1 port ok | ports=1 ok=1 ignored=0 starting=0;0 "
                                         b"unknown=0 degraded=0;0 failed=0;;0 missing=0\n"),
            (fixtures.missing, ["--perfdata"], 2, b"rdma FAILED: mlx5_1 device-missing | ports=1 ok=1 "),
            # for others
            (healthy, ["--exit=nagios", "--perfdata"], 0, b"RDMA OK - 1 port ok | ports=1 ok=1 "),
            (classes, ["--exit=nagios"], 1, b"RDMA WARNING - host setup-failed, "),
            (failed, ["--exit=nagios"], 2, b"RDMA CRITICAL - mlx5_0/1 port-down\n"),
            (fixtures.unresponsive, ["--exit=nagios"], 3, b"RDMA UNKNOWN - mlx5_1 device-unresponsive\n"),
            (fixtures.absent, ["--exit=nagios"], 3, b"RDMA UNKNOWN - "),
            (classes, ["--exit=nagios", "--fail-on=failed", "mlx5_0"], 0, b"RDMA OK - mlx5_0/1 width"),
            (healthy, ["--exit=npd"], 0, b"rdma OK: 1 port ok\n"),
            (classes, ["--exit=npd"], 1, b"rdma DEGRADED: "),
            (failed, ["--exit=npd"], 1, b"rdma FAILED: mlx5_0/1 port-down\n"),
            (fixtures.unresponsive, ["--exit=npd"], 2, b"rdma UNKNOWN: "),
            (fixtures.starting, ["--exit=npd"], 2, b"rdma STARTING: "),
            (fixtures.absent, ["--exit=npd"], 2, b"rdma UNKNOWN: "),
            (fixtures.all_down, ["--exit=npd", "--perfdata"], 1, b"rdma FAILED: mlx5_0/1 port-down, "),
            (healthy, ["--exit=bool"], 0, b"rdma OK: 1 port ok\n"),
            (classes, ["--exit=bool"], 1, b"rdma DEGRADED: "),
            (fixtures.unresponsive, ["--exit=bool"], 1, b"rdma UNKNOWN: "),
            (fixtures.absent, ["--exit=bool"], 1, b"rdma UNKNOWN: "),
            # usage: nothing is ever ok
            (healthy, ["--fail-on=ok"], 3, b""), (healthy, ["--class="], 3, b""),
            (healthy, ["--class=link,nosuch"], 3, b""), (healthy, ["--exit=zabbix"], 3, b""),
            (healthy, ["--exit=npd", "--bogus"], 2, b""), (healthy, ["--exit=bool", "--follow"], 1, b""),
            (healthy, ["--since=soon"], 3, b"rdma UNKNOWN: --since= is not a time\n")):
        rig.put(fixture)
        p = rig.run("check", *args)
        tap(p.returncode == status and p.stdout.startswith(line) and p.stdout.count(b"\n") == bool(line)
            and bool(p.stderr) == (not line) and ("--exit=npd" not in args or len(p.stdout) <= 81),
            f"{fixture.__name__}: check {' '.join(args)} exits with {status}", p)
        if line:
            rig.put(fixture)
            p = rig.run("check", "--json", *args)
            v = json.loads(p.stdout)
            tap(p.returncode == status == v["ExitStatus"], "... in JSON, too", p)
    rig.put(classes)
    v = json.loads(rig.run("check", "--json", "--class=link", "mlx5_0").stdout)
    tap([x["Object"] for x in v["Objects"]] == ["mlx5_0/1"], "check --json: what counts is there", v)
    # Notices change neither the line nor the status.
    lines = []
    for notices in (0, 1, 5):
        rig.put(lambda now, pid: fixtures.state(now, pid, [fixtures.device(now, ports=[fixtures.port(
            now, Reasons=[fixtures.reason(now, "rate-differs", "notice")] * notices)])]))
        p = rig.run("check", "--perfdata")
        lines.append((p.returncode, p.stdout))
    tap(len(set(lines)) == 1 and lines[0][0] == 0, "check: notices change nothing", lines)


def test_topo(tap, rig):
    rig.put(fixtures.topology)
    v = json.loads(rig.run("topo", "--json").stdout)
    p = v["Ports"][0]
    tap([g["Index"] for g in p["Gids"]] == [3, 1, 0, 2],
        "topo: RoCE v2 with a routed address first, link-local ones next", p["Gids"])
    tap([g["LinkLocal"] for g in p["Gids"]] == [False, True, True, False], "topo: link-local told")
    tap([(s["Lower"], s["Upper"], s["BelowMax"]) for s in p["PcieSegments"]] ==
        [("0000:1b:00.0", "0000:1a:01.0", False), ("0000:19:00.0", "0000:16:01.0", True)],
        "topo: a link is between two functions, and slow when both ends can more", p["PcieSegments"])
    p = v["Ports"][1]
    tap(p["Gids"][0]["LinkLocal"] is False, "topo: InfiniBand's default subnet is not link-local")
    tap(p["PcieSegments"][0]["Speed"] == 32000 and p["PcieSegments"][0]["BelowMax"] is False,
        "topo: what one end does not say the other does", p["PcieSegments"])
    p = v["Ports"][2]
    tap(p["Gids"] is None and p["PcieSegments"] is None, "topo: unknown is null, not empty", p)
    p = v["Ports"][3]
    tap(p["Gids"] == [] and p["PcieSegments"][0]["BelowMax"] is None, "topo: none, and cannot tell", p)
    tap(b"SLOW" in rig.run("topo", "mlx5_0").stdout and
        b"SLOW" not in rig.run("topo", "mlx5_[123]").stdout, "topo: slow links are marked")
    _, out = rig.run_on_terminal("topo", "mlx5_0", "--no-pager")
    tap(re.search(rb"\x1b\[33;1m[^\x1b]*SLOW", out), "topo: ... in colour", out)
    tap(b"and 15 more" in rig.run("topo", "mlx5_1").stdout and
        b"0x8014" in rig.run("topo", "mlx5_1", "--full").stdout, "topo: P_Keys are shortened")
    tap(rig.run("topo", "nosuch").returncode == 1, "topo: no such name")


def test_deadline(tap, rig):
    """A bus that accepts connections and says nothing, as dbus.socket does early at boot."""
    import socket
    path = str(rig.directory / "bus")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(8)
    held = []
    threading.Thread(target=lambda: held.append(server.accept()), daemon=True).start()
    for fixture, want in ((fixtures.port_down, 2), (fixtures.absent, 3)):
        rig.put(fixture)
        begin = time.monotonic()
        p = rig.run("check", RDMAD_BUS="yes", DBUS_SYSTEM_BUS_ADDRESS="unix:path=" + path)
        took = time.monotonic() - begin
        tap(p.returncode == want and took < 5,
            f"a mute bus: check answers within 5 s ({fixture.__name__})", f"{took} {p.stdout}")
    rig.put(fixtures.absent)
    p = rig.run("check", "--exit=npd", RDMAD_BUS="yes", DBUS_SYSTEM_BUS_ADDRESS="unix:path=" + path)
    tap(p.returncode == 2 and p.stdout.count(b"\n") == 1 and len(p.stdout) <= 81,
        "a mute bus: check --exit=npd", p)
    os.unlink(rig.file) if rig.file.exists() else None
    os.mkfifo(rig.file)
    begin = time.monotonic()
    p = rig.run("check")
    tap(p.returncode == 3 and time.monotonic() - begin < 5, "a pipe for a state file", p.stdout)
    os.unlink(rig.file)
    rig.put(fixtures.healthy)
    p = rig.run("list", RDMAD_BUS="yes", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
    tap(p.returncode == 0 and b"no system bus" in p.stderr, "without a bus: the file, and why",
        p.stderr)


def test_counters(tap, rig, bus):
    now = time.time()
    rig.put(fixtures.healthy)
    file, saved = rig.directory / "counters.json", rig.directory / "saved"

    def put(v):
        file.write_text(json.dumps(v))

    def lines(*args, **env):
        p = bus.run("counters", *args)
        return p, [x.split() for x in p.stdout.decode().splitlines()]

    p = bus.run("counters")
    tap(p.returncode == 3 and not p.stdout and b"state file does not hold" in p.stderr,
        "counters: the state file is not asked", p)
    p = bus.run("counters", "--json=short")
    tap(p.returncode == 3 and p.stdout == b'{"Daemon":{"Running":false}}\n', "... in JSON, too", p)
    put(fixtures.counters(now))
    bus.play(str(rig.file), str(file))
    p, rows = lines()
    cells = {r[1]: r[2:] for r in rows if len(r) > 2 and r[0] == "mlx5_0/1"}
    tap(p.returncode == 0 and not p.stderr and set(cells) == {
        "out_of_sequence", "local_ack_timeout_err", "port_xmit_data", "link_downed", "symbol_error"},
        "counters: errors above 0 or unreadable, what changed, what is saturated", p.stdout)
    tap(cells["out_of_sequence"][:3] == ["17", "+3", "0.25/s"], "counters: value, change and rate",
        cells)
    tap(cells["port_xmit_data"][:6] == ["4.0", "GB", "+1.0", "GB", "10.0", "MB/s"],
        "counters: units of four bytes become bytes", cells)
    tap(cells["local_ack_timeout_err"][:3] == ["-", "-", "-"], "counters: unreadable is not 0", cells)
    tap("saturated" in cells["link_downed"], "counters: saturated", cells)
    tap("stale," in cells["symbol_error"] and "reset" in cells["symbol_error"],
        "counters: stale, reset", cells)
    tap(b"5 counters are not shown" in p.stdout and b"--all" in p.stdout, "counters: how many are hidden",
        p.stdout)
    tap(b"Without PMA counters: EINVAL" in p.stdout and b": mlx5_1/1" in p.stdout and harmless(p.stdout),
        "counters: what could not be read, harmless", p.stdout)
    p, rows = lines("--all", "mlx5_0")
    tap(len(rows) == 9 and b"not shown" not in p.stdout and b"mlx5_1" not in p.stdout,
        "counters: --all, and of one device", p.stdout)
    p, rows = lines("--full", "mlx5_0/1")
    tap(b"4000000000 B" in p.stdout, "counters: --full gives the bytes", p.stdout)
    tap(lines("nosuch")[0].returncode == 1, "counters: no such name")
    p = bus.run("counters", "--json", "nosuch")
    tap(p.returncode == 1 and json.loads(p.stdout)["Ports"] == [] and b"nosuch" not in p.stdout, "... is JSON, too", p)
    v = json.loads(bus.run("counters", "--json", "mlx5_0").stdout)
    tap(v["Daemon"]["Running"] and v["Ports"] == fixtures.counters(now)["Ports"][:1],
        "counters: the JSON is what the daemon said", v)

    # saved, and compared
    saved.unlink(missing_ok=True)
    p = bus.run("counters", "--save", str(saved))
    tap(p.returncode == 0 and not p.stdout and not p.stderr and saved.exists(), "counters: --save", p)
    v = json.loads(saved.read_text())
    boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    tap(v["BootId"] == boot_id and abs(v["Saved"] / 1e6 - now) < 60
        and list(rig.directory.glob("saved.*")) == [], "counters: the file has time and boot", v)
    later = fixtures.counters(now + 10)
    first = {c["Name"]: c for c in later["Ports"][0]["Counters"]}
    first["out_of_sequence"]["Value"] = 37
    first["packet_seq_err"].update(Value=5, Resets=1)
    first["symbol_error"]["Value"] = 2
    first["port_xmit_data"]["Value"] += 1000
    later["Ports"][0].update(Object="ibp27s0/1", Device="ibp27s0")
    later["Ports"].append(fixtures.counters_of(7, [fixtures.counter(now, "cmds_err", 1)]))
    put(later)
    p, rows = lines("--since", str(saved))
    cells = {r[1]: r[2:] for r in rows if len(r) > 2 and r[0] == "ibp27s0/1"}
    tap(p.returncode == 0 and cells["out_of_sequence"][:3] == ["37", "+20", "2.00/s"],
        "counters: --since FILE, of a port that was renamed", p)
    tap(cells["symbol_error"][1] == "reset" and cells["packet_seq_err"][1] == "reset",
        "counters: backwards is a reset, and so is what the daemon saw", cells)
    tap("+4.0" in cells["port_xmit_data"] and "link_downed" not in cells,
        "counters: differences of bytes; none of what did not change", cells)
    tap(cells["local_ack_timeout_err"][:3] == ["-", "-", "-"], "counters: an unknown difference", cells)
    tap(b"was mlx5_0/1 then" in p.stdout and b"mlx5_7/1: not in the file" in p.stdout
        and b"booted" not in p.stdout, "counters: what was renamed, what is new", p.stdout)
    v = json.loads(bus.run("counters", "--json", "--since", str(saved)).stdout)
    d = {c["Name"]: c for c in v["Ports"][0]["Counters"]}
    tap(v["Rebooted"] is False and v["Ports"][0]["OldObject"] == "mlx5_0/1"
        and d["out_of_sequence"]["Difference"] == 20 and d["symbol_error"]["Reset"] is True
        and d["symbol_error"]["Difference"] is None and d["active_qps"]["Difference"] is None
        and v["Ports"][3]["OldObject"] is None, "counters: differences in JSON", v)
    v = json.loads(saved.read_text())
    v["BootId"] = "00000000-0000-0000-0000-000000000000"
    saved.write_text(json.dumps(v))
    tap(b"booted anew" in lines("--since", str(saved))[0].stdout, "counters: a reboot in between is told")

    test_counter_identity(tap, bus, put, saved)
    put(fixtures.odd_counters())
    for args in (["--all"], ["--json"], ["--all", "--since", str(saved)], ["--since", str(saved), "--json"]):
        p = bus.run("counters", *args)
        tap(p.returncode == 0 and harmless(p.stdout) and not p.stderr,
            f"counters: odd ones, {args[0]} {len(args)}", p)
    put(fixtures.many_counters(now))
    bus.run("counters", "--save", str(saved))
    begin = time.monotonic()
    p = bus.run("counters", "--all")
    q = bus.run("counters", "--all", "--since", str(saved))
    took = time.monotonic() - begin
    tap(p.stdout.count(b"\n") == 25601 and q.stdout.count(b"\n") == 25602 and took < 20,
        "counters: of 256 ports", took)

    for name, content in (("text", b"hello"), ("json", b'{"Daemon":{}}'), ("array", b"[]"),
                          ("empty", b""), ("cut", saved.read_bytes()[:300])):
        wrong = rig.directory / "wrong"
        wrong.write_bytes(content)
        p = bus.run("counters", "--since", str(wrong))
        tap(p.returncode == 1 and not p.stdout and b"not a file that" in p.stderr,
            f"counters: --since a file of {name}", p)
    for path in ("/nonexistent/x", str(rig.directory), "/dev/null"):
        p = bus.run("counters", "--since", path)
        tap(p.returncode == 1 and p.stderr.count(b"\n") == 1, f"counters: --since {path}", p)
        p = bus.run("counters", "--save", path)
        tap(p.returncode == 1 and p.stderr.count(b"\n") == 1, f"counters: --save {path}", p)
    tap(pathlib.Path("/dev/null").is_char_device(), "counters: a device node is not replaced")

    test_watch(tap, rig, bus)
    bus.play("-r")
    p = bus.run("counters")
    tap(p.returncode == 1 and b"refuses" in p.stderr, "counters: refused", p)


def test_events_remote(tap, rig):
    """ssh is a script that runs the command here and tells what it was given."""
    ssh, said = rig.directory / "ssh", rig.directory / "ssh-said"
    ssh.write_text(f"""#!/bin/sh
printf '%s\\n' "$@" >{said}
[ "$3" != broken ] || exit 255
rdmactl() {{ printf '%s|' "$@"; printf '\\033[31m\\n'; return 1; }}
eval "$4"
""")
    ssh.chmod(0o755)
    env = {"PATH": f"{rig.directory}:{os.environ['PATH']}"}
    p = rig.run("events", "-H", "root@there", "--since=1h ago", "-n5", "--kind=state", "-f", "it's", "$(x)",
                **env)
    tap(said.read_text().splitlines()[:4] == ["-xT", "--", "root@there",
        "COLUMNS=80 rdmactl events --no-pager --follow --lines=5 '--since=1h ago' '--kind=state' -- "
        "'it'\\''s' '$(x)'"], "events -H: what ssh is given", said.read_text())
    tap(p.stdout.decode().startswith("events|--no-pager|--follow|--lines=5|--since=1h ago|--kind=state|"
                                     "--|it's|$(x)|") and harmless(p.stdout) and p.returncode == 1,
        "events -H: what comes back, harmless", p)
    tap(rig.run("events", "-H", "broken", **env).returncode == 1, "events -H: ssh that fails")
    said.unlink()
    tap(rig.run("events", "-H", "there", "--since=soon", **env).returncode == 2 and not said.exists(),
        "events -H: usage is looked at here")


def test_counter_identity(tap, bus, put, saved):
    """Which port of the file is which port now."""
    zero, twin = "0000:0000:0000:0000", "0a7f:bc12:45ef:d2aa"

    def port(name, guid, number, value):
        return {"Object": name, "NodeGuid": guid, "Number": number,
                "Counters": [{"Name": "x_err", "Source": "hw", "Value": value, "Resets": 0}]}

    put({"Ports": [port("a/1", zero, 1, 10), port("b/1", zero, 1, 20), port("c/1", twin, 1, 30),
                   port("c/2", twin, 2, 40), port("d/1", twin, 1, 50), port("e/1", None, 1, 60)]})
    bus.run("counters", "--save", str(saved))
    put({"Ports": [port("b/1", zero, 1, 21), port("z/1", zero, 1, 11), port("d/1", twin, 1, 53),
                   port("y/1", twin, 1, 34), port("y/2", twin, 2, 45), port("e/1", None, 1, 66)]})
    v = json.loads(bus.run("counters", "--json", "--since", str(saved)).stdout)
    got = {p["Object"]: (p["OldObject"], p["Counters"][0]["Difference"]) for p in v["Ports"]}
    tap(got == {"b/1": ("b/1", 1), "z/1": (None, None), "d/1": ("d/1", 3), "y/1": (None, None),
                "y/2": ("c/2", 5), "e/1": ("e/1", 6)},
        "counters: a GUID of zeros or of several is no identity, and then the name is", got)


def test_watch(tap, rig, bus):
    import signal

    def start(*args, **more):
        return subprocess.Popen([rig.rdmactl, "counters", *args], env=rig.env(**bus.env),
                                cwd=rig.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    for sig in (signal.SIGINT, signal.SIGTERM):
        w = start("--watch=0.2", "mlx5_2", "--all")
        while w.stdout.readline().strip() != b"":
            pass  # a block has ended: the next one is on its way
        w.send_signal(sig)
        out, err = w.communicate(timeout=30)
        tap(w.returncode == 0 and not err, f"counters: --watch ends well by {sig.name}", (w, err))
    w = start("--watch=0.2", "--json=short")
    for _ in range(2):
        v = json.loads(w.stdout.readline())
    w.stdout.close()
    tap(w.wait(timeout=30) == 0 and v["Ports"] and not w.stderr.read(),
        "counters: --watch ends well when nobody reads")
    w.stderr.close()
    w = start("--watch=3600")
    w.stdout.readline()
    w.stdout.close()
    tap(w.wait(timeout=30) == 0, "counters: ... at once, not when it would write again")
    w.stderr.close()


def test_baseline(tap, rig, bus):
    learned = {"Daemon": {"Running": True, "LearningPersists": False}, "Baseline": [
        {"Object": "mlx5_0/1", "Device": "mlx5_0", "Number": 1, "NodeGuid": "0002:c903:00aa:0010",
         "PciAddress": "0000:3b:00.0", "BestRate": 400000, "BestWidth": "4X", "BestSpeed": "NDR",
         "LearnedSince": 1700000000000000, "Present": True, "LastSeen": 1700000100000000},
        {"Object": "vf\u001b[31m/2", "Device": "vf", "Number": 2, "NodeGuid": None,
         "PciAddress": "0000:5e:00.2", "BestRate": 2500, "BestWidth": None, "BestSpeed": None,
         "LearnedSince": None, "Present": False, "LastSeen": 1600000000000000}]}
    file = pathlib.Path(rig.directory, "baseline.json")
    file.write_text(json.dumps(learned))
    bus.play(str(rig.file), str(file))
    p = bus.run("baseline")
    lines = p.stdout.decode().splitlines()
    tap(p.returncode == 0 and lines[1].split()[:6] == ["mlx5_0/1", "0002:c903:00aa:0010", "0000:3b:00.0",
        "400", "Gb/s", "2023-11-14"] and lines[1].endswith("here"), "baseline: a table", p)
    tap(b"\x1b" not in p.stdout and lines[2].split()[1:5] == ["-", "0000:5e:00.2", "2.5", "Gb/s"] and
        "2020-09-13" in lines[2], "baseline: ... of what is not here, harmless", p)
    tap(lines[4] == "2 ports learned." and "None of it outlives this boot" in lines[5],
        "baseline: ... and that it does not persist", p)
    for pattern, n in (("mlx5_*", 1), ("mlx5_0/1", 1), ("0000:5e:00.2", 1), ("0002:*", 1), ("x", 0)):
        p = bus.run("baseline", "show", pattern, "--json=short")
        tap(p.returncode == 0 and len(json.loads(p.stdout)["Baseline"]) == n,
            f"baseline: show {pattern} as JSON", p)
    for args in (["show"], ["save"]):
        p = bus.run("baseline", *args, "--as-config")
        text = p.stdout.decode()
        tap(p.returncode == 0 and
            "[Port */1 guid=0002:c903:00aa:0010]\nExpect=up\nMinRate=400Gb/s\n" in text and
            "[Port */2 pci=0000:5e:00.2]\nExpect=up\nMinRate=2500Mb/s\n" in text,
            f"baseline: {args[0]} --as-config", p)
    for args, told, said in (
            (["save"], b"SaveBaseline\n", b"0 ports learned that were not before.\n"),
            (["save", "mlx5_0/1"], b"SaveBaseline mlx5_0/1\n",
             b"1 port learned that was not before.\n"),
            (["drop", "a", "0002:c903:00aa:0010"], b"DropBaseline a 0002:c903:00aa:0010\n",
             b"What was learned of 2 ports is forgotten.\n")):
        p = bus.run("baseline", *args)
        got = bus.daemon.stdout.readline()
        tap(p.returncode == 0 and got == told and p.stdout == said and not p.stderr,
            f"baseline {' '.join(args)}", (got, p))
    tap(bus.run("baseline", "frobnicate").returncode == 2, "baseline: no such action")
    tap(bus.run("baseline", "drop", "--as-config").returncode == 2, "baseline: drop --as-config")
    p = bus.run("baseline", "drop", "--json")
    tap(p.returncode == 2 and b"--json is for show" in p.stderr, "baseline: drop --json", p)
    bus.play("-r")
    for args in ([], ["save"], ["drop", "x"]):
        p = bus.run("baseline", *args)
        tap(p.returncode == 1 and b"refuses" in p.stderr, "baseline that is refused", p)
    bus.stop()
    p = bus.run("baseline", "--json")
    tap(p.returncode == 3 and json.loads(p.stdout) == {"Daemon": {"Running": False}}, "baseline without a daemon", p)


def test_release(tap, rig, bus):
    bus.play(str(rig.file))
    for args, told, said in (
            (["mlx5_0"], b"release mlx5_0 900000000\n", b"mlx5_0: released for 15min\n"),
            (["mlx5_0/1", "rxe0", "--for=1h"], b"release mlx5_0 rxe0 3600000000\n",
             b"mlx5_0/1: its device is released for 1h\nrxe0: released for 1h\n"),
            (["rxe0", "--for=0"], b"release rxe0 0\n", b"rxe0: taken back\n")):
        p = bus.run("release", *args)
        got = bus.daemon.stdout.readline()
        tap(p.returncode == 0 and got == told and p.stdout == said and not p.stderr,
            f"release {' '.join(args)}", (got, p))
    p = bus.run("release", "nosuch", "mlx5_0")
    tap(p.returncode == 1 and not p.stdout and b"There is no device 'nosuch'" in p.stderr,
        "release of what is not there", p)
    bus.play("-r")
    p = bus.run("release", "mlx5_0")
    tap(p.returncode == 1 and b"refuses" in p.stderr, "release that is refused", p)
    bus.stop()
    tap(bus.run("release", "mlx5_0").returncode == 3, "release without a daemon")


def run_as_user(rig, bus, *args):
    """What rdmactl says on a terminal to somebody who is not root, and where polkit's agent is a script of ours."""
    agent, said = rig.directory / "pkttyagent", rig.directory / "agent-said"
    agent.write_text(f"#!/bin/sh\necho \"$@\" >{said}\ntrap 'echo ended >>{said}; exit' TERM\nexec 3>&-\n"
                     "while :; do sleep 0.05; done\n")
    agent.chmod(0o755)
    said.write_text("")
    said.chmod(0o666)
    rig.directory.chmod(0o711)
    pid, fd = pty.fork()
    if pid == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        env = rig.env(**bus.env, PATH=f"{rig.directory}:{os.environ['PATH']}")
        os.execve(rig.rdmactl, [rig.rdmactl, *args], env)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return pid, status, said.read_text()


def test_ask_password(tap, rig, bus):
    """Who changes something on a terminal, and is not root, may be asked for a password."""
    rig.put(fixtures.healthy)
    bus.play(str(rig.file))
    pid, status, agent = run_as_user(rig, bus, "release", "mlx5_0", "--for=1s")
    told = status == 0 and bus.daemon.stdout.readline()
    tap(status == 0 and told == b"release mlx5_0 1000000 may ask\n", "on a terminal the call says that one may ask", told)
    # Behind the session's own agent, where there is a session.
    tap(re.fullmatch(f"--process {pid} --notify-fd 3( --fallback)?\nended\n", agent), "and polkit's agent is there meanwhile", agent)
    _, status, agent = run_as_user(rig, bus, "--no-ask-password", "release", "mlx5_0", "--for=1s")
    told = status == 0 and bus.daemon.stdout.readline()
    tap(status == 0 and told == b"release mlx5_0 1000000\n" and agent == "", "not with --no-ask-password", (told, agent))
    # Nobody would press a key for a pager that waits at the end (more).
    _, status, agent = run_as_user(rig, bus, "status", "--no-pager")
    tap(status == 0 and agent == "", "nor by verbs that only read", agent)
    bus.run("release", "mlx5_0", "--for=1s")
    told = bus.daemon.stdout.readline()
    tap(told == b"release mlx5_0 1000000\n", "nor without a terminal", told)
    bus.stop()


def test_ack(tap, rig, bus):
    bus.play(str(rig.file))
    for args, told, said in (
            (["mlx5_0/1", "port-down"], b"ack mlx5_0/1 port-down '' 0\n", b"mlx5_0/1: port-down acknowledged\n"),
            (["host", "setup-failed:siw", "--comment=module is on its way"],
             b"ack host setup-failed:siw 'module is on its way' 0\n", b"host: setup-failed:siw acknowledged\n"),
            (["mlx5_0/1", "port-down", "--undo"], b"ack mlx5_0/1 port-down '' 1\n",
             b"mlx5_0/1: port-down acknowledged no more\n")):
        p = bus.run("ack", *args)
        got = bus.daemon.stdout.readline()
        tap(p.returncode == 0 and got == told and p.stdout == said and not p.stderr, f"ack {' '.join(args)}",
            (got, p))
    p = bus.run("ack", "nosuch", "port-down")
    tap(p.returncode == 1 and not p.stdout and b"no port-down stands" in p.stderr, "ack of what does not stand", p)
    for args, said in ((["mlx5_0/1"], b"needs OBJECT REASON"), (["mlx5_0/1", "prot-down"], b"'port-down'?"),
                       (["mlx5_0/1", "port-down", "xyzzy"], b"is no reason")):
        p = bus.run("ack", *args)
        tap(p.returncode == 2 and not p.stdout and said in p.stderr, f"ack {' '.join(args)} is wrong", p)
    bus.play("-r")
    p = bus.run("ack", "mlx5_0/1", "port-down")
    tap(p.returncode == 1 and b"refuses" in p.stderr, "ack that is refused", p)
    bus.stop()
    tap(bus.run("ack", "mlx5_0/1", "port-down").returncode == 3, "ack without a daemon")


def test_explain(tap, rig, bus, update):
    explain = pathlib.Path(f"{rig.file}.explain")
    rig.put(fixtures.port_down)
    explain.write_text(json.dumps(fixtures.explanation(time.time())))
    bus.play(str(rig.file))
    parts = []
    for args in (["mlx5_0/1"], ["mlx5_0/2"], ["prot-down"]):
        p = bus.run("explain", *args)
        tap(p.returncode == (0 if p.stdout else 1), f"explain {' '.join(args)}", p)
        parts.append(f"$ rdmactl explain {' '.join(args)}\n{p.stdout.decode()}{p.stderr.decode()}"
                     f"[{p.returncode}]\n")
    got, path = "\n".join(parts), GOLDEN / "explain.txt"
    if update:
        path.write_text(got)
    tap(got == path.read_text(), "explain: text is as in golden/explain.txt", got)
    p = bus.run("explain", "mlx5_0/1", LC_ALL="C")
    tap(all(b < 128 for b in p.stdout) and b"x raised port-down" in p.stdout, "explain: in ASCII", p.stdout)
    v = json.loads(bus.run("explain", "--json", "mlx5_0/1", "port-down").stdout)
    tap(v["Daemon"] == {"Running": True} and v["Objects"][0]["Rules"][2]["Outcome"] == "raised"
        and v["Reasons"][0]["Id"] == "port-down" and v["Reasons"][0]["Meaning"], "explain --json", v)
    explain.write_text('{"Object": "mlx5_0/1", ' + fixtures.EVIL)
    p = bus.run("explain", "mlx5_0/1")
    tap(p.returncode == 1 and harmless(p.stderr), "explain: what is no JSON", p)
    explain.write_text(json.dumps({"Id": {"Object": "mlx5_0/1"}, "HealthState": fixtures.EVIL,
                                   "IgnoredBecause": fixtures.EVIL, "Reasons": [None, {}, 3], "Rules": [
                                       fixtures.rule(*[fixtures.EVIL] * 7), None, {}, 4]}))
    p = bus.run("explain", "mlx5_0/1")
    tap(p.returncode == 0 and harmless(p.stdout), "explain: odd and hostile", p)
    bus.play("-r")
    p = bus.run("explain", "mlx5_0/1")
    tap(p.returncode == 1 and b"refuses" in p.stderr, "explain that is refused", p)
    bus.stop()
    p = bus.run("explain", "mlx5_0/1")
    tap(p.returncode == 3 and b"not running" in p.stderr, "explain of an object without a daemon", p)
    p = bus.run("explain", "mlx5_0/7")
    tap(p.returncode == 1 and b"Did you mean 'mlx5_0/1'" in p.stderr,
        "explain of what is not there, without a daemon", p)
    p = bus.run("explain", "port-down")
    tap(p.returncode == 0 and b"port-down: failed, class link" in p.stdout and not p.stderr,
        "explain of a reason without a daemon", p)
    p = bus.run("explain", "--json", "host")
    tap(p.returncode == 3 and json.loads(p.stdout)["Daemon"] == {"Running": False},
        "explain --json without a daemon", p)
    rig.file.unlink()
    p = bus.run("explain", "prot-down")
    tap(p.returncode == 1 and b"Did you mean 'port-down'" in p.stderr, "explain of what is nearly a reason, without anything", p)
    p = bus.run("explain", "mlx5_0")
    tap(p.returncode == 3 and b"not running" in p.stderr, "... of an object, without anything", p)
    rig.put(fixtures.port_down)


def test_events_usage(tap, rig):
    """What needs no journal; reading one is tests/vm/scenarios/80-events.sh."""
    empty = rig.directory / "no-journal"
    empty.mkdir()
    env = {"RDMAD_JOURNAL_DIRECTORY": str(empty)}
    for args, status in ((["--since=yesterday"], 0), (["--since=-1h", "-n5"], 0), (["--kind=state"], 0),
                         (["--since=2026-02-30"], 2), (["--since=soon"], 2), (["--kind=stat"], 2),
                         (["--kind="], 2), (["--kind=admin,config"], 0), (["-n0"], 2), (["-nx"], 2),
                         (["--all"], 2)):
        p = rig.run("events", *args, **env)
        tap(p.returncode == status and (not status or (not p.stdout and p.stderr.count(b"\n") == 1)),
            f"events {' '.join(args)} exits with {status}", p)
    tap(rig.run("events", **env).stdout == b"No events.\n", "events: there are none")
    tap(json.loads(rig.run("events", "--json", **env).stdout) == [], "events: none in JSON")
    p = rig.run("events", RDMAD_JOURNAL_DIRECTORY="/nonexistent")
    tap(p.returncode == 1 and b"cannot be read" in p.stderr, "events: no such directory", p)
    p = rig.run("events", "--json", RDMAD_JOURNAL_DIRECTORY="/nonexistent")
    tap(p.returncode == 1 and json.loads(p.stdout) is None, "... in JSON: unknown, which is not none", p)


def brief(description):
    """What DescribeBrief() says where Describe() says this, by the daemon's own tables."""
    tables = (TOP / "daemon/publish/fields.c").read_text()
    device, port = (set(re.findall(r'"(\w+)"[^}]*\.brief = true', re.search(
        rf"{name}_fields\[\] = {{(.*?)\n}};", tables, re.S).group(1))) for name in ("device", "port"))

    def only(o, keys):
        return {k: v for k, v in o.items() if k in keys and v is not None and v != []}

    return {**description, "Devices": [{**only(d, device), "Ports": [only(p, port) for p in d["Ports"]]}
                                       for d in description["Devices"]]}


def test_brief(tap, rig, bus):
    """Text for people, and check, ask for less; and show the same."""
    verbs = (["status"], ["status", "--full"], ["list"], ["list", "--json"], ["check", "--perfdata"], ["check", "--class=link", "*/1"],
             ["status", "mlx5_0/1"])

    def shown():
        return [re.sub(r"up [^,]+,", "up TIME,", f"{p.returncode} {p.stdout} {p.stderr}")
                for p in (bus.run(*v) for v in verbs)]

    for fixture in (fixtures.topology, fixtures.healthy, fixtures.softroce, fixtures.eight_one_down, fixtures.unresponsive,
                    fixtures.missing, fixtures.classes, fixtures.ignored, fixtures.setup_failed, fixtures.many):
        rig.put(fixture)
        description = json.loads(rig.file.read_bytes())
        less = pathlib.Path(f"{rig.file}.brief")
        bus.play(str(rig.file))
        whole = shown()
        less.write_text(json.dumps(brief(description)))
        short = shown()
        tap(short == whole, f"{fixture.__name__}: a brief description shows the same",
            [(a, b) for a, b in zip(whole, short) if a != b])
        less.write_text(json.dumps({**brief(description), "HealthState": "failed", "Devices": []}))
        tap(bus.run("check").returncode == 2, f"{fixture.__name__}: and it is what is asked for")
        less.unlink()
    bus.stop()


def test_bus(tap, rig, mock, update):
    if not shutil.which("dbus-daemon"):
        tap(True, "on a bus # SKIP no dbus-daemon")
        return
    bus = Bus(rig, mock)
    try:
        rig.put(fixtures.healthy)
        p = bus.run("status")
        tap(p.returncode == 0 and b"rdmad is not on the bus" in p.stdout,
            "nobody on the bus: the file, and why", p.stdout)
        tap(bus.run("reload").returncode == 3, "nobody on the bus: reload exits with 3")
        rig.put(fixtures.absent)
        tap(bus.run("status").returncode == 3 and bus.run("check").returncode == 3,
            "nobody on the bus, no file: 3")

        rig.put(fixtures.port_down)
        description = rig.file.read_bytes()
        bus.play(str(rig.file))
        rig.put(fixtures.healthy)  # the bus has the last word
        p = bus.run("status")
        tap(p.returncode == 0 and b"FAILED: mlx5_0/1 port-down" in p.stdout
            and b"state.json" not in p.stdout and not p.stderr, "status from the bus", p)
        tap(json.loads(bus.run("--json").stdout) == json.loads(description),
            "status --json is what Describe() says")
        tap(bus.run("check").returncode == 2, "check from the bus")
        p = bus.run("list")
        tap(p.returncode == 0 and not p.stderr, "list from the bus", p.stderr)
        p = bus.run("reload")
        tap(p.returncode == 0 and not p.stdout and not p.stderr, "reload", p)

        bus.play("-r")
        p = bus.run("reload")
        tap(p.returncode == 1 and b"/etc/rdmad/rdmad.conf:3: Mode=aply" in p.stderr,
            "a refused reload says file and line", p.stderr)
        p = bus.run("status")
        tap(p.returncode == 0 and b"refuses" in p.stdout, "a refused Describe(): the file", p.stdout)

        bus.play("-m")
        for fixture, seconds, status, what in (
                (fixtures.healthy, -20, 0, "what its file said a moment ago holds"),
                (fixtures.port_down, -20, 2, "... and is told, too, where it is trouble"),
                (fixtures.healthy, -40, 3, "that its file said longer ago is unknown"),
                (fixtures.healthy, 40, 3, "nor is one of the future believed"),
                (fixtures.dead, 0, 3, "nor one of a daemon that is not there")):
            rig.put(fixture)
            os.utime(rig.file, (time.time() + seconds,) * 2)
            begin = time.monotonic()
            p = bus.run("check")
            tap(p.returncode == status and time.monotonic() - begin < 5 and p.stdout.count(b"\n") == 1
                and (b"no answer on the bus" in p.stdout) == (status != 3),
                f"a daemon that does not answer, within 5 s: {what}", p.stdout)

        (rig.directory / "half").write_bytes(description[:100])
        bus.play(str(rig.directory / "half"))
        p = bus.run("list", "--json")
        tap(p.returncode == 1 and json.loads(p.stdout)["Daemon"]["Running"] is True,
            "half a description from the bus is an error", p)

        bus.stop()
        test_brief(tap, rig, bus)
        test_counters(tap, rig, bus)
        test_release(tap, rig, bus)
        test_baseline(tap, rig, bus)
        test_explain(tap, rig, bus, update)
        test_ack(tap, rig, bus)
        test_ask_password(tap, rig, bus)
    finally:
        bus.end()


def test_usage(tap, rig):
    rig.put(fixtures.healthy)
    for args, status in (([], 0), (["--help"], 0), (["-h", "nosuch"], 0), (["--version"], 0),
                         (["nosuch"], 2), (["--nosuch"], 2), (["list", "--json=xml"], 2), (["-H", "-oProxyCommand=false", "status"], 2), (["--host=", "events"], 2),
                         (["reload", "now"], 2), (["reload", "--help"], 0), (["list", "nosuch"], 1),
                         (["show", "nosuch"], 1), (["status", "nosuch"], 1), (["-H"], 2), (["release"], 2), (["explain"], 2),
                         (["release", "mlx5_0", "--for=soon"], 2), (["list", "--watch"], 2),
                         (["counters", "--watch=x"], 2), (["counters", "--for=1h"], 2),
                         (["counters", "--watch", "--save=x"], 2), (["status", "-n3"], 2)):
        p = rig.run(*args)
        tap(p.returncode == status, f"rdmactl {' '.join(args)} exits with {status}",
            f"{p.returncode} {p.stderr}")
        if status == 2:
            tap(not p.stdout and p.stderr.count(b"\n") == 1, "... with one line on stderr", p.stderr)
    for args, said in ((["statsu"], b"Did you mean 'status'?"), (["wait_online"], b"Did you mean 'wait-online'?"),
                       (["mlx5_0/1"], b"Did you mean 'status mlx5_0/1'?"), (["xyzzy"], b"See: rdmactl --help"),
                       (["ack", "--json", "mlx5_0/1", "port-down"], b"'ack' takes no --json"),
                       (["--json=short", "reload"], b"'reload' takes no --json")):
        p = rig.run(*args)
        tap(p.returncode == 2 and said in p.stderr and not p.stdout, f"{' '.join(args)}: {said.decode()}", p)
    p = rig.run("--json=off", "release", "nosuch")
    tap(p.returncode == 3 and b"--json" not in p.stderr, "--json=off is for every verb", p)
    bare, status = rig.run(), rig.run("status")
    # The two may be a second apart.
    bare, status = (re.sub(r"written .* ago", "written AGO", rig.normalise(p.stdout)) for p in (bare, status))
    tap(bare == status and "written AGO" in bare, "bare is status", (bare, status))
    p = rig.run("reload", RDMAD_BUS="yes", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
    tap(p.returncode == 3 and not p.stdout, "reload without a bus exits with 3", p.stderr)


def test_names(tap, rig):
    """What is not there is said, with what is called nearly so."""
    rig.put(fixtures.eight_one_down)
    for args, status, said, shown in (
            (["list", "mlx5_O"], 1, [b"There is no 'mlx5_O' here. Did you mean 'mlx5_0'?"], []),
            (["list", "mlx5_9", "mlx5_0"], 1, [b"no 'mlx5_9' here. Did you mean"], [b"mlx5_0/1"]),
            (["show", "mlx_5_3/1", "mlx5_3/1"], 1, [b"no 'mlx_5_3/1' here. Did you mean 'mlx5_3/1'?"], [b"Object=mlx5_3/1"]),
            (["status", "efa*"], 1, [b"There is no 'efa*' here. See: rdmactl list"], []),
            (["topo", "mlx5_[01]", "x", "y"], 1, [b"no 'x' here", b"no 'y' here"], [b"mlx5_0/1", b"mlx5_1/1"]),
            (["list", "mlx5_[01]", "mlx5_7/?"], 0, [], [b"mlx5_0/1", b"mlx5_1/1", b"mlx5_7/1"])):
        p = rig.run(*args)
        tap(p.returncode == status and all(x in p.stderr for x in said) and p.stderr.count(b"There is no") == len(said)
            and all(x in p.stdout for x in shown), f"{' '.join(args)}: what is not there is told", p)
    p = rig.run("check", "mlx5_0", "mlx5_9")
    tap(p.returncode == 3 and p.stdout == b"rdma UNKNOWN: there is no 'mlx5_9' here\n",
        "check: what is not there is not ok", p)


def test_terminal(tap, rig):
    rig.put(fixtures.port_down)
    _, out = rig.run_on_terminal("status", "--no-pager")
    tap(b"\x1b[31;1m" in out, "colours on a terminal")
    _, out = rig.run_on_terminal("status", "--no-pager", NO_COLOR="1")
    tap(b"\x1b" not in out and b"FAILED" in out, "NO_COLOR", out)
    _, out = rig.run_on_terminal("status", "--no-pager", NO_COLOR="1", SYSTEMD_COLORS="1")
    tap(b"\x1b[" in out, "SYSTEMD_COLORS is the last word")
    tap(b"\x1b" not in rig.run("status").stdout, "none in a pipe")
    tap(b"\x1b[31;1mfailed\x1b[0m" in rig.run("list", SYSTEMD_COLORS="1").stdout, "but when asked for")
    out = rig.run("status", LC_ALL="C").stdout
    tap(all(b < 128 for b in out) and out.startswith(b"* RDMA FAILED"), "ASCII in the C locale", out)
    marker = rig.directory / "pager-ran"
    pager = rig.directory / "pager"
    pager.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    pager.chmod(0o755)
    for env, want in (({"SYSTEMD_PAGERSECURE": "0"}, True), ({"SYSTEMD_PAGERSECURE": "1"}, False),
                      ({"SYSTEMD_PAGERSECURE": "0", "SYSTEMD_PAGER": ""}, False)):
        marker.unlink(missing_ok=True)
        _, out = rig.run_on_terminal("list", **{"SYSTEMD_PAGER": str(pager), **env})
        tap(marker.exists() == want and b"mlx5_0/1" in out, f"pager with {env}", out)
    if os.geteuid() == 0:
        marker.unlink(missing_ok=True)
        rig.run_on_terminal("list", PAGER=str(pager))
        tap(not marker.exists(), "no pager for root unless SYSTEMD_PAGERSECURE says how")


def test_completions(tap, rig):
    verbs = rig.run("--list-verbs").stdout.decode().split()
    text = rig.run("--help").stdout.decode()
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", text.split("Options:")[1]))
    helped = re.findall(r"^  ([a-z-]+) ", text.split("Verbs:")[1].split("Options:")[0], re.M)
    tap(helped == verbs, "--help names every verb", f"{helped} {verbs}")

    script = TOP / "tools/completions/rdmactl.bash"

    def complete(*words):
        quoted = " ".join(f"'{w}'" for w in words)
        code = f"""source {script}; rdmactl() {{ {rig.rdmactl} "$@"; }}
COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _rdmactl; printf '%s\\n' "${{COMPREPLY[@]}}" """
        out = subprocess.run(["bash", "--norc", "-c", code], env=rig.env(), cwd=rig.directory,
                             capture_output=True)
        return set(out.stdout.decode().split())

    rig.put(fixtures.eight_one_down)
    tap(complete("rdmactl", "") >= set(verbs), "bash: every verb", complete("rdmactl", ""))
    tap(complete("rdmactl", "--") == options, "bash: every option", complete("rdmactl", "--"))
    tap(complete("rdmactl", "sh") == {"show"}, "bash: verbs by their beginning")
    got = complete("rdmactl", "check", "mlx5_3")
    tap(got == {"mlx5_3", "mlx5_3/1"}, "bash: devices and ports", got)
    got = complete("rdmactl", "--full", "list", "mlx5_7/")
    tap(got == {"mlx5_7/1"}, "bash: behind options", got)
    tap(complete("rdmactl", "reload", "") == set(), "bash: reload takes nothing")
    got = complete("rdmactl", "--json", "=", "s")
    tap(got == {"short"}, "bash: values of --json", got)
    got = complete("rdmactl", "events", "--kind", "=", "s")
    tap(got == {"state"}, "bash: values of --kind", got)
    got = complete("rdmactl", "-n", "5", "release", "mlx5_7/")
    tap(got == {"mlx5_7/1"}, "bash: objects of release", got)
    got = complete("rdmactl", "explain", "port-d"), complete("rdmactl", "explain", "mlx5_7/")
    tap(got == ({"port-down"}, {"mlx5_7/1"}), "bash: reasons and objects of explain", got)
    got = complete("rdmactl", "ack", "mlx5_3/"), complete("rdmactl", "ack", "mlx5_3/1", ""), complete("rdmactl", "ack", "mlx5_7/1", "")
    tap(got == ({"mlx5_3/1"}, {"port-down"}, set()), "bash: the reasons that stand of ack", got)
    got = complete("rdmactl", "baseline", ""), complete("rdmactl", "baseline", "drop", "mlx5_7/")
    tap(got == ({"show", "save", "drop"}, {"mlx5_7/1"}), "bash: baseline's actions, then objects", got)

    zsh = (TOP / "tools/completions/_rdmactl").read_text()
    named = re.findall(r"^\s+'([a-z-]+):", zsh, re.M)
    tap(named == verbs, "zsh: every verb", named)
    named = set(re.findall(r"--[a-z-]+", "\n".join(
        x for x in zsh.splitlines() if x.strip().startswith(("'", "{", "'("))))) - {"--no-ask"}
    tap(named == options, "zsh: every option", named ^ options)


def main():
    update = "--update" in sys.argv[3:]
    with open("/proc/self/comm", "w") as f:
        f.write("rdmad")
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(sys.argv[1], directory)
        test_golden(tap, rig, update)
        test_width(tap, rig)
        test_hostile(tap, rig)
        test_json(tap, rig)
        test_check(tap, rig)
        test_check_options(tap, rig)
        test_topo(tap, rig)
        test_events_usage(tap, rig)
        test_events_remote(tap, rig)
        test_deadline(tap, rig)
        test_bus(tap, rig, sys.argv[2], update)
        test_usage(tap, rig)
        test_names(tap, rig)
        test_terminal(tap, rig)
        test_completions(tap, rig)
    return tap.end()


sys.exit(main())
