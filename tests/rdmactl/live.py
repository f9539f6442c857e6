#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs that follow the daemon, on a bus of their own with a mock of it: live.py RDMACTL MOCK-DAEMON,
TAP on stdout.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import fixtures
from rig import TOP, Bus, Rig
from tap import Tap

DESCRIBE_PAUSE = 0.1
F = fixtures


def port(now, number=1, health="ok", **over):
    p = {"Number": number, "HealthState": health, "Required": True}
    if health != "ok":
        p.update(PortState="down", PhysState="polling", Rate=None)
    p.update(over)
    return F.port(now, **p)


def host(*devices, **over):
    """A fixture of these devices' ports; each is a list of (health, required) or ports."""
    def make(now, pid):
        made = []
        for n, ports in enumerate(devices):
            ports = [port(now, k + 1, p[0], Required=p[1]) if isinstance(p, tuple) else
                     p(now) if callable(p) else p for k, p in enumerate(ports)]
            made.append(F.device(now, n, ports=ports))
        return F.state(now, pid, made, **over)
    return make


OK, DOWN, STARTING = ("ok", True), ("failed", True), ("starting", True)
NOBODY, DEGRADED = ("ignored", False), ("degraded", True)
DAEMON = {"Running": True, "Version": "0.1.0", "ConfigGeneration": 1, "ExpectationConfigured": True}


def reason(now, id, cls, severity="failed", subject=None):
    return F.reason(now, id, severity, Class=cls, Subject=subject)


class Live:
    """A verb that runs for a while."""

    def __init__(self, rig, bus, *args, **env):
        self.begin = time.monotonic()
        self.p = subprocess.Popen([rig.rdmactl, *args], env=rig.env(**bus.env, ASAN_OPTIONS="exitcode=99", **env),
                                  stdin=subprocess.DEVNULL, cwd=rig.directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)

    def waits(self, seconds=0.4):
        time.sleep(seconds)
        return self.p.poll() is None

    def end(self, timeout=30):
        out, err = self.p.communicate(timeout=timeout)
        return self.p.returncode, out.decode(), err.decode()


