#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rdmactl events on a journal of its own (with-journal): journal.py RDMACTL, TAP on stdout.

That rdmad's own records are found is tests/vm/scenarios/80-events.sh; here are those that it does not
write on command, and many of them.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import fixtures
from tap import Tap

HERE = pathlib.Path(__file__).resolve().parent
IDS = dict(re.findall(r'RDMAD_MESSAGE_(\w+)\s+"(\w+)"',
                      (HERE.parent.parent / "daemon/publish/message-ids.h").read_text()))
RDMACTL = os.path.abspath(sys.argv[1])
ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "80", "TERM": "xterm",
       "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1"}
tap = Tap()


def send(message, id="PORT_DOWN", object="rxe0/1", uid=None, **more):
    fields = {"MESSAGE": message, "MESSAGE_ID": IDS[id], "PRIORITY": "3", "RDMAD_OBJECT": object,
              "RDMA_DEVICE": object.split("/")[0], **more}
    data = b"".join(f"{k}\n".encode() + len(v).to_bytes(8, "little") + v + b"\n"
                    for k, v in ((k, v if isinstance(v, bytes) else v.encode())
                                 for k, v in fields.items()))
    if uid is not None and os.fork() == 0:
        os.setuid(uid)
        uid = None
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.sendto(data, "/run/systemd/journal/socket")
            time.sleep(0.5)  # journald looks at /proc/PID
        os._exit(0)
    if uid is not None:
        os.wait()
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(data, "/run/systemd/journal/socket")


def run(*args, **more):
    return subprocess.run([RDMACTL, "events", *args], env=ENV, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, **more)


def messages(*args):
    return [e["Message"] for e in json.loads(run("--json", *args).stdout)]


def arrived(message):
    """The journal is written by and by."""
    for _ in range(200):
        if message in messages("-n5"):
            return
        time.sleep(0.05)
    tap(False, f"'{message}' arrives in the journal")


def test_list():
    tap(messages() == [] and run().stdout == b"No events.\n", "none yet", run())
    for i in range(150):
        send(f"number {i}")
        if i % 10 == 0:
            send("noise", MESSAGE_ID="0" * 32)
    send("up again", "RECOVERED", "rxe1/1", PRIORITY="5", RDMAD_EDGE="cleared")
    send("firmware 2, was 1", "INVENTORY", "mlx5_0", PRIORITY="5", RDMAD_FACT="firmware",
         RDMAD_BEFORE="1", RDMAD_FOUND="2")
    arrived("firmware 2, was 1")
    all = [f"number {i}" for i in range(150)] + ["up again", "firmware 2, was 1"]
    tap(messages() == all[-100:], "the last 100, oldest first", messages())
    tap(messages("--since=-1h") == all, "all since a time")
    tap(messages("--since=-1h", "-n3") == all[-3:], "the last of those since a time")
    tap(messages("-n120") == all[-120:] and messages("-n1000") == all, "as many as wanted")
    tap(messages("rxe0") == all[50:150] and messages("rxe1/1") == ["up again"]
        and messages("-n2", "rxe0/1", "rxe1") == ["number 149", "up again"], "of some objects")
    tap(messages("--kind=inventory") == all[-1:], "of a kind")
    tap(messages("--kind=state", "-n1") == ["up again"], "of another")
    time.sleep(1.1)
    tap(messages("--since=-1s") == [] and messages("--since=now", "-n5") == [], "none since then")
    e = json.loads(run("--json", "-n1").stdout)[0]
    tap(e["Kind"] == "inventory" and e["Fact"] == "firmware" and e["Before"] == "1"
        and e["Found"] == "2" and e["Priority"] == 5 and abs(e["When"] / 1e6 - time.time()) < 60,
        "the fields", e)


def test_text():
    send("a long story " * 20, object="rxe9/1", PRIORITY="4")
    send("evil \x1b[31m\n\u202e", object="rx\x1b]0;e/1")
    send(b"\xff\xfe\x80 bytes", object="rxe8/1")
    arrived("evil \x1b[31m\n\u202e")
    out = run("-n4", "rx*").stdout
    tap(all(len(x) <= 80 for x in out.decode().splitlines()) and b"\x1b" not in out
        and b"\\x1b[31m\\x0a\\u202e" in out and out.count(b"\n") == 5, "text is harmless and fits", out)
    tap(b"story a long story a long story a long story a long story" in
        run("--full", "rxe9").stdout, "--full")
    tap("\\xff\\xfe\\x80 bytes" in messages("rxe8/1"), "bytes that are no text, in JSON",
        messages("rxe8/1"))
    p = subprocess.run([RDMACTL, "events", "rxe9", "rxe1", "rxe0", "mlx5_0"],
                       env={**ENV, "SYSTEMD_COLORS": "1"}, capture_output=True)
    tap(re.search(rb"\x1b\[33;1ma long", p.stdout) and re.search(rb"\x1b\[31;1mnumber", p.stdout)
        and re.search(rb"\x1b\[32;1mup again", p.stdout)
        and re.search(rb"[^m]firmware 2", p.stdout), "colours by priority", p.stdout)
    lines = run("--no-legend", "-n2").stdout.splitlines()
    tap(len(lines) == 2, "--no-legend", lines)


