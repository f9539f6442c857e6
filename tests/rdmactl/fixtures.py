# SPDX-License-Identifier: MIT
"""State files as rdmad writes them (DESIGN section 8), one function per situation.

Times are relative to the moment of writing and lie well inside a step of what rdmactl shows, so
that the golden files do not depend on how fast the test runs.
"""
import json

MIN, HOUR, DAY = 60, 3600, 86400
AGO_SHORT = 5 * HOUR + 7 * MIN + 30   # "5h 7min"
AGO_LONG = 3 * DAY + 4 * HOUR + 1800  # "3d 4h"


def us(now, ago):
    return int((now - ago) * 1_000_000)


def reason(now, id, severity="failed", cls="link", ago=AGO_SHORT, found=None, wanted=None,
           remedy=None, **more):
    return {"Id": id, "Severity": severity, "Class": cls, "Subject": None, "Since": us(now, ago),
            "Found": found, "Wanted": wanted, "Remedy": remedy, "Acknowledged": False, **more}


def port(now, number=1, **over):
    p = {"Number": number, "LinkLayer": "InfiniBand", "PortState": "active", "PhysState": "linkup",
         "Rate": 400000, "Width": "4X", "Speed": "NDR", "ActiveMtu": 4096, "Lid": 17, "SmLid": 1,
         "NetDevice": "ibp1s0", "NetDeviceIndex": 5, "Group": None, "Required": True,
         "HealthState": "ok", "HealthSince": us(now, AGO_LONG), "Reasons": [],
         "IgnoredBecause": None, "FlapCount": 0, "DownSince": None, "ProbeState": "fresh",
         "LastProbe": us(now, 2), "Gids": None, "Peer": None, "Module": None}
    p.update(over)
    return p


def device(now, n=0, ports=None, **over):
    d = {"Index": n, "Name": f"mlx5_{n}", "NodeGuid": f"0a7f:bc12:45ef:d2{n:02x}",
         "SysImageGuid": f"0a7f:bc12:45ef:d2{n:02x}", "NodeType": "CA", "Driver": "mlx5_core",
         "PciAddress": f"0000:{0x1b + n:02x}:00.0", "Adapter": f"0000:{0x1b + n:02x}:00",
         "NumaNode": n // 4, "FirmwareVersion": "28.39.1002", "BoardId": "MT_0000000838",
         "HealthState": "ok", "HealthSince": us(now, AGO_LONG), "Reasons": [],
         "IgnoredBecause": None, "SetupState": None,
         "Ports": [port(now, NetDevice=f"ibs{n}")] if ports is None else ports}
    d.update(over)
    return d


def state(now, pid, devices, **over):
    s = {"Daemon": {"Running": True, "Version": "0.1.0", "ConfigGeneration": 2, "Pid": pid,
                    "Timestamp": us(now, 12 * MIN + 30)},
         "HealthState": "ok", "HealthSince": us(now, AGO_LONG), "Reasons": [],
         "Devices": devices, "Missing": [], "Setup": [], "Events": []}
    s.update(over)
    return s


def event(now, ago, object, reason, old, new, message):
    return {"When": us(now, ago), "Object": object, "Reason": reason, "OldState": old,
            "NewState": new, "Message": message}


def port_down_reason(now):
    return reason(now, "port-down", found="down, physical state Polling", wanted="active",
                  remedy="No signal from the peer: look at the cable, the transceiver and the "
                         "switch port.")


# ---- the situations ----

def healthy(now, pid):
    return state(now, pid, [device(now)])


def softroce(now, pid):
    p = port(now, LinkLayer="Ethernet", Rate=2500, Width="1X", Speed="SDR", NetDevice="d0", Lid=None,
             SmLid=None, ActiveMtu=1024)
    d = device(now, Name="rxe0", Driver="rxe", PciAddress=None, Adapter="software", NumaNode=None,
               FirmwareVersion=None, BoardId=None, ports=[p])
    return state(now, pid, [d], Setup=[
        {"Step": "load-module", "Object": "rdma_rxe", "Found": "not loaded", "Wanted": "loaded",
         "Result": "changed", "Detail": None, "Disruptive": False},
        {"Step": "add-link", "Object": "rxe1", "Found": None, "Wanted": "rxe on d1",
         "Result": "waiting", "Detail": "netdev d1 is not there yet", "Disruptive": False}])


