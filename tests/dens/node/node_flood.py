"""A flood of a keyed node's process, with an honest flow beside it, and what it cost the node."""

import os
import signal
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from dens.node.keys import new_mission_key, write_key
from dens.node.links.neighbours import Address
from dens.node.settings.schema import address_of
from dens.overlay.wire.envelope import TAGGED, VERSION
from tests.dens.node.node_process import LONG_S, PATIENT, node_file, processes

MOST_SENT = 400
"""Datagrams in a burst; bursts come a hundred times a second."""


@dataclass
class Cost:
    """What a process has used until now, and what has come to its socket."""

    cpu_s: float
    rss_kb: int
    received: int

    @classmethod
    def of(cls, pid: int, port: int, sent: int) -> "Cost":
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = int(words[11]) + int(words[12])
        status = Path(f"/proc/{pid}/status").read_text()
        [rss] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
        [dropped] = [
            int(line.split()[-1])
            for line in Path("/proc/net/udp").read_text().splitlines()[1:]
            if int(line.split()[1].split(":")[1], 16) == port
        ]
        return cls(ticks / os.sysconf("SC_CLK_TCK"), int(rss), sent - dropped)


@dataclass
class Flood:
    """Sends junk, forged hellos and untagged bytes to a node until it is stopped: from sockets of its
    own and, where the machine lets it, with the source addresses of honest ends.
    """

    node: Address
    spoofed: list[int]
    sent: int = 0
    is_spoofing: bool = False
    _is_over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        chance = Random(1)
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(40)]
        raw = _raw_socket()
        self.is_spoofing = raw is not None
        try:
            while not self._is_over.wait(0.01):
                for _ in range(MOST_SENT):
                    data = _hostile(chance)
                    try:
                        if raw is not None and chance.random() < 0.5:
                            packet = _udp_packet(chance.choice(self.spoofed), self.node[1], data)
                            raw.sendto(packet, self.node)
                        else:
                            chance.choice(sockets).sendto(data, self.node)
                    except OSError:
                        continue
                    self.sent += 1
        finally:
            for one in (*sockets, *([raw] if raw is not None else [])):
                one.close()

    def end(self) -> None:
        self._is_over.set()


def _hostile(chance: Random) -> bytes:
    kind = chance.random()
    if kind < 0.3:
        return chance.randbytes(chance.randrange(1, 200))
    origin = chance.choice((65002, 65003, chance.randrange(2**31)))
    version = VERSION << 4
    plain, tagged = (version, b"\0"), (version | TAGGED, chance.randbytes(8 + chance.randrange(40)))
    first, body = chance.choice((plain, tagged))
    head = struct.pack(">BBBBIIIBB", first, chance.choice((1, 2, 3, 35)), 0, 0, origin, 1 << 31, 0, 0, 0)
    return head + body


def _raw_socket() -> socket.socket | None:
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    except PermissionError:
        return None


def _udp_packet(source: int, target: int, data: bytes) -> bytes:
    """Return an IP packet on loopback with this source port; the kernel fills in its checksum."""
    loopback = socket.inet_aton("127.0.0.1")
    length = 8 + len(data)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0, 64, 17, 0, loopback, loopback)
    return ip + struct.pack(">HHHH", source, target, length, 0) + data


def port_of(pid: int) -> int:
    """Return the UDP port of a process."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        name = str(one.readlink()) if one.is_symlink() else ""
        if name.startswith("socket:["):
            found.add(name[8:-1])
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if words[9] in found:
            return int(words[1].split(":")[1], 16)
    raise AssertionError("the process has no UDP socket")


def flood_a_node(folder: Path, seconds: float) -> tuple[list[Cost], Flood, list[int], list[int]]:
    """Flood a keyed node for so long while a bed publishes and a medic listens; return what it cost at the
    beginning, after a third, two thirds and at the end, and the numbers published and delivered.
    """
    write_key(new_mission_key(), folder / "mission.key")
    path = node_file(folder, 1, key="mission.key")
    day = folder / "day.csv"
    rows = ["40.1,134,88" for _ in range(round(2 * seconds))]
    day.write_text("\n".join(("patient_temperature,heart_rate,oxygen_saturation", *rows, "")))
    with processes() as start:
        node = start("run", path)
        at = node.wait_for(event="begun")["address"]
        medic = start("subscribe", path, PATIENT, "--at", at)
        medic.wait_for(event="acknowledged", type="subscribe")
        words = ["--event", "patient", "--at", at, "--period", "0.4", "--wait", LONG_S]
        bed = start("publish", path, day, *words)
        bed.wait_for(event="installed")
        flood = Flood(address_of(at), [port_of(medic.pid), port_of(bed.pid)])
        thread = threading.Thread(target=flood.run, daemon=True)
        thread.start()
        costs = [Cost.of(node.pid, flood.node[1], flood.sent)]
        for _ in range(3):
            time.sleep(seconds / 3)
            costs.append(Cost.of(node.pid, flood.node[1], flood.sent))
        figures = bed.wait_for(event="ended")
        flood.end()
        thread.join()
        assert bed.end() == 0
        assert figures["taken_by_node"] == figures["published"] > 0
        delivered = [medic.wait_for(event="delivered") for _ in range(figures["published"])]
        medic.end(signal.SIGTERM)
        delivered += [told for told in medic.rest() if told["event"] == "delivered"]
        assert node.end(signal.SIGTERM) == 0
        stored = [
            told for told in node.rest() if told["event"] == "stored" and told["type"] == "notification"
        ]
        published = [told["number"] for told in stored]
        return costs, flood, published, [told["number"] for told in delivered]


def judge(folder: Path, seconds: float) -> str:
    """Flood a node, demand what is promised, and return what was measured."""
    costs, flood, published, delivered = flood_a_node(folder, seconds)
    assert sorted(delivered) == sorted(set(published)), "everything honest once"
    begin, first, second, last = costs
    per_datagram = [
        (after.cpu_s - before.cpu_s) / max(1, after.received - before.received)
        for before, after in ((begin, first), (second, last))
    ]
    said = (
        f"{flood.sent:,} sent, {last.received:,} came, spoofed {flood.is_spoofing}; {len(published)} honest; "
        f"RSS {first.rss_kb:,} to {last.rss_kb:,} kB; CPU {1e6 * per_datagram[0]:.0f} then "
        f"{1e6 * per_datagram[1]:.0f} us a datagram"
    )
    assert last.received > 100 * seconds, said
    assert last.rss_kb < 1.05 * first.rss_kb + 4_096, said
    assert per_datagram[1] < 2 * per_datagram[0], said
    return said
