#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The verbs that ask rdmad for more than its description, on rdmad itself: daemon.py RDMACTL RDMAD PROBE,
run by with-journal, TAP on stdout. What it has to say needs no RDMA: a device that is expected and is not
there, and a line of the configuration that is wrong.
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

from tap import Tap

RDMACTL, RDMAD, PROBE = (os.path.abspath(x) for x in sys.argv[1:4])
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig><type>system</type><listen>unix:path={path}</listen>
    <policy context="default"><allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""
GOOD = "[Daemon]\nGraceSec=1s\n[Setup]\nMode=off\n[Device mlx5_nosuch]\nExpect=yes\n"
tap = Tap()


def run(*args):
    return subprocess.run([RDMACTL, *args], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def start():
    return subprocess.Popen([RDMAD, ROOT], env=ENV, stderr=subprocess.PIPE)


def wait_for(condition, what):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    tap(False, what, run("status").stdout)


def rules(object):
    return {r["Rule"]: r for r in json.loads(run("explain", "--json", object).stdout)["Objects"][0]["Rules"]}


def reason(id):
    v = json.loads(run("--json").stdout)
    return next(r for x in (v, *v["Missing"]) for r in x["Reasons"] if r["Id"] == id)


def events(kind):
    return json.loads(run("events", "--json", f"--kind={kind}", "--since=-1h").stdout)


def test(conf):
    wait_for(lambda: b"device-missing" in run("check").stdout, "rdmad comes up")
    missing, host = rules("mlx5_nosuch"), rules("host")
    tap(missing["device-missing"]["Outcome"] == "raised" and missing["device-missing"]["Origin"] == f"{conf}:2"
        and "GraceSec=1s" in missing["device-missing"]["Text"],
        "explain of a missing device: what was found, the threshold and where that is from", missing)
    tap(host["config-invalid"]["Outcome"] == "raised" and host["config-invalid"]["Origin"] == f"{conf}:7"
        and host["setup-failed"]["Outcome"] == "clear", "explain of the host", host)
    p = run("explain", "mlx5_nosuhc")
    tap(p.returncode == 1 and b"Did you mean 'mlx5_nosuch'?" in p.stderr, "explain of what is not there", p)

    monitor = subprocess.Popen([RDMACTL, "monitor", "--json"], env=ENV, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    p = run("ack", "mlx5_nosuch", "device-missing", "--comment=ticket 7")
    r = reason("device-missing")
    tap(p.returncode == 0 and r["Acknowledged"] is True and r["AcknowledgedBy"] == "root"
        and r["AcknowledgedComment"] == "ticket 7" and abs(r["AcknowledgedAt"] / 1e6 - time.time()) < 60,
        "ack is shown with who, when and why", (p, r))
    tap(reason("config-invalid")["Acknowledged"] is False, "... and of no other condition")
    tap(run("check").returncode == 2 and run("check", "--ignore-acked").stdout ==
        b"rdma DEGRADED: host config-invalid\n", "check counts it, but for --ignore-acked")
    p = run("check", "--since=-1h", "--ignore-acked")
    tap(p.returncode == 1 and b"since" not in p.stdout, "check --since leaves to the present what stands", p)
    for args, said in ((("host", "setup-failed"), b"no setup-failed stands"),
                       (("mlx5_nosuch", "port-down"), b"no port-down stands"),
                       (("mlx5_7", "port-down"), b"no such object"),
                       (("mlx5_nosuch", "device-missing:siw"), b"no device-missing:siw stands")):
        p = run("ack", *args)
        tap(p.returncode == 1 and said in p.stderr, f"ack {' '.join(args)} is refused", p)
    p = run("ack", "mlx5_nosuch", "device-missing", "--undo")
    tap(p.returncode == 0 and reason("device-missing")["Acknowledged"] is False, "ack --undo", p)

    p = run("reload")
    tap(p.returncode == 1 and f"{conf}:7".encode() in p.stderr, "reload of what is wrong", p)
    conf.write_text(GOOD)
    tap(run("reload").returncode == 0, "reload")
    wait_for(lambda: len(events("config")) == 2, "two records of reloads arrive")
    bad, good = events("config")
    tap(bad["Priority"] == 3 and f"{conf}:7" in bad["Found"] and good["Priority"] == 5
        and good["Message"] == "configuration loaded", "events --kind=config", (bad, good))
    admin = [(e["Action"], e["Object"], e["Reason"], e["By"], e["Comment"]) for e in events("admin")]
    tap(admin == [("ack", "mlx5_nosuch", "device-missing", "root", "ticket 7"),
                  ("unack", "mlx5_nosuch", "device-missing", "root", "-"), ("reload", "host", None, "root", "-"),
                  ("reload", "host", None, "root", "-")], "events --kind=admin: who did what", admin)
    wait_for(lambda: any(e["Edge"] == "cleared" for e in events("state")), "config-invalid is over")
    monitor.send_signal(signal.SIGTERM)
    out, err = monitor.communicate(timeout=30)
    lines = [json.loads(x) for x in out.splitlines()]
    # By the microsecond the two are not the same: the journal takes its own time.
    without = [{k: v for k, v in e.items() if k not in ("When", "BootId")} for e in
               json.loads(run("events", "--json", "--since=-1h").stdout)]
    tap(monitor.returncode == 0 and not err and
        [{k: v for k, v in e.items() if k not in ("When", "BootId")} for e in lines] == without[-len(lines):]
        and {e["Kind"] for e in lines} == {"state", "config", "admin"} and len(lines) == 7,
        "monitor: told the same as the journal", (lines, without, err))
    p = run("check", "--since=-1h", "--class=config")
    tap(p.returncode == 1 and p.stdout.endswith(b"; since -1h: host config-invalid\n"),
        "check --since: what stood and is over counts", p)


def test_restart(daemon):
    p = run("ack", "mlx5_nosuch", "device-missing", "--comment=it is on its way")
    before = reason("device-missing")
    tap(p.returncode == 0 and before["Acknowledged"] is True, "something to be kept", p)
    p = run("restart", "--in-place")
    tap(p.returncode == 0 and p.stdout.startswith(b"rdmad ") and b"; not watched for " in p.stdout
        and b"In place: " in p.stdout, "restart --in-place", p)
    tap(daemon.poll() is None, "... in the same process")
    tap(reason("device-missing") == before, "... what stands is as it was", (before, reason("device-missing")))
    d = json.loads(run("--json").stdout)["Daemon"]
    tap(d["Ready"] is True and d["PreviousVersion"] == d["Version"] and 0 < d["GapUSec"] < 60e6
        and d["Pid"] == daemon.pid, "... and it says what it goes on from", d)
    raised = [e for e in events("state") if e["Reason"] == "device-missing" and e["Edge"] == "raised"]
    tap(len(raised) == 1, "... which is told once", raised)
    asked = subprocess.Popen([RDMACTL, "restart"], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    tap(daemon.wait(60) == 133, "restart ends with 133, for systemd", daemon.returncode)
    daemon.communicate()
    daemon = start()
    said = asked.communicate(timeout=60)[0]
    tap(asked.returncode == 0 and b"goes on, was " in said, "... and waits for the one that is started then", said)
    tap(reason("device-missing") == before, "... where all is as it was")
    return daemon


if not shutil.which("dbus-daemon"):
    print("1..0 # SKIP no dbus-daemon")
    sys.exit(0)
with tempfile.TemporaryDirectory() as directory:
    top = pathlib.Path(directory)
    ROOT = f"--root={top}/root"
    ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "80", "TERM": "xterm",
           "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={top}/bus", "RUNTIME_DIRECTORY": "/run/rdmad",
           "RDMAD_PROBE": PROBE, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1"}
    os.makedirs("/run/rdmad", exist_ok=True)
    (top / "bus.conf").write_text(BUS.format(path=top / "bus"))
    conf = top / "root/etc/rdmad/rdmad.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text(GOOD + "Nonsense=1\n")
    bus = subprocess.Popen(["dbus-daemon", f"--config-file={top}/bus.conf", "--nofork", "--print-address"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    bus.stdout.readline()
    daemon = start()
    try:
        test(conf)
        daemon = test_restart(daemon)
    finally:
        daemon.send_signal(signal.SIGTERM)
        said = daemon.communicate(timeout=30)[1]
        tap(daemon.returncode == 0, "rdmad ends well", said.decode())
        bus.kill()
        bus.wait()
sys.exit(tap.end())