def test_judgement(tap, rig, bus):
    """What is online and what is not: 0 is told at once, 1 at the timeout, with who lags behind."""
    link = {"Step": "add-link", "Object": "rxe9", "Result": "waiting", "Detail": "netdev eth9 is not there yet"}
    missing = {"Name": "mlx5_7", "NodeGuid": "a", "PciAddress": "b", "HealthState": "failed", "Reasons": []}
    # The host's own word, where no device says it.
    counted = lambda health, **d: host([OK], HealthState=health, Daemon={**DAEMON, **d})
    no_grace = host([("starting", False)], HealthState="starting")
    for name, fixture, args, status, named in (
            ("all ports ok", host([OK, OK]), [], 0, "Online: 2 ports."),
            ("no device", host(), [], 0, "Nothing to wait for"),
            ("nothing required", host([NOBODY, NOBODY]), [], 0, "Nothing to wait for"),
            ("one down", host([OK, DOWN]), [], 1, "mlx5_0/2: failed"),
            ("one starting", host([OK], [STARTING]), [], 1, "mlx5_1/1: starting, down/polling"),
            ("one unknown", host([("unknown", True)]), [], 1, "mlx5_0/1: unknown"),
            ("one degraded", host([DEGRADED]), [], 1, "mlx5_0/1: degraded"),
            ("one degraded", host([DEGRADED]), ["--fail-on=failed"], 0, "Online: 1 port."),
            ("one down of two", host([OK, DOWN]), ["--any"], 0, "Online: 1 port."),
            ("all down", host([DOWN, DOWN]), ["--any"], 1, "mlx5_0/2"),
            ("nothing required", host([NOBODY]), ["--any"], 0, "Nothing to wait for"),
            ("required and let go of", host([("ignored", True), OK]), [], 0, "Online: 1 port."),
            # by name
            ("another is down", host([OK, DOWN]), ["mlx5_0/1"], 0, "Online: 1 port."),
            ("a glob", host([OK], [DOWN]), ["mlx5_*/1"], 1, "mlx5_1/1"),
            ("a device stands for its ports", host([OK, OK], [DOWN]), ["mlx5_0"], 0, "Online: 2 ports."),
            ("nobody's port, down", host([NOBODY]), ["mlx5_0/1"], 1, "mlx5_0/1: ignored"),
            ("nobody's port, up", host([lambda now: port(now, health="ignored", PortState="active", Required=False)]),
             ["mlx5_0/1"], 0, "Online: 1 port."),
            ("what is not there", host([OK]), ["mlx5_0", "mlx5_9/1"], 1, "mlx5_9/1: not there"),
            ("what is not there", host([OK]), ["mlx5_0", "mlx5_9/1", "--any"], 0, "Online: 1 port."),
            ("a device without ports", host([]), ["mlx5_0"], 1, "mlx5_0: ok, no ports"),
            # what is not there
            ("a missing adapter", host([OK], Missing=[missing]), [], 1, "mlx5_7: failed"),
            ("... that nobody misses", host([OK], Missing=[{**missing, "HealthState": "ok"}]), [], 0, "1 port."),
            ("... by its name", host([OK], Missing=[missing]), ["mlx5_7"], 1, "mlx5_7: failed"),
            ("... another", host([OK], Missing=[missing]), ["mlx5_0"], 0, "Online"),
            ("a link to be made", host([OK], Setup=[link]), [], 1, "rxe9: waiting: netdev eth9"),
            ("a link to be made", host([OK], Setup=[link]), ["rxe9"], 1, "rxe9: waiting: netdev eth9"),
            ("... is not asked for", host([OK], Setup=[link]), ["mlx5_0"], 0, "Online"),
            ("... is made", host([OK], Setup=[{**link, "Result": "ok"}]), [], 0, "Online"),
            ("... was made and not seen", host([OK], Setup=[{**link, "Result": "changed"}]), [], 1, "rxe9: changed"),
            ("... was deleted by hand", host([OK], Setup=[{**link, "Result": "drifted"}]), [], 0, "Online"),
            ("... is there, and judged", host([OK], Setup=[{**link, "Object": "mlx5_0"}]), [], 0, "Online"),
            ("a module to be loaded", host([OK], Setup=[{**link, "Step": "load-module"}]), [], 0, "Online"),
            ("ports are counted", host([NOBODY], Reasons=[reason(0, "count-missing", "device", subject="ib")]), [],
             1, "ib: failed, count-missing"),
            ("trouble that is no port's", host([OK], Reasons=[reason(0, "setup-failed", "setup", "degraded")]), [],
             0, "Online"),
            ("a notice", host([OK], Reasons=[reason(0, "device-not-probed", "device", "notice")]), [], 0, "Online"),
            ("ports that are counted may still come", counted("starting"), [], 1, "host: starting"),
            ("... nothing is counted", counted("starting", ExpectationConfigured=False), [], 0, "Online"),
            ("ports that are counted cannot be read", counted("unknown"), [], 1, "host: unknown"),
            ("not listed yet", host(HealthState="starting"), [], 1, "host: starting, devices are still being listed"),
            ("a new port that nobody needs", no_grace, [], 0, "Nothing to wait for")):
        rig.put(fixture)
        bus.play(str(rig.file))
        # A busy machine takes longer to say who lags behind than all of these should wait.
        for timeout in (0.3, 5):
            begin = time.monotonic()
            p = bus.run("wait-online", f"--timeout={10 if status == 0 else timeout}", *args)
            took = time.monotonic() - begin
            if status == 0 or b"does not answer" not in p.stderr:
                break
        said = (p.stdout if status == 0 else p.stderr).decode()
        tap(p.returncode == status and named in said and bool(p.stdout) != bool(p.stderr)
            and (status == 0 or took >= 0.3), f"wait-online {' '.join(args)}: {name}", (p, took))


