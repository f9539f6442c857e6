#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""All that rdmad says on D-Bus, with Debian's python3-dbus: a line for the host, for each device and each port, as
an agent would read them. DBUS_SYSTEM_BUS_ADDRESS is another bus than the system's.
"""
import json

import dbus

bus = dbus.SystemBus()
root = bus.get_object("org.rdmad1", "/org/rdmad1")
host = root.GetAll("org.rdmad1.Manager", dbus_interface="org.freedesktop.DBus.Properties")
print("host", host["HealthState"], *(r["Id"] for r in host["Reasons"]))



def gids(port):
    """They can be many, and are only given to who asks for them."""
    return bus.get_object("org.rdmad1", port).Get("org.rdmad1.Port", "Gids",
                                                  dbus_interface="org.freedesktop.DBus.Properties")


objects = root.GetManagedObjects(dbus_interface="org.freedesktop.DBus.ObjectManager")
for path, interfaces in sorted(objects.items()):
    if "org.rdmad1.Port" in interfaces:
        port = interfaces["org.rdmad1.Port"]
        device = objects[port["Device"]]["org.rdmad1.Device"]
        print(f"{device['Name']}/{port['Number']}", port["HealthState"], port["PortState"], f"{port['Rate']} Mbit/s",
              *(g["Address"] for g in gids(path)), *(r["Id"] for r in port["Reasons"]))
    else:
        device = interfaces["org.rdmad1.Device"]
        print(device["Name"], device["HealthState"], device["FirmwareVersion"], *(r["Id"] for r in device["Reasons"]))

description = json.loads(root.Describe(dbus_interface="org.rdmad1.Manager"))
print(len(description["Devices"]), "devices in", description["Daemon"]["Version"])