def port_down(now, pid):
    p = port(now, LinkLayer="Ethernet", PortState="down", PhysState="polling", NetDevice="ens1f0np0",
             HealthState="failed", HealthSince=us(now, AGO_SHORT), DownSince=us(now, AGO_SHORT),
             FlapCount=1, Rate=2500, Width="1X", Speed="SDR", Lid=None, SmLid=None,
             Reasons=[port_down_reason(now)])
    return state(now, pid, [device(now, ports=[p], HealthState="failed")],
                 HealthState="failed", HealthSince=us(now, AGO_SHORT),
                 Events=[event(now, AGO_SHORT, "mlx5_0/1", "port-down", "ok", "failed",
                               "mlx5_0/1: port down (was active 3d 4h), physical state Polling: no "
                               "signal from the peer")])


def eight_one_down(now, pid):
    devices = [device(now, n) for n in range(8)]
    devices[3]["HealthState"] = "failed"
    devices[3]["Ports"][0].update(
        PortState="down", PhysState="polling", HealthState="failed", DownSince=us(now, AGO_SHORT),
        Reasons=[port_down_reason(now)])
    devices[5]["Ports"][0]["Reasons"] = [
        reason(now, "async-events-unavailable", "notice", "monitor",
               found="no verbs context: it would pin the driver", wanted="events")]
    return state(now, pid, devices, HealthState="failed", HealthSince=us(now, AGO_SHORT), Events=[
        event(now, AGO_LONG, "mlx5_1/1", "link-blip", "ok", "ok",
              "mlx5_1/1: link went down and came back between two readings"),
        event(now, AGO_SHORT, "mlx5_3/1", "port-down", "ok", "failed",
              "mlx5_3/1: port down (was active 3d 4h), physical state Polling: no signal")])


def unresponsive(now, pid):
    r = reason(now, "device-unresponsive", "unknown", "device", found="no answer for 12 s",
               wanted="an answer within 5 s",
               remedy="Look for firmware errors in the kernel log; a power cycle may be needed.")
    hung = port(now, ProbeState="silent", HealthState="unknown", NetDevice="ibs1")
    devices = [device(now, 0), device(now, 1, ports=[hung], HealthState="unknown", Reasons=[r])]
    return state(now, pid, devices, HealthState="unknown", HealthSince=us(now, AGO_SHORT))


def missing(now, pid):
    r = reason(now, "device-missing", "failed", "device", found="nothing at 0000:1c:00.0",
               wanted="mlx5_1", remedy="Reseat the adapter or remove it from the configuration.")
    return state(now, pid, [device(now, 0)], HealthState="failed", HealthSince=us(now, AGO_SHORT),
                 Missing=[{"Name": "mlx5_1", "NodeGuid": "0a7f:bc12:45ef:d201",
                           "PciAddress": "0000:1c:00.0", "HealthState": "failed", "Reasons": [r]}])


def flapping(now, pid):
    p = port(now, HealthState="degraded", FlapCount=7, NetDevice="ibs0", Reasons=[
        reason(now, "link-flapping", "degraded", found="7 times in 1h", wanted="fewer than 3",
               Acknowledged=True)])
    return state(now, pid, [device(now, ports=[p], HealthState="degraded")], HealthState="degraded")


def classes(now, pid):
    """A degraded link that is acknowledged, a host's setup, a device of which nothing is known."""
    slow = reason(now, "width-degraded", "degraded", found="2X", wanted="4X", Acknowledged=True,
                  AcknowledgedBy="root", AcknowledgedAt=us(now, AGO_SHORT), AcknowledgedComment="cable is ordered")
    note = reason(now, "rate-differs", "notice", found="200", wanted="400")
    devices = [device(now, 0, ports=[port(now, Group="compute", HealthState="degraded", NetDevice="ibs0",
                                          Reasons=[slow, note])], HealthState="degraded"),
               device(now, 1, ports=[port(now, Group="storage", NetDevice="ibs1", Reasons=[note])]),
               device(now, 2, ports=[port(now, Group="old", ProbeState="silent", HealthState="unknown",
                                          NetDevice="ibs2")], HealthState="unknown", Reasons=[
                   reason(now, "device-unresponsive", "unknown", "device", found="no answer for 12 s")])]
    return state(now, pid, devices, HealthState="degraded", HealthSince=us(now, AGO_SHORT), Reasons=[
        reason(now, "setup-failed", "degraded", "setup", Subject="siw", found="module not found",
               wanted="loaded")])


def starting(now, pid):
    p = port(now, PortState="init", HealthState="starting", NetDevice="ibs0", Rate=None)
    return state(now, pid, [device(now, ports=[p], HealthState="starting")], HealthState="starting")