def test_online_output(tap, rig, bus):
    """For programs, and for somebody who looks on."""
    for fixture, status, want in (
            (host([OK, OK]), 0, {"Daemon": {"Running": True}, "Online": True, "PortsOnline": 2, "Laggards": []}),
            (host([OK, DOWN]), 1, {"Daemon": {"Running": True}, "Online": False, "PortsOnline": 1, "Laggards": ["mlx5_0/2"]}),
            (None, 1, {"Daemon": {"Running": False}, "Online": False, "PortsOnline": 0, "Laggards": []})):
        bus.stop()
        if fixture:
            rig.put(fixture)
            bus.play(str(rig.file))
        p = bus.run("wait-online", "--timeout=1", "--json=short")
        v = json.loads(p.stdout)
        tap(all(x["Why"] for x in v["Laggards"]), "each has a why", v)
        v["Laggards"] = [x["Object"] for x in v["Laggards"]]
        tap(p.returncode == status and v == want, f"wait-online --json, exit status {status}", p)
    status, out = rig.run_on_terminal("wait-online", "--timeout=1", **bus.env)
    tap(status == 1 and out.startswith(b"rdmactl: rdmad is not on the bus; waiting for it\r\n"),
        "on a terminal: that the daemon is waited for", out)
    rig.put(host([DOWN] * 6))
    bus.play(str(rig.file))
    status, out = rig.run_on_terminal("wait-online", "--timeout=1", **bus.env)
    tap(status == 1 and out.startswith(
        b"rdmactl: Waiting for mlx5_0/1, mlx5_0/2, mlx5_0/3, mlx5_0/4 and 2 more\r\nrdmactl: Not online after"),
        "on a terminal: what is waited for", out)


def test_following(tap, rig, bus):
    rig.put(host([OK, STARTING]))
    bus.play(str(rig.file))
    w = Live(rig, bus, "wait-online")
    tap(w.waits(), "waits for a port")
    rig.put(host([OK, OK]))
    tap(w.waits(), "asks nothing by itself")
    bus.signal()
    status, out, err = w.end()
    tap(status == 0 and out == "Online: 2 ports.\n" and not err, "goes on when that is up", (status, out, err))

    # Two changes at once: the second is not missed.
    rig.put(host([STARTING]))
    bus.play(str(rig.file))
    w = Live(rig, bus, "wait-online")
    w.waits()
    bus.signal()
    time.sleep(DESCRIBE_PAUSE / 2)
    rig.put(host([OK]))
    bus.signal()
    tap(w.end()[0] == 0, "a change soon after another is seen")

    rig.put(host([STARTING]))
    bus.play(str(rig.file))
    w = Live(rig, bus, "wait-online")
    w.waits()
    bus.stop()
    tap(w.waits(), "outlives the daemon")
    rig.put(host([OK]))
    bus.play(str(rig.file))
    tap(w.end()[0] == 0, "and is told by the next one")

    bus.stop()
    w = Live(rig, bus, "wait-online")
    tap(w.waits(), "waits for a daemon that is not there")
    bus.play(str(rig.file))
    tap(w.end()[0] == 0, "until it is")
    bus.stop()
    p = bus.run("wait-online", "--timeout=200ms")
    tap(p.returncode == 1 and p.stderr == b"rdmactl: Not online after 200ms: rdmad is not on the bus\n",
        "says that it is not there", p)

    bus.kill()
    w = Live(rig, bus, "wait-online")
    tap(w.waits(), "waits for a bus that is not there")
    p = bus.run("wait-online", "--timeout=200ms")
    tap(p.returncode == 1 and b"there is no system bus" in p.stderr, "says so", p)
    bus.start()
    tap(w.waits(), "for the daemon, then")
    bus.play(str(rig.file))
    tap(w.end()[0] == 0, "until that is there")

    rig.put(host([STARTING]))
    bus.play(str(rig.file))
    w = Live(rig, bus, "wait-online")
    w.waits()
    bus.kill()
    bus.stop()
    tap(w.waits(), "outlives the bus")
    rig.put(host([OK]))
    bus.start()
    bus.play(str(rig.file))
    tap(w.end()[0] == 0, "and finds the next one")

    bus.play("-m")
    p = bus.run("wait-online", "--timeout=500ms")
    tap(p.returncode == 1 and b"rdmad does not answer" in p.stderr, "a daemon that is silent", p)
    bus.play("-r")
    w = Live(rig, bus, "wait-online", "--timeout=0")
    tap(w.waits(), "a daemon that refuses, and no timeout")
    w.p.send_signal(signal.SIGTERM)
    tap(w.end()[0] == -signal.SIGTERM, "ends by SIGTERM")
    p = rig.run("wait-online", "--timeout=1s")
    tap(p.returncode == 1 and b"RDMAD_BUS=no" in p.stderr, "not without a bus", p)


