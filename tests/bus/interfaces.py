#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""interfaces.py SOURCE GENERATED...: what the vtables serve (org.rdmad1.*.xml as built) is what was agreed on
(daemon/publish/interfaces) and what org.rdmad1(5) says, name for name and type for type. TAP on stdout.
"""
import difflib
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "rdmactl"))
from tap import Tap  # noqa: E402

publish = pathlib.Path(sys.argv[1]) / "daemon/publish"
page = (publish / "org.rdmad1.5.scd").read_text()
fields = (publish / "fields.c").read_text()
by_name = {which: set(re.findall(r'{ "(\w+)", \w+, FIELD_BY_NAME', table))
           for which, table in re.findall(r"^const struct field (\w+)_fields\[\] = {(.*?)^};", fields, re.M | re.S)}
tap = Tap()


def section(title):
    return re.search(rf"^# {re.escape(title)}\n(.*?)(?=^# |\Z)", page, re.M | re.S).group(1)


def arguments(member, direction):
    return [(a.get("type"), a.get("name")) for a in member.findall("arg") if a.get("direction", "in") == direction]


def synopsis(method):
    """As the page writes it: "SaveBaseline(as objects, t flags) -> u"."""
    into = ", ".join(f"{t} {n}" for t, n in arguments(method, "in"))
    out = "".join(f" -> {t}" for t, n in arguments(method, "out"))
    return f"{method.get('name')}({into}){out}"


def lines(text):
    """The terms that a section explains: lines that begin with a name in bold, without the markup."""
    return [re.sub(r"\*|(?<!\w)_|_(?!\w)", "", line) for line in text.splitlines() if line.startswith("*")]


for path in map(pathlib.Path, sys.argv[2:]):
    name = path.stem
    generated, agreed = path.read_text(), (publish / "interfaces" / path.name).read_text()
    tap(generated == agreed, f"{name} is as agreed on",
        "".join(difflib.unified_diff(agreed.splitlines(True), generated.splitlines(True), "agreed", "served"))
        + f"if that is meant: cp {path} {publish}/interfaces/")
    interface = ElementTree.fromstring(generated).find("interface")
    served = [synopsis(m) for m in interface.findall("method") + interface.findall("signal")]
    served += [f"{p.get('name')} {p.get('type')}" for p in interface.findall("property")]
    said = []
    for line in lines(section(name.upper())):
        said += [line] if "(" in line else line.split(", ")
    tap(sorted(served) == sorted(said), f"org.rdmad1(5) says what {name} has, and no more",
        f"not said: {sorted(set(served) - set(said))}\nsaid only: {sorted(set(said) - set(served))}")
    # Of a field of FIELD_BY_NAME, and of no other: not in GetAll, nor in our own GetManagedObjects.
    explicit = {p.get("name") for p in interface.findall("property")
                if p.find("annotation[@name='org.freedesktop.systemd1.Explicit']") is not None}
    tap(explicit == by_name.get(name.split(".")[-1].lower(), set()), f"{name}: the table of fields says what is by name")
    for method in interface.findall("method"):
        reads = method.get("name").startswith(("Describe", "Explain"))
        last = arguments(method, "in")[-1:] == [("t", "flags")]
        tap(last != reads, f"{name}.{method.get('name')} {'only reads' if reads else 'can be given flags one day'}")

header = (publish / "bus-names.h").read_text()
table = dict(re.findall(r"SD_BUS_ERROR_MAP\((\w+), (\w+)\)", (publish / "bus-errors.c").read_text()))
errors = {e: table.get(c) for c, e in re.findall(r'#define (BUS_ERROR_\w+)\s+"([\w.]+)"', header)}
said = dict(re.findall(r"^\*(org\.rdmad1\.Error\.\w+)\* \((\w+)\)$", section("ERRORS"), re.M))
tap(errors == said and len(said) > 0, "org.rdmad1(5) has the errors, each with its errno", (errors, said))
sys.exit(tap.end())