def ignored(now, pid):
    never = "never seen ACTIVE, and not configured as expected"
    off = {"PortState": "down", "PhysState": "disabled", "HealthState": "ignored",
           "Required": False, "IgnoredBecause": never}
    devices = [device(now, 0),
               device(now, 1, ports=[port(now, 1, **off), port(now, 2, **off)],
                      HealthState="ignored"),
               device(now, 2, HealthState="ignored", IgnoredBecause="Monitor=no",
                      ports=[port(now, HealthState="ignored", IgnoredBecause="Monitor=no",
                                  PortState=None, PhysState=None, Rate=None)])]
    return state(now, pid, devices)


def setup_failed(now, pid):
    return state(now, pid, [device(now)], HealthState="degraded", HealthSince=us(now, AGO_SHORT),
                 Reasons=[reason(now, "setup-failed", "degraded", "setup", Subject="siw",
                                 found="module not found", wanted="loaded",
                                 remedy="Install the kernel's extra modules package.")],
                 Setup=[{"Step": "load-module", "Object": "siw", "Found": "not there",
                         "Wanted": "loaded", "Result": "failed",
                         "Detail": "module not found (ENOENT)", "Disruptive": False}])


def many(now, pid):
    """256 ports, two of them down."""
    devices = [device(now, n, PciAddress=f"0000:{n:02x}:00.0",
                      NodeGuid=f"0a7f:bc12:45ef:{n:04x}") for n in range(256)]
    for n in (17, 200):
        devices[n]["HealthState"] = "failed"
        devices[n]["Ports"][0].update(PortState="down", PhysState="polling", HealthState="failed",
                                      Reasons=[port_down_reason(now)])
    return state(now, pid, devices, HealthState="failed", HealthSince=us(now, AGO_SHORT))


def all_down(now, pid):
    """A switch lost power: many in trouble at once."""
    devices = [device(now, n) for n in range(40)]
    for d in devices:
        d["HealthState"] = "failed"
        d["Ports"][0].update(PortState="down", PhysState="polling", HealthState="failed",
                             Reasons=[port_down_reason(now)])
    return state(now, pid, devices, HealthState="failed", HealthSince=us(now, AGO_SHORT))


def nothing(now, pid):
    return state(now, pid, [])


def dead(now, pid):
    """The daemon that wrote it is gone: no process has the highest number there is."""
    return port_down(now, 4194304)


def sparse(now, pid):
    """Absent keys, wrong types and words of the future: unknown, not a crash."""
    return {"Daemon": {"Pid": pid}, "HealthState": "splendid", "Reasons": None, "Devices": [
        {}, {"Name": 7, "Ports": "none"}, None, "text",
        {"Name": "mlx5_4", "HealthState": "failed", "Reasons": [{}, None, 3], "Ports": [
            {}, None, {"Number": "1", "PortState": "unknown(9)", "Rate": -1, "Reasons": {"a": 1}},
            {"Number": 4, "PortState": "active", "Rate": "fast", "HealthState": "ok",
             "NewProperty": [1, [2, {"x": None}], {"Deep": {"er": 1.5}}]}]}],
        "Missing": [{}, {"NodeGuid": "0001:0002:0003:0004"}, 1], "Setup": [{}, None],
        "Events": [{}, None, {"When": "yesterday"}]}


EVIL = "\x1b]0;pwned\x07\x1b[31m\x9b2J\x7f\u202e\r\n$(reboot)"


def hostile(now, pid):
    """What a device could say: escape sequences, C1 controls, bidirectional overrides."""
    p = port(now, NetDevice=EVIL, PortState="down", PhysState=EVIL, HealthState="failed",
             Reasons=[reason(now, EVIL, found=EVIL, wanted=EVIL, remedy=EVIL)])
    q = port(now, 2, HealthState="ignored", IgnoredBecause=EVIL)
    d = device(now, Name="mlx5" + EVIL, FirmwareVersion=EVIL, BoardId="µ-board", HealthState=EVIL,
               ports=[p, q], **{EVIL: EVIL})
    return state(now, pid, [d], HealthState="failed", Missing=[
        {"Name": EVIL, "NodeGuid": EVIL, "PciAddress": EVIL, "Reasons": []}], Setup=[
        {"Step": EVIL, "Object": EVIL, "Result": EVIL, "Detail": EVIL}], Events=[
        event(now, AGO_SHORT, EVIL, EVIL, EVIL, EVIL, EVIL)])