def message_id(name):
    """Of a kind of record, as the daemon knows it."""
    text = (TOP / "daemon/publish/message-ids.h").read_text()
    return re.search(rf"#define RDMAD_MESSAGE_{name}\s+\"(\w+)\"", text).group(1)


def test_monitor(tap, rig, bus):
    def send(name, message, object, priority=5, **more):
        bus.signal(MESSAGE=message, MESSAGE_ID=message_id(name), PRIORITY=priority, RDMAD_OBJECT=object, **more)

    def send_all():
        send("PORT_DOWN", "mlx5_0/1: port down", "mlx5_0/1", 3, RDMAD_REASON="port-down", RDMAD_EDGE="raised",
             RDMA_DEVICE="mlx5_0", RDMA_PORT=1)
        time.sleep(0.1)
        send("INVENTORY", "mlx5_1: firmware was a, is \x1b[31mb", "mlx5_1", RDMAD_FACT="firmware")
        time.sleep(0.1)
        send("CONFIG", "configuration loaded", "host")
        time.sleep(0.1)
        send("ADMIN", "mlx5_0: released by root", "mlx5_0", RDMAD_ACTION="release", RDMAD_BY="root")
        time.sleep(0.1)
        bus.signal(MESSAGE="not ours", MESSAGE_ID="0" * 32)
        time.sleep(0.1)

    rig.put(F.healthy)
    bus.play(str(rig.file))
    objects = {"": ["mlx5_0/1", "mlx5_1", "host", "mlx5_0"], "mlx5_0": ["mlx5_0/1", "mlx5_0"], "mlx5_1": ["mlx5_1"],
               "*/1": ["mlx5_0/1"], "--kind=state": ["mlx5_0/1"], "--kind=config,admin": ["host", "mlx5_0"]}
    live = {arg: Live(rig, bus, "monitor", "--json", *([arg] if arg else [])) for arg in objects}
    text = Live(rig, bus, "monitor")
    tap(all(x.waits(0.1) for x in [*live.values(), text]), "monitor runs")
    send_all()
    for arg, want in objects.items():
        live[arg].p.send_signal(signal.SIGTERM)
        status, out, err = live[arg].end()
        events = [json.loads(x) for x in out.splitlines()]
        tap(status == 0 and [e["Object"] for e in events] == want and not err, f"monitor --json {arg}", (out, err))
        if not arg:
            e = events[0]
            tap(e["Kind"] == "state" and e["Reason"] == "port-down" and e["Port"] == 1 and e["Priority"] == 3
                and e["Edge"] == "raised" and abs(e["When"] / 1e6 - time.time()) < 60, "... as events has it", e)
    text.p.send_signal(signal.SIGINT)
    status, out, err = text.end()
    lines = [x.split(None, 2) for x in out.splitlines()]
    tap(status == 0 and lines[0] == ["TIME", "OBJECT", "MESSAGE"] and [x[2] for x in lines[1:]] == [
        "mlx5_0/1  port down", "mlx5_1    firmware was a, is \\x1b[31mb",
        "host      configuration loaded", "mlx5_0    released by root"] and not err,
        "monitor: as text, harmless", (out, err))

    w = Live(rig, bus, "monitor", "--no-legend")
    w.waits()
    bus.stop()
    w.waits()
    bus.play(str(rig.file))
    w.waits()
    send("CONFIG", "configuration loaded", "host")
    tap(w.p.stdout.readline().endswith(b"configuration loaded\n"), "monitor outlives the daemon")
    bus.kill()
    w.waits()
    bus.start()
    bus.play(str(rig.file))
    w.waits(1)
    send("CONFIG", "configuration loaded", "host")
    tap(w.p.stdout.readline().endswith(b"configuration loaded\n"), "... and the bus")
    w.p.stdout.close()
    w.p.wait(timeout=10)
    said = w.p.stderr.read().decode()
    tap(w.p.returncode == 0, "... ends when nobody reads", w.p.returncode)
    tap(said.count("waiting for it") == 2 and said.count("rdmactl events") == 2, "... and says what it missed", said)
    tap(bus.run("monitor", "--kind=nosuch").returncode == 2, "monitor: no such kind")
    tap(rig.run("monitor").returncode == 1, "monitor: not without a bus")