def test_rights():
    send("forged", object="rxe0/1", uid=65534)
    send("after", object="rxe0/1")
    arrived("after")
    tap("forged" not in messages("-n20"), "what another user wrote is none of rdmad's")
    p = run(preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
    tap(p.returncode == 1 and not p.stdout and b"systemd-journal or adm" in p.stderr,
        "who may not read it is told who may", p)


def follow(*args):
    return subprocess.Popen([RDMACTL, "events", "-f", *args], env=ENV, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def test_follow():
    f = follow("-n1", "--no-legend")
    tap(f.stdout.readline().endswith(b"after\n"), "-f: the last one first")
    send("more")
    line = f.stdout.readline()
    tap(line.endswith(b"more\n"), "-f: then what comes", line)
    f.send_signal(signal.SIGINT)
    out, err = f.communicate(timeout=30)
    tap(f.returncode == 0 and not out and not err, "-f: ends well by ^C", (f, out, err))
    # Nothing is there of what it waits for.
    f = follow("--json", "rxe77")
    time.sleep(0.5)
    send("not for it", object="rxe78/1")
    send("at last", object="rxe77/1")
    e = json.loads(f.stdout.readline())
    tap(e["Message"] == "at last", "-f: of an object that has none yet, one object a line", e)
    f.stdout.close()
    tap(f.wait(timeout=30) == 0 and not f.stderr.read(), "-f: ends when nobody reads")
    f.stderr.close()


def check(*args):
    p = subprocess.run([RDMACTL, "check", *args], env={**ENV, "RDMAD_BUS": "no"}, capture_output=True, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr


def test_check():
    """check --since: what stood since then counts, although all is well now."""
    # Who wrote the state file must be rdmad, and that runs.
    with open("/proc/self/comm", "w") as f:
        f.write("rdmad")
    os.makedirs("/run/rdmad", exist_ok=True)
    with open("/run/rdmad/state.json", "w") as f:
        json.dump(fixtures.state(time.time(), os.getpid(), [fixtures.device(time.time(), n) for n in range(4)]), f)
    state = {"RDMAD_SEVERITY": "failed", "RDMAD_CLASS": "link", "RDMAD_REASON": "port-down"}
    tap(check() == (0, "rdma OK: 4 ports ok\n", b""), "check: all is well", check())
    begin = f"@{int(time.time()) + 1}"
    time.sleep(2)
    send("notice", "LINK_BLIP", "mlx5_0/1", **{**state, "RDMAD_REASON": "link-blip", "RDMAD_EDGE": "event",
                                              "RDMAD_SEVERITY": "notice"})
    send("a notice stands", "COUNTERS_UNAVAILABLE", "mlx5_0", RDMAD_EDGE="raised", RDMAD_SEVERITY="notice",
         RDMAD_CLASS="monitor", RDMAD_REASON="counters-unavailable")
    arrived("a notice stands")
    tap(check(f"--since={begin}") == (0, "rdma OK: 4 ports ok\n", b""), "check --since: notices never count",
        check(f"--since={begin}"))
    send("flaps", "LINK_FLAPPING", "mlx5_1/1", RDMAD_EDGE="raised", RDMAD_SEVERITY="degraded", RDMAD_CLASS="link",
         RDMAD_REASON="link-flapping")
    arrived("flaps")
    p = check(f"--since={begin}")
    tap(p == (1, f"rdma DEGRADED: 4 ports ok; since {begin}: mlx5_1/1 link-flapping\n", b""),
        "check --since: was degraded", p)
    # It fell before, and was down until now.
    send("up again", "RECOVERED", "mlx5_2/1", RDMAD_EDGE="cleared", **state)
    send("and fell", "PORT_DOWN", "mlx5_2/1", RDMAD_EDGE="raised", **state)
    arrived("and fell")
    p = check(f"--since={begin}")
    tap(p == (2, f"rdma FAILED: 4 ports ok; since {begin}: mlx5_2/1 port-down, mlx5_1/1 link-flapping\n", b""),
        "check --since: was failed, each condition once", p)
    for args, want in ((["mlx5_0"], 0), (["mlx5_1"], 1), (["mlx5_2/1"], 2), (["--class=device"], 0),
                       (["--class=link"], 2), (["--fail-on=failed", "mlx5_1"], 0), (["--since=now"], 0),
                       (["--exit=npd"], 1), (["--exit=bool"], 1)):
        p = check(f"--since={begin}", *args)
        tap(p[0] == want, f"check --since {' '.join(args)} exits with {want}", p)
    p = subprocess.run([RDMACTL, "check", "--json", f"--since={begin}"], env={**ENV, "RDMAD_BUS": "no"},
                       capture_output=True)
    v = json.loads(p.stdout)
    tap(v["Past"] == [{"Object": "mlx5_2/1", "Reason": "port-down", "HealthState": "failed"},
                      {"Object": "mlx5_1/1", "Reason": "link-flapping", "HealthState": "degraded"}]
        and v["Objects"] == [] and v["ExitStatus"] == 2, "check --since in JSON", v)
    p = subprocess.run([RDMACTL, "check", "--since=-1h"], env={**ENV, "RDMAD_BUS": "no"}, capture_output=True,
                       preexec_fn=lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534)))
    tap(p.returncode == 3 and p.stdout == b"rdma UNKNOWN: the journal cannot be read\n",
        "check --since: who may not read the journal cannot tell", p)


test_list()
test_text()
test_rights()
test_follow()
test_check()
sys.exit(tap.end())