def truncated(now, pid):
    return json.dumps(port_down(now, pid), indent=2).encode()[:700]


def garbage(now, pid):
    return bytes(range(256))


def empty(now, pid):
    return b""


def array(now, pid):
    return b"[1, 2]"


def absent(now, pid):
    return None


def gid(index, type, gid, address, netdev):
    return {"Index": index, "Type": type, "Gid": gid, "Address": address, "NetDevice": netdev}


def hop(address, speed, width, max_speed, max_width):
    return {"Address": address, "Speed": speed, "Width": width, "MaxSpeed": max_speed,
            "MaxWidth": max_width}


LOCAL = "fe80:0000:0000:0000:ba59:9fff:fe00:0001"
MAPPED = "0000:0000:0000:0000:0000:ffff:0a00:0001"


def topology(now, pid):
    """Behind a switch with one slow link, on a bond; a VF; an InfiniBand port; nothing known."""
    bond = port(now, LinkLayer="Ethernet", NetDevice="bond0", Speed="HDR", Rate=200000, Bond="bond0",
                UmadNode="umad0", BondLegs=[
                    {"Name": "ens1f0np0", "State": "active", "Carrier": True},
                    {"Name": "ens1f1np1", "State": "backup", "Carrier": False}],
                PKeys=[{"Index": 0, "PKey": "0xffff"}],
                Gids=[gid(0, "RoCE v1", LOCAL, "fe80::ba59:9fff:fe00:1", "bond0"),
                      gid(1, "RoCE v2", LOCAL, "fe80::ba59:9fff:fe00:1", "bond0"),
                      gid(2, "RoCE v1", MAPPED, "10.0.0.1", "bond0"),
                      gid(3, "RoCE v2", MAPPED, "10.0.0.1", "bond0")],
                Qos={"Trust": "dscp", "DcbxOwner": "host", "Pfc": [3], "PauseRx": False,
                     "PauseTx": False, "PauseAutoneg": None, "PauseTxFrames": 0,
                     "PauseRxFrames": None, "PriorityClass": [0, 0, 0, 3, 0, 0, 6, 0],
                     "ClassBandwidth": [40, 0, 0, 60, 0, 0, 0, 0], "ClassAlgorithm": [2, 2, 2, 2, 2, 2, 0, 2]})
    ib = port(now, NetDevice="ibs1", UmadNode="umad1",
              Gids=[gid(0, "IB", "fe80:0000:0000:0000:0a7f:bc12:45ef:d201",
                        "fe80::a7f:bc12:45ef:d201", None)],
              PKeys=[{"Index": i, "PKey": f"0x{0x8001 + i:04x}"} for i in range(20)])
    devices = [
        device(now, 0, ports=[bond], LocalCpus="0-15,64-79", UverbsNode="uverbs1", Gpu="0000:1c:00.0",
               GpuHops=2, VirtualFunction=False, NodeDescription="node1 mlx5_0", HcaType="MT4123",
               HardwareRevision="0", PcieLinks=[
                   hop("0000:1b:00.0", 16000, 16, 16000, 16), hop("0000:1a:01.0", 16000, 16, 32000, 16),
                   hop("0000:19:00.0", 16000, 8, 32000, 16), hop("0000:16:01.0", 16000, 8, 32000, 16)]),
        device(now, 1, ports=[ib], LocalCpus="16-31", UverbsNode="uverbs0", VirtualFunction=True,
               PhysicalFunction="0000:1b:00.0", PcieLinks=[hop("0000:1c:00.2", None, None, 32000, 16),
                                                           hop("0000:16:02.0", 32000, 16, 32000, 16)],
               ReleasedUntil=None, ReleasedBy=None),
        device(now, 2, PcieLinks=None),
        device(now, 3, PcieLinks=[hop("0000:00:05.0", None, None, None, None)],
               ports=[port(now, Gids=[], PKeys=[], NetDevice=None)])]
    return state(now, pid, devices)


def odd_topology(now, pid):
    """What no daemon should say."""
    p = port(now, Gids=[None, 7, {}, {"Index": "x", "Type": 3}], PKeys=[None, {}], BondLegs=[{}, 3],
             Bond=EVIL, Qos={"Trust": EVIL, "Pfc": [None, "x"], "PauseRx": 3, "PriorityClass": [None, -1, 0],
                             "ClassAlgorithm": [2, {}, 2], "ClassBandwidth": [7, 8], "DcbxOwner": 4})
    return state(now, pid, [device(now, ports=[p], PcieLinks=[None, {}, {"Speed": -1}], LocalCpus=EVIL,
                                   Gpu=EVIL, VirtualFunction="yes")])