def test_host(tap, rig, bus):
    """-H: over an ssh that leads to the bus here, as systemd-stdio-bridge does it there."""
    ssh, said = rig.directory / "ssh", rig.directory / "ssh-said"
    ssh.write_text(f"""#!/bin/sh
printf '%s\\n' "$@" >{said}
for word; do [ "$word" != broken ] || exit 255; done
exec systemd-stdio-bridge --bus-path={bus.env['DBUS_SYSTEM_BUS_ADDRESS']}
""")
    ssh.chmod(0o755)
    # Of this host nothing is to be asked: there is no bus, and no file.
    env = {"PATH": f"{rig.directory}:{os.environ['PATH']}"}
    rig.put(host([OK, DOWN]))
    bus.play(str(rig.file))
    rig.file.unlink()
    for args, status, shown in (
            (["status"], 0, b"RDMA"), (["list"], 0, b"mlx5_0/2"), (["show", "mlx5_0/2"], 0, b"HealthState=failed"),
            (["topo"], 0, b"NUMA"), (["check", "mlx5_0/1"], 0, b"rdma OK"), (["check", "mlx5_0"], 2, b"rdma FAILED"),
            (["list", "--json=short"], 0, b'"Running":true'), (["list", "mlx5_9"], 1, b"no ports."),
            (["reload"], 0, b""), (["release", "mlx5_0"], 0, b"released"),
            (["ack", "mlx5_0/2", "port-down"], 0, b""), (["wait-online", "mlx5_0/1"], 0, b"Online: 1 port."),
            (["wait-online", "--timeout=300ms"], 1, b"")):
        said.unlink(missing_ok=True)
        p = rig.run("-H", "root@there", *args, **env)
        words = said.read_text().split() if said.exists() else []
        tap(p.returncode == status and shown in p.stdout and "root@there" in words and words[-1] != "root@there",
            f"-H {' '.join(args)}", (p, words))
    w = Live(rig, bus, "monitor", "-H", "there", "--no-legend", **env)
    w.waits()
    rig.put(host([OK]))
    bus.signal(MESSAGE="configuration loaded", MESSAGE_ID=message_id("CONFIG"), RDMAD_OBJECT="host")
    tap(w.p.stdout.readline().endswith(b"configuration loaded\n"), "-H monitor")
    bus.kill()
    status, _, err = w.end()
    tap(status == 1 and "Cannot reach the bus of there" in err, "-H monitor ends with the connection", (status, err))
    bus.start()
    for args in (["status"], ["list", "--json"], ["check"], ["reload"], ["monitor"], ["wait-online"],
                 ["counters", "--json"], ["baseline", "--json"], ["apply", "--json"], ["wait-online", "--json"]):
        p = rig.run("-H", "broken", *args, **env)
        wanted = 3 if args == ["check"] else 1
        tap(p.returncode == wanted and b"broken" in p.stderr + p.stdout and b"Traceback" not in p.stderr,
            f"-H {' '.join(args)}: ssh that fails", p)
        if "--json" in args:
            said = json.loads(p.stdout)
            tap(said["Daemon"] == {"Running": None} and (args[0] != "list" or "Error" in said), "... in JSON, too: nothing is known", p)


