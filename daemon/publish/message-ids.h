/* SPDX-License-Identifier: MIT */
/*
 * The MESSAGE_ID of each kind of journal record. Fixed for ever: made once with "systemd-id128
 * new", never changed, never used again. units/rdmad.catalog has one entry for each, in this order;
 * a unit test compares the two.
 */
#pragma once

/* A condition of that reason appeared, got worse, or still stands (a reminder). */
#define RDMAD_MESSAGE_PORT_DOWN                "22bd852da01e4804a88e3e7e8c6674df"
#define RDMAD_MESSAGE_NO_SUBNET_MANAGER        "51a89c544a4442b0bab97529f82352f4"
#define RDMAD_MESSAGE_LINK_BLIP                "4208dbc1b56b432eb66b1cc6d9469918"
#define RDMAD_MESSAGE_LINK_FLAPPING            "b04585a547934af082d7ed77a1106488"
#define RDMAD_MESSAGE_DEVICE_MISSING           "351fd1ce724c4e0db8e0992d2611fe2d"
#define RDMAD_MESSAGE_DEVICE_FATAL             "28ee77811fa54ae19b8cf0ae3a995cc9"
#define RDMAD_MESSAGE_DEVICE_UNRESPONSIVE      "3cff7ba81fb74e7ab0b3d1fb096171da"
#define RDMAD_MESSAGE_NETDEV_MISSING           "81e29a24eef048029510de5cf0eaab68"
#define RDMAD_MESSAGE_SETUP_FAILED             "e462c5560409443fb31b89c737b28337"
#define RDMAD_MESSAGE_SETUP_BLOCKED            "dbed318b60754d629e7e43156c466743"
#define RDMAD_MESSAGE_SETUP_DRIFTED            "b772fe31ecab4ca88c3efe13590ad3b6"
#define RDMAD_MESSAGE_ASYNC_EVENTS_UNAVAILABLE "f36e79f9b31c4f6888b605f6c27cb807"
#define RDMAD_MESSAGE_CONFIG_INVALID           "98a0692e89d643baa798995dd74eda58"
#define RDMAD_MESSAGE_PORT_UNREADABLE          "afe6289ad96c4aaaa3914a4b9777898c"
#define RDMAD_MESSAGE_COUNTERS_UNAVAILABLE     "b53a47a14f764ddfbd2e01f3ee5fad65"
#define RDMAD_MESSAGE_COUNT_MISSING            "be94e8285e434f6db54b569ecb567bd2"
#define RDMAD_MESSAGE_PORT_INCONSISTENT        "5fb336b68d634d76a8ddd7ba169739c0"
#define RDMAD_MESSAGE_WIDTH_DEGRADED           "ce2357d635aa491cb0456e0d45a5179f"
#define RDMAD_MESSAGE_SPEED_DEGRADED           "610e1aa0d47948f0a10a6e7b1c48a7be"
#define RDMAD_MESSAGE_RATE_DIFFERS             "4a04eb97ac2247e7b875ec61b076f0cf"
#define RDMAD_MESSAGE_UNEXPECTED_LINK_LAYER    "0ff5b0d883404cd39fcc75eb909f6e36"
#define RDMAD_MESSAGE_LAG_DEGRADED             "95293ea701084eb8b8ced7ca0db034ba"
#define RDMAD_MESSAGE_LINK_ERRORS              "ddb62bf59d3a43b6bcf8f8f2ca9b4564"
#define RDMAD_MESSAGE_COUNTER_SATURATED        "bc1538d1db3448f0954297631cb023a5"
#define RDMAD_MESSAGE_PCIE_DEGRADED            "f6c3512149e342489ebed26726bd6387"
#define RDMAD_MESSAGE_DEVICE_NODES_MISSING     "ebc1a9b02add4ab6acf95c81100f3398"
#define RDMAD_MESSAGE_GID_MISSING              "0311772728c84941a3c5902018e99e03"
#define RDMAD_MESSAGE_DEVICE_NOT_PROBED        "1b0d66fe58ba4baba0786461909cc9b6"
#define RDMAD_MESSAGE_DEVLINK_REPORTER_ERROR   "169ab71aaeab4b718ce47e95ceb62250"

/* A condition went away, whichever it was. */
#define RDMAD_MESSAGE_RECOVERED "61841f95fca04150bc1343406cc6cee7"

/* An adapter is not what it was: firmware, GUID, slot, netdev, best rate; new, replaced, gone, back. */
#define RDMAD_MESSAGE_INVENTORY "74ce085fefe941a3899b95393ac077e9"

/* The configuration was loaded again, or not since it is wrong. */
#define RDMAD_MESSAGE_CONFIG "4386fd4cb7954197987487a4e854224f"

/* Somebody told rdmad to do something: acknowledge, release, reload. */
#define RDMAD_MESSAGE_ADMIN "925bdbe1455348a684dde81620d19475"

/* A run of rdmad goes on where another one ended. */
#define RDMAD_MESSAGE_RESTART "71e32294c2c244209683c5186e260290"

/* Ports fell and came back faster than each could be told; now that it is over, how many. */
#define RDMAD_MESSAGE_LINK_STORM "40e5b0d0c13c45dab847c3e905f473df"