def counter(now, name, value, delta=0, source="hw", rate=0.0, **over):
    c = {"Name": name, "SafeName": name.replace(",", "_"), "Source": source, "Value": value,
         "LastRead": us(now, 1.5), "Stale": False, "Delta": delta, "DeltaSince": us(now, AGO_SHORT),
         "Rate": rate, "Width": None, "Gauge": False, "Saturated": False, "Resets": 0}
    c.update(over)
    return c


def counters_of(n, counters, **over):
    p = {"Object": f"mlx5_{n}/1", "Device": f"mlx5_{n}", "Number": 1,
         "NodeGuid": f"0a7f:bc12:45ef:d2{n:02x}", "HwError": None, "PmaError": None,
         "Counters": counters}
    p.update(over)
    return p


def counters(now):
    return {"Daemon": {"Running": True, "Version": "0.1.0"}, "Ports": [
        counters_of(0, [
            counter(now, "out_of_sequence", 17, 3, rate=0.25),
            counter(now, "rx_read_requests", 500),
            counter(now, "packet_seq_err", 0),
            counter(now, "local_ack_timeout_err", None, None, rate=None),
            counter(now, "port_xmit_data", 1000000000, 250000000, "pma", rate=2500000.0, Width=64),
            counter(now, "link_downed", 255, 0, "pma", Width=8, Saturated=True),
            counter(now, "symbol_error", 12, 12, "pma", Width=16, Stale=True, Resets=1,
                    LastRead=us(now, 5 * MIN + 30)),
            counter(now, "active_qps", 40, None, Gauge=True, rate=None)]),
        counters_of(1, [counter(now, "rcvd_pkts", 0)], PmaError="EINVAL: " + EVIL),
        counters_of(2, [counter(now, "cmds_err", 0)], Object="mlx5_2", Number=0)]}


def odd_counters():
    """What no daemon should say."""
    return {"Daemon": 7, "Ports": [
        None, 3, {}, {"Object": EVIL, "Number": "1", "HwError": 5, "Counters": "none"},
        {"Object": "mlx5_0/1", "Number": 1, "PmaError": EVIL, "Counters": [
            None, {}, {"Name": EVIL, "Value": -1, "Delta": "x"}, {"Name": "symbol_error", "Value": 1.5},
            {"Name": "port_rcv_data", "Value": 2 ** 63 - 1, "Delta": 2 ** 63 - 1, "Rate": 1e300,
             "DeltaSince": -5, "Stale": True, "LastRead": None, "Resets": 2 ** 62,
             "Saturated": True, "Gauge": "yes"},
            {"Name": "big", "Value": 1.7e19, "Delta": 1.8e19}]}]}


def many_counters(now):
    """256 ports with 100 counters each."""
    return {"Daemon": {}, "Ports": [
        counters_of(n, [counter(now, f"packet_seq_err_{i}", i, i) for i in range(100)],
                    NodeGuid=f"0a7f:bc12:45ef:{n:04x}") for n in range(256)]}


def rule(rule, outcome, text, severity="failed", cls="link", subject=None, origin=None):
    return {"Rule": rule, "Severity": severity, "Class": cls, "Subject": subject, "Outcome": outcome,
            "Text": text, "Origin": origin}


def explanation(now):
    """What Explain() says of a port in trouble."""
    return {"Object": "mlx5_0/1", "HealthState": "failed", "IgnoredBecause": None, "Rules": [
        rule("link-flapping", "clear", "1 time down in 1h; FlapCount=3", "degraded"),
        rule("no-subnet-manager", "absent", "only InfiniBand has a subnet manager", cls="fabric",
             origin="/etc/rdmad/rdmad.conf.d/10-site.conf:7"),
        rule("port-down", "raised", "state down; expected by configuration",
             origin="/etc/rdmad/rdmad.conf:12"),
        rule("link-errors", "pending", "12/min of 60/min for 40 s of 1min", "degraded",
             subject="symbol_error"),
        rule("of-the-future", "perhaps", None)],
        "Reasons": [{**port_down_reason(now), "Acknowledged": True, "AcknowledgedBy": "root",
                     "AcknowledgedComment": "cable is ordered"}]}


ALL = [topology, odd_topology, healthy, softroce, port_down, eight_one_down, unresponsive, missing, flapping, classes, starting,
       ignored, setup_failed, many, all_down, nothing, dead, sparse, hostile, truncated, garbage,
       empty, array, absent]