class Sshd:
    """A real sshd that nobody else is let in by, and a real ssh that knows of it."""

    def __init__(self, sshd, rig, bus):
        d = rig.directory
        for key in ("host-key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", d / key], check=True)
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        # Its bus is the test's; and it has no rdmactl.
        (d / "there").write_text("#!/bin/sh\nset -- $SSH_ORIGINAL_COMMAND\n[ \"$1\" != systemd-stdio-bridge ] ||\n"
                                 f"exec \"$@\" --bus-path={bus.env['DBUS_SYSTEM_BUS_ADDRESS']}\n"
                                 "PATH=/nonexistent\n\"$@\"\n")
        (d / "there").chmod(0o755)
        (d / "sshd_config").write_text(f"Port {port}\nListenAddress 127.0.0.1\nHostKey {d}/host-key\nUsePAM no\n"
                                       f"AuthorizedKeysFile {d}/key.pub\nStrictModes no\nPermitRootLogin yes\n"
                                       f"PidFile none\nForceCommand {d}/there\n")
        (d / "ssh_config").write_text(f"Host node\nPort {port}\nHost closed\nPort 1\nHost *\nHostName 127.0.0.1\n"
                                      f"IdentityFile {d}/key\nUserKnownHostsFile {d}/known\nBatchMode yes\n"
                                      "StrictHostKeyChecking accept-new\nLogLevel ERROR\n")
        (d / "ssh").write_text(f"#!/bin/sh\nexec {shutil.which('ssh')} -F {d}/ssh_config \"$@\"\n")
        (d / "ssh").chmod(0o755)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen([sshd, "-D", "-f", d / "sshd_config", "-E", d / "sshd.log"])
        for _ in range(100):
            if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
                break
            time.sleep(0.1)


def test_sshd(tap, rig, bus):
    """-H over a real ssh: what the other tests of it take for granted."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not sshd or not shutil.which("ssh"):
        print("# no sshd: -H over a real one is not tried")
        return
    rig.put(host([OK, DOWN]))
    bus.play(str(rig.file))
    rig.file.unlink()
    there = Sshd(sshd, rig, bus)
    env = {"PATH": f"{rig.directory}:{os.environ['PATH']}"}
    for name, args, status, shown in (
            ("node", ["status"], 0, b"mlx5_0/2"), ("node", ["list", "--json=short"], 0, b'"Running":true'),
            ("node", ["check", "mlx5_0"], 2, b"rdma FAILED"), ("node", ["release", "mlx5_0"], 0, b"released"),
            ("node", ["events"], 1, b"no rdmactl on node"), ("closed", ["status"], 1, b"cannot reach the bus of closed"),
            ("closed", ["status", "--json=short"], 1, b'{"Daemon":{"Running":null},'),
            ("closed", ["check"], 3, b"rdma UNKNOWN"), ("closed", ["events"], 1, b"refused"),
            (f"-oProxyCommand=touch${{IFS}}{rig.directory}/fooled", ["status"], 2, b"is no host"),
            (f"x -oProxyCommand=touch${{IFS}}{rig.directory}/fooled", ["status"], 1, b"cannot reach")):
        p = rig.run("-H", name, *args, **env)
        tap(p.returncode == status and shown in p.stdout + p.stderr, f"sshd: -H {name.split('=')[0]} {' '.join(args)}", p)
    tap(not (rig.directory / "fooled").exists(), "sshd: no host is an option")
    bus.stop()
    p = rig.run("-H", "node", "status", **env)
    tap(p.returncode == 3 and b"not on the bus" in p.stderr, "sshd: no rdmad there", p)
    there.process.terminate()
    there.process.wait()


def main():
    tap = Tap()
    if not shutil.which("dbus-daemon"):
        print("1..0 # SKIP no dbus-daemon")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        rig = Rig(sys.argv[1], directory)
        bus = Bus(rig, sys.argv[2])
        try:
            test_judgement(tap, rig, bus)
            test_online_output(tap, rig, bus)
            test_following(tap, rig, bus)
            test_monitor(tap, rig, bus)
            test_host(tap, rig, bus)
            test_sshd(tap, rig, bus)
        finally:
            bus.end()
    return tap.end()


sys.exit(main())
