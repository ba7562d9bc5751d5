"""Every figure of a report, computed again with pandas from the Parquet files of a run.

Written from docs/how-to/analysis.md. Nothing of `spark_analysis` is used. Which subscription a notification
or a whole reading satisfies is decided by the language's own matcher; everything else is counted here.
"""

import json
import math
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from knowledge_manager.mission_table import load_mission_table
from plugins.registry import languages
from tests.spark_analysis.synthetic import Told, notification_vector
from watchdog.header import body_of

Message = tuple[int, int]
Pair = tuple[int, int, int]
PLAIN, READINGS, COMPOSITES = 0, 1, 4
"""Languages: of plain messages, of readings, of composites."""
BINS = 120


class TraceOracle:
    """A run's tables, and what they come to."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._tables: dict[str, pd.DataFrame] = {}
        manifest = json.loads((run / "manifest.json").read_text())
        self.end_ms: int = manifest["simulated_ms"]
        self.scenario = manifest["scenario"]
        self.table_of_words = load_mission_table(self.scenario["vocabularies"])

    def table(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def _read(self, name: str) -> pd.DataFrame:
        parts = sorted((self.run / "trace" / name).glob("part-*.parquet"))
        frame = pa.concat_tables(
            [pq.read_table(part) for part in parts], promote_options="permissive"
        ).to_pandas()
        for column in frame.select_dtypes("category"):
            frame[column] = frame[column].astype(object)
        return frame

    # ------------------------------------------------------------------ devices

    @cached_property
    def nodes(self) -> dict[int, Any]:
        return {row.node: row for row in self.table("nodes").itertuples()}

    @cached_property
    def device(self) -> dict[int, int]:
        """An engine NAME.role is in the device NAME."""
        numbers = {row.name: node for node, row in self.nodes.items()}
        return {node: numbers[row.name.split(".")[0]] for node, row in self.nodes.items()}

    @cached_property
    def devices(self) -> list[int]:
        return sorted(set(self.device.values()))

    # ------------------------------------------------------------------ messages

    @cached_property
    def messages(self) -> pd.DataFrame:
        frame = self.table("messages")
        frame["device"] = frame["node"].map(self.device)
        frame["peer_device"] = frame["peer"].map(self.device)
        frame["between"] = frame["peer"].notna() & (frame["device"] != frame["peer_device"])
        return frame

    @cached_property
    def notes(self) -> pd.DataFrame:
        """Steps of notifications."""
        return self.messages[self.messages["type"].isin(["notification", "notify"])]

    @cached_property
    def shown(self) -> pd.DataFrame:
        return self.messages[self.messages["kind"] == "delivered"]

    def transfers(self) -> int:
        """Go through every item by itself: how many devices but that of its source came to have it, one that
        lost its store counted again.
        """
        emptied = self.table("node_state")
        emptied = emptied[emptied["reason"] == "restart_empty"]
        lives = {node: sorted(rows["at_ms"]) for node, rows in emptied.groupby("node")}
        reached = set()
        for row in self.notes[self.notes["kind"].isin(["replicated", "stored", "delivered"])].itertuples():
            if row.device != self.device[row.origin]:
                life = sum(at_ms <= row.at_ms for at_ms in lives.get(row.device, ()))
                reached.add((row.origin, row.number, row.device, life))
        return len(reached)

    def radio(self) -> dict[str, Any]:
        came = self.transfers()
        again = int((self.notes["between"] & (self.notes["kind"] == "duplicate")).sum())
        far = sum(self.device[row.origin] != self.device[row.node] for row in self.shown.itertuples())
        composites = int((self.shown["language"] == COMPOSITES).sum())
        sent = self.messages[self.messages["kind"] == "sent"]
        frames = octets = 0
        by_type: Counter[str] = Counter()
        for row in sent.itertuples():
            number, size = self.on_air(row.node, int(row.peer), row.bytes)
            frames, octets = frames + number, octets + size
            by_type[row.type] += size
        return {
            "relayed": came,
            "duplicates": again,
            "delivered": len(self.shown) - composites,
            "composite_deliveries": composites,
            "deliveries": len(self.shown),
            "delivered_between_devices": far,
            "transmissions": len(sent),
            "frames": frames,
            "bytes_on_air": octets,
            "by_type": {type_: (int((sent["type"] == type_).sum()), size) for type_, size in by_type.items()},
        }

    def on_air(self, one: int, other: int, octets: int) -> tuple[int, int]:
        """Return the frames of a message on a link, and its bytes with their overhead."""
        groups = {group["name"]: group["radio"] for group in self.scenario["group"]}
        radios = [self.scenario["radio"][groups[self.nodes[node].group]] for node in (one, other)]
        limits = [radio["frame_bytes"] for radio in radios if radio["frame_bytes"]]
        frames = math.ceil(octets / min(limits)) if limits else 1
        return frames, octets + frames * max(radio["overhead_bytes"] for radio in radios)

    # ------------------------------------------------------------------ expected deliveries

    @cached_property
    def revisions(self) -> list[dict[str, Any]]:
        """The rows of one revision together: created first, expired last, withdrawn first."""
        found = []
        for (subscriber, id_, seq), rows in self.table("subscriptions").groupby(["subscriber", "id", "seq"]):
            withdrawn = rows["withdrawn_ms"].dropna()
            found.append(
                {
                    "subscriber": subscriber,
                    "id": id_,
                    "seq": seq,
                    "language": int(rows["language"].iloc[0]),
                    "created": int(rows["created_ms"].min()),
                    "expires": int(rows["expires_ms"].max()),
                    "withdrawn": int(withdrawn.min()) if len(withdrawn) else None,
                    "body": body_of(rows["vector"].iloc[0]),
                }
            )
        return found

    def satisfied(self, language: int, vector: bytes, at_ms: int) -> list[dict[str, Any]]:
        """Return the revisions in force that a notification of a source satisfies."""
        matcher = self._matchers[language]
        found = [self.revisions[match.key[0]] for match in matcher.match(vector, at_ms, at_ms)]
        return [
            one
            for one in found
            if one["created"] <= at_ms < one["expires"]
            and (one["withdrawn"] is None or at_ms < one["withdrawn"])
        ]

    @cached_property
    def _matchers(self) -> dict[int, Any]:
        found = {}
        for number in (PLAIN, READINGS):
            found[number] = languages()[number].matchers[number](self.table_of_words)
            for place, one in enumerate(self.revisions):
                if one["language"] == number:
                    found[number].add((place, 0), one["body"])
        return found

    @cached_property
    def expected(self) -> pd.DataFrame:
        """One row for each pair of notification and subscriber, composites left out."""
        arrived = self.shown.sort_values("at_ms", kind="stable").groupby(["origin", "number", "node"]).first()
        rows = []
        for told in self.table("notifications").itertuples():
            if told.language == COMPOSITES:
                continue
            by_subscriber = defaultdict(list)
            for one in self.satisfied(told.language, told.vector, told.at_ms):
                by_subscriber[one["subscriber"]].append(one)
            for subscriber, its in by_subscriber.items():
                pair = (told.origin, told.number, subscriber)
                seen = arrived.loc[pair] if pair in arrived.index else None
                ends = [one["withdrawn"] for one in its]
                rows.append(
                    {
                        "origin": told.origin,
                        "number": told.number,
                        "subscriber": subscriber,
                        "language": told.language,
                        "event": told.at_ms,
                        "over": told.at_ms + told.lifetime_ms,
                        "withdrawn": None if None in ends else max(ends),
                        "delivered": None if seen is None else int(seen["at_ms"]),
                        "hops": None if seen is None else int(seen["hops"]),
                        "revisions": [(one["subscriber"], one["id"], one["seq"]) for one in its],
                    }
                )
        frame = pd.DataFrame(rows).astype({"withdrawn": object, "delivered": object, "hops": object})
        frame = frame.where(frame.notna(), None)
        frame["outcome"] = [self._outcome(row) for row in frame.itertuples()]
        frame["whole"] = [
            row.over <= self.end_ms and not (row.withdrawn is not None and row.withdrawn < row.over)
            for row in frame.itertuples()
        ]
        return frame

    def _outcome(self, row: Any) -> str:
        if row.delivered is not None:
            return "delivered"
        if row.withdrawn is not None and row.withdrawn < row.over and row.withdrawn <= self.end_ms:
            return "withdrawn"
        if row.over <= self.end_ms:
            return "missed"
        return "open" if (row.origin, row.number) in self.left else "lost"

    # ------------------------------------------------------------------ copies

    @cached_property
    def _holders(self) -> dict[Message, set[int]]:
        """Replay who holds what, engine by engine."""
        held: defaultdict[Message, set[int]] = defaultdict(set)
        emptied = [
            (row.at_ms, row.node)
            for row in self.table("node_state").itertuples()
            if row.reason == "restart_empty"
        ]
        steps = ("created", "made", "stored", "replicated", "dropped", "expired", "acknowledged")
        for row in self.notes[self.notes["kind"].isin(steps)].itertuples():
            while emptied and emptied[0][0] <= row.at_ms:
                _, node = emptied.pop(0)
                for engines in held.values():
                    engines.discard(node)
            engines = held[row.origin, row.number]
            if row.kind in ("created", "made", "stored", "replicated"):
                engines.add(row.node)
            elif row.kind in ("dropped", "expired") or self.device[row.node] != row.node:
                engines.discard(row.node)
        return held

    @cached_property
    def left(self) -> set[Message]:
        return {message for message, engines in self._holders.items() if engines}

    @cached_property
    def carried_left(self) -> set[Message]:
        made = set(zip(*(self.table("composites")[name] for name in ("origin", "number")), strict=True))
        return {
            message
            for message, engines in self._holders.items()
            if any(node != message[0] or message in made for node in engines)
        }

    @cached_property
    def carried(self) -> set[Message]:
        """A node that refused a notification never had it, in whatever frame it came."""
        steps = self.notes[self.notes["node"] != self.notes["origin"]]
        steps = steps[steps["kind"].isin(["stored", "replicated", "delivered"])]
        return set(zip(steps["origin"], steps["number"], strict=True))

    def refused(self, *, framed: bool) -> set[Message]:
        """Return what nodes had no room for and none ever had: with a frame of its own, or without one, in a
        batch or inside a device.
        """
        steps = self.notes[self.notes["node"] != self.notes["origin"]]
        refused = steps[(steps["kind"] == "refused") & (steps["reason"] == "no_room")]
        received = steps[steps["kind"] == "received"]
        keys, alone = (set(zip(one["origin"], one["number"], strict=True)) for one in (refused, received))
        return {key for key in keys - self.carried if (key in alone) == framed}

    @cached_property
    def ran_out(self) -> set[Message]:
        """Replay each copy up to the moment at which it expires. A device that is down still has it."""
        return {message for message, _, _ in self.expired_copies}

    @cached_property
    def expired_copies(self) -> list[tuple[Message, int, bool]]:
        """Copies of carriers that expired: message, node, and whether the node recorded it."""
        told = self.table("notifications")
        over = dict(
            zip(
                zip(told["origin"], told["number"], strict=True),
                told["at_ms"] + told["lifetime_ms"],
                strict=True,
            )
        )
        states = self.table("node_state")
        emptied = states[states["reason"] == "restart_empty"]
        steps = self.notes[self.notes["node"] != self.notes["origin"]]
        steps = steps[steps["kind"].isin(["stored", "replicated", "dropped", "expired"])]
        found = []
        for (origin, number, node), rows in steps.groupby(["origin", "number", "node"], sort=False):
            if (origin, number) not in over:
                continue
            lives = [(at_ms, "restart_empty") for at_ms in emptied[emptied["node"] == node]["at_ms"]]
            changes = sorted([*lives, *zip(rows["at_ms"], rows["kind"], strict=True)], key=lambda one: one[0])
            before = [kind for at_ms, kind in changes if at_ms < over[origin, number]]
            is_recorded = bool((rows["kind"] == "expired").any())
            is_held = bool(before) and before[-1] in ("stored", "replicated")
            if is_recorded or (is_held and over[origin, number] <= self.end_ms):
                found.append(((origin, number), node, is_recorded))
        return found

    # ------------------------------------------------------------------ delivery and delay

    def served(self, pairs: pd.DataFrame) -> dict[str, Any]:
        counts = Counter(pairs["outcome"])
        whole = pairs[pairs["whole"]]
        done = int((whole["outcome"] == "delivered").sum())
        found: dict[str, Any] = {
            name: counts[name] for name in ("delivered", "missed", "open", "lost", "withdrawn")
        }
        found |= {"owed": len(pairs), "whole": len(whole), "whole_delivered": done}
        found["ratio"] = counts["delivered"] / len(pairs) if len(pairs) else None
        found["whole_ratio"] = done / len(whole) if len(whole) else None
        return found

    def by(self, key: str) -> dict[Any, dict[str, Any]]:
        pairs = self.expected.copy()
        pairs["group"] = [self.nodes[one].group for one in pairs["subscriber"]]
        return {name: self.served(rows) for name, rows in pairs.groupby(key)}

    def by_subscription(self) -> dict[tuple[int, int, int], dict[str, Any]]:
        rows = self.expected.explode("revisions")
        known = {name: self.served(its) for name, its in rows.groupby("revisions")}
        nothing = self.served(rows.iloc[:0])
        return {
            key: known.get(key, nothing)
            for one in self.revisions
            if one["language"] != COMPOSITES
            for key in [(one["subscriber"], one["id"], one["seq"])]
        }

    @cached_property
    def times(self) -> list[tuple[float, bool]]:
        """How long each pair was watched, and whether it arrived then; what never arrives is infinite."""
        found = []
        for row in self.expected.itertuples():
            if row.outcome == "delivered":
                found.append((row.delivered - row.event, True))
            elif row.outcome in ("missed", "lost"):
                found.append((math.inf, False))
            else:
                until = row.withdrawn if row.outcome == "withdrawn" else self.end_ms
                found.append((until - row.event, False))
        return found

    @cached_property
    def curve(self) -> list[tuple[float, float]]:
        """Kaplan and Meier's estimate: (time, share that takes longer) after each arrival."""
        alive, found = 1.0, []
        for moment in sorted({time for time, arrived in self.times if arrived}):
            ended = sum(time == moment and arrived for time, arrived in self.times)
            alive *= 1 - ended / sum(time >= moment for time, _ in self.times)
            found.append((moment, alive))
        return found

    def within(self, share: float) -> float | None:
        return next((time / 1000 for time, longer in self.curve if longer <= 1 - share + 1e-12), None)

    @cached_property
    def delays(self) -> list[int]:
        done = self.expected[self.expected["outcome"] == "delivered"]
        return sorted(done["delivered"] - done["event"])

    def rank(self, percent: int) -> float:
        return self.delays[max(math.ceil(percent * len(self.delays) / 100), 1) - 1] / 1000

    def by_hops(self) -> dict[int, tuple[int, float]]:
        """Follow each delivery back to its source, transfer by transfer between devices."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for row in self.expected[self.expected["outcome"] == "delivered"].itertuples():
            inside = sum(self.device[node] != node for node in (row.origin, row.subscriber))
            found[row.hops - inside].append(row.delivered - row.event)
        return {hops: (len(its), sum(its) / len(its) / 1000) for hops, its in found.items()}

    # ------------------------------------------------------------------ ground truth

    @cached_property
    def _delivered_readings(self) -> dict[tuple[int, int, int], set[int]]:
        """Who was shown a notification of each reading."""
        told = self.table("notifications")
        told = told[told["language"] == READINGS]
        readings = {
            (row.origin, row.number): (row.origin, int(row.event), row.event_number)
            for row in told.itertuples()
        }
        found: defaultdict[tuple[int, int, int], set[int]] = defaultdict(set)
        for row in self.shown.itertuples():
            if (row.origin, row.number) in readings:
                found[readings[row.origin, row.number]].add(row.node)
        return found

    def truth(self) -> dict[str, int]:
        """Every reading in full × every subscription in force: one fate each, the best."""
        order = (
            "delivered", "under_way", "withdrawn", "too_late", "dropped", "never_carried", "held_back",
            "not_asked_for_this", "not_asked",
        )  # fmt: skip
        told = self.table("notifications")
        of_reading: defaultdict[tuple[int, int, int], set[Message]] = defaultdict(set)
        for row in told[told["language"] == READINGS].itertuples():
            of_reading[row.origin, int(row.event), row.event_number].add((row.origin, row.number))
        fate_of_pair = {
            (row.origin, row.number, row.subscriber): self._fate(row)
            for row in self.expected[self.expected["language"] == READINGS].itertuples()
        }
        counts: Counter[str] = Counter()
        in_vain = 0
        wanted_pairs = set()
        for row in self.table("filter_decisions").itertuples():
            people = self._wanting(row)
            key = (row.node, row.event, row.event_number)
            in_vain += row.released > 0 and not people and not self._is_part(row)
            for subscriber in people:
                wanted_pairs.add((*key, subscriber))
                fates = [
                    fate_of_pair[(*message, subscriber)]
                    for message in of_reading[key]
                    if (*message, subscriber) in fate_of_pair
                ]
                at_source = (
                    "held_back"
                    if isinstance(row.suppressed, str)
                    else "not_asked_for_this"
                    if row.installed
                    else "not_asked"
                )
                counts[min([*fates, at_source], key=order.index)] += 1
        unwanted = sum(
            (*reading, subscriber) not in wanted_pairs
            for reading, people in self._delivered_readings.items()
            for subscriber in people
        )
        return {**{fate: counts[fate] for fate in order}, "unwanted": unwanted, "released_in_vain": in_vain}

    def _fate(self, row: Any) -> str:
        message = (row.origin, row.number)
        if row.outcome in ("delivered", "withdrawn"):
            return str(row.outcome)
        if message not in self.carried:
            return "never_carried"
        if row.over > self.end_ms:
            return "under_way" if message in self.carried_left else "dropped"
        return "too_late" if message in self.ran_out else "dropped"

    def _vector(self, row: Any) -> bytes:
        """A reading as one notification with all of its values."""
        present = int.from_bytes(row.attributes, "big")
        indexes = [index for index in range(8 * len(row.attributes)) if present >> index & 1]
        values = dict(zip(indexes, row.values, strict=True))
        return notification_vector(Told(row.node, row.event_number, row.at_ms, values))

    def _wanting(self, row: Any) -> set[int]:
        return {one["subscriber"] for one in self.satisfied(READINGS, self._vector(row), row.at_ms)}

    def _is_part(self, row: Any) -> bool:
        """Return whether a reading is part of a composite that is subscribed, or a source made one of it."""
        at_ms = row.at_ms
        for matcher, one in self._parts:
            in_force = one["created"] <= at_ms < one["expires"]
            in_force &= one["withdrawn"] is None or at_ms < one["withdrawn"]
            if in_force and list(matcher.match(self._vector(row), at_ms, at_ms)):
                return True
        told = self.table("notifications")
        made = told[(told["language"] == COMPOSITES) & (told["origin"] == row.node)]
        return bool((made["event_number"] == row.event_number).any())

    @cached_property
    def _parts(self) -> list[tuple[Any, dict[str, Any]]]:
        found = []
        take_apart = languages()[COMPOSITES].parts(self.table_of_words)
        for one in self.revisions:
            if one["language"] == COMPOSITES:
                for part in take_apart(one["body"]):
                    matcher = languages()[READINGS].matchers[READINGS](self.table_of_words)
                    matcher.add((0, 0), part.body)
                    found.append((matcher, one))
        return found

    # ------------------------------------------------------------------ the network

    @property
    def bin_ms(self) -> int:
        return max(1, math.ceil(self.end_ms / BINS))

    def bins(self) -> range:
        return range(math.ceil(self.end_ms / self.bin_ms))

    @cached_property
    def down(self) -> dict[int, list[tuple[float, float]]]:
        """When each node was down."""
        found: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        since: dict[int, int] = {}
        for row in self.table("node_state").sort_values("at_ms", kind="stable").itertuples():
            if row.state == "down":
                since[row.node] = row.at_ms
            elif row.node in since:
                found[row.node].append((since.pop(row.node), row.at_ms))
        for node, at_ms in since.items():
            found[node].append((at_ms, math.inf))
        return found

    @cached_property
    def partitions(self) -> list[tuple[set[int], float, float]]:
        """Who reaches only each other, from when until when."""
        found = []
        for fault in self.scenario["fault"]:
            if fault["kind"] == "partition":
                named = {
                    node for node, row in self.nodes.items() if {row.group, row.name} & set(fault["who"])
                }
                begin = 1000 * fault["at_s"]
                found.append(
                    (named, begin, math.inf if fault["for_s"] is None else begin + 1000 * fault["for_s"])
                )
        return found

    def can_talk(self, a: int, b: int, at_ms: float) -> bool:
        """Return whether nothing is between two devices in range at a moment."""
        if any(begin <= at_ms < end for one in (a, b) for begin, end in self.down.get(one, ())):
            return False
        return not any(
            begin <= at_ms < end and (a in island) != (b in island) for island, begin, end in self.partitions
        )

    @cached_property
    def _moments(self) -> list[float]:
        """Every moment at which something between devices changes, and every sample."""
        contacts = self.table("contacts")
        edges = {*contacts["begin_ms"], *contacts["end_ms"], *self.table("node_state")["at_ms"]}
        for _, begin, end in self.partitions:
            edges |= {begin, end}
        return sorted({float(one) for one in edges} | {float(one * self.bin_ms) for one in self.bins()})

    def pieces(self) -> tuple[list[int], list[int], list[int]]:
        """Flood at every moment: how many pieces, the largest, and the ordered pairs that time has joined."""
        contacts = list(self.table("contacts").itertuples())
        knows = {device: {device} for device in self.devices}
        samples = {float(one * self.bin_ms) for one in self.bins()}
        pieces, largest, reachable = [], [], []
        for at_ms in self._moments:
            near = defaultdict(set)
            for one in contacts:
                # A contact that begins now counts, and one that ends now too: what ends is cut just after.
                if one.begin_ms <= at_ms <= one.end_ms and self._talk(one.a, one.b, at_ms, one.begin_ms):
                    near[one.a].add(one.b)
                    near[one.b].add(one.a)
            parts = _components(self.devices, near)
            for part in parts:
                together = set().union(*(knows[device] for device in part))
                for device in part:
                    knows[device] = set(together)
            if at_ms in samples:
                pieces.append(len(parts))
                largest.append(max(map(len, parts)))
                reachable.append(sum(len(one) - 1 for one in knows.values()))
        return pieces, largest, reachable

    def _talk(self, a: int, b: int, at_ms: float, begin_ms: float) -> bool:
        """Whether they can talk now, or could just before: what ends at a moment counts at that moment."""
        return self.can_talk(a, b, at_ms) or (at_ms > begin_ms and self.can_talk(a, b, at_ms - 1e-6))

    def contact_times(self) -> dict[str, Any]:
        """Lengths of contacts and of the gaps between them, and which of them were cut off."""
        contacts = self.table("contacts")
        contacts = contacts[contacts["begin_ms"] < self.end_ms]
        known, cut = 0, 0
        for one in contacts.itertuples():
            is_cut = one.censored or one.begin_ms <= 0 or one.end_ms >= self.end_ms
            known, cut = known + (not is_cut), cut + is_cut
        gaps = open_gaps = 0
        for _, rows in contacts.groupby(["a", "b"]):
            gaps += len(rows) - 1
            open_gaps += not bool((rows["censored"] | (rows["end_ms"] >= self.end_ms)).any())
        count = len(self.devices)
        return {
            "pairs": count * (count - 1) // 2,
            "pairs_met": len(contacts.groupby(["a", "b"])),
            "contact": (known, cut),
            "inter_contact": (gaps, open_gaps),
        }

    # ------------------------------------------------------------------ what devices hold and use

    def degree(self) -> list[float | None]:
        """Devices that ever held a copy, for each notification so far, at the end of every bin."""
        first: dict[tuple[int, int, int], int] = {}
        for row in self.messages[self.messages["type"] == "notification"].itertuples():
            if row.kind in ("created", "made", "stored", "replicated"):
                first.setdefault((row.origin, row.number, row.device), row.at_ms)
        found: list[float | None] = []
        for one in self.bins():
            end = (one + 1) * self.bin_ms
            held = [key for key, at_ms in first.items() if at_ms < end]
            made = [key for key in held if self.device[key[0]] == key[2]]
            found.append(len(held) / len(made) if made else None)
        return found

    def _held(self) -> dict[int, list[tuple[int, int, int]]]:
        """(time, items, bytes) of every device, each engine at its last value of every moment."""
        engines: defaultdict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        found: defaultdict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        for row in self.table("buffers").itertuples():
            its = engines[self.device[row.node]]
            its[row.node] = (row.notifications, row.notification_bytes)
            total = (sum(one for one, _ in its.values()), sum(size for _, size in its.values()))
            found[self.device[row.node]][row.at_ms] = total
        return {
            device: [(at_ms, *total) for at_ms, total in sorted(its.items())] for device, its in found.items()
        }

    def loads(self) -> dict[str, dict[str, Any]]:
        found = {}
        held = self._held()
        for group in {row.group for row in self.nodes.values()}:
            members = [device for device in self.devices if self.nodes[device].group == group]
            item_ms = watched = peak = peak_bytes = 0
            for device in members:
                its = held.get(device, [])
                for (at_ms, items, size), (until, *_) in zip(its, [*its[1:], (self.end_ms,)], strict=True):
                    if until > at_ms:
                        item_ms, watched = item_ms + items * (until - at_ms), watched + until - at_ms
                        peak, peak_bytes = max(peak, items), max(peak_bytes, size)
            found[group] = {
                "nodes": len(members),
                "mean_items": item_ms / watched if watched else None,
                "peak_items": peak,
                "peak_bytes": peak_bytes,
            }
        return found

    def copies(self) -> tuple[list[int], list[int]]:
        """Copies in all buffers at the end of every bin, and their bytes."""
        buffers = self.table("buffers")
        items, sizes = [], []
        for one in self.bins():
            last = buffers[buffers["at_ms"] < (one + 1) * self.bin_ms].groupby("node").last()
            items.append(int(last["notifications"].sum()))
            sizes.append(int(last["notification_bytes"].sum()))
        return items, sizes

    def energy(self) -> dict[str, float]:
        """From the table; and what the radio must have used, from the frames of the trace."""
        last = self.table("energy").groupby("node").last()
        settings = self.scenario["energy"]
        groups = {group["name"]: group["energy"] for group in self.scenario["group"]}
        radio = 0.0
        for row in self.messages[self.messages["kind"].isin(["sent", "received"])].itertuples():
            name = groups[self.nodes[row.node].group]
            if name is not None:
                key = "send_j_per_byte" if row.kind == "sent" else "receive_j_per_byte"
                radio += settings[name][key] * self.on_air(row.node, int(row.peer), row.bytes)[1]
        total = float(last[["idle_j", "radio_j", "compute_j"]].sum().sum())
        return {
            "total_j": total,
            "radio_j": float(last["radio_j"].sum()),
            "radio_from_frames_j": radio,
            "devices": len(last),
            "all_devices": len(self.devices),
            "j_per_delivery": total / len(self.shown),
        }

    # ------------------------------------------------------------------ the rest

    def timeline(self) -> tuple[list[int], list[int]]:
        count = len(self.bins())
        owed, delivered = [0] * count, [0] * count
        for row in self.expected.itertuples():
            owed[row.event // self.bin_ms] += 1
            if row.delivered is not None:
                delivered[int(row.delivered) // self.bin_ms] += 1
        return owed, delivered

    def jain(self, key: str) -> float:
        ratios = [one["ratio"] for one in self.by(key).values() if one["ratio"] is not None]
        return float(sum(ratios) ** 2 / (len(ratios) * sum(ratio * ratio for ratio in ratios)))

    def composites_shown(self) -> set[tuple[int, bytes]]:
        """Results of composites that subscribers were shown, whichever message carried them."""
        told = self.shown[self.shown["language"] == COMPOSITES][["origin", "number", "node"]]
        both = told.merge(self.table("results"), on=["origin", "number"])
        return set(zip(both["node"], both["identity"], strict=True))

    def installs(self) -> tuple[int, int]:
        """Return spared and all installs of a subscription at a source."""
        rows = self.messages[self.messages["type"] == "install"]
        got, spared = set(), set()
        for row in rows.itertuples():
            if row.kind in ("received", "duplicate", "refused"):
                got.add((row.node, row.origin, row.number))
            elif row.kind == "acknowledged":
                got.add((int(row.peer), row.origin, row.number))
            elif row.kind == "spared":
                spared.add((int(row.peer), row.origin, row.number))
        return len(spared - got), len(spared | got)

    def metrics(self) -> dict[str, float | None]:
        """Return every metric of the catalogue that a run without brokers and forwarding has."""
        served, radio, truth = self.served(self.expected), self.radio(), self.truth()
        readings, work = self.table("filter_decisions"), self.table("matching_work")
        named = work[work["number"].notna()]
        steps = named[["feature_tests", "memberships", "aggregations", "pairs", "rows"]].sum().sum()
        wanted = sum(truth.values()) - truth["unwanted"] - truth["released_in_vain"]
        spared, installs = self.installs()
        far = radio["delivered_between_devices"]
        return {
            "delivery_ratio": served["ratio"],
            "open_ratio": served["open"] / served["owed"],
            "whole_lifetime_ratio": served["whole_ratio"],
            "delivery_estimate": 1 - self.curve[-1][1],
            "recall": truth["delivered"] / wanted,
            "mean_delay_s": sum(self.delays) / len(self.delays) / 1000,
            "median_delay_s": self.rank(50),
            "p95_delay_s": self.rank(95),
            "median_owed_delay_s": self.within(0.5),
            "overhead_ratio": (radio["relayed"] - far) / far,
            "duplicate_share": radio["duplicates"] / (radio["duplicates"] + radio["relayed"]),
            "bytes_per_delivery": radio["bytes_on_air"] / radio["deliveries"],
            "forwarded_share": None,
            "mean_hops": None,
            "routing_words": None,
            "share_kept": float((readings["released"] == 0).mean()),
            "matching_steps": steps / named["notifications"].sum(),
            "matching_s": None,
            "installs_spared": spared / installs,
        }


def _components(devices: list[int], near: dict[int, set[int]]) -> list[set[int]]:
    left, found = set(devices), []
    while left:
        part, waiting = set(), [min(left)]
        while waiting:
            one = waiting.pop()
            if one not in part:
                part.add(one)
                waiting += near.get(one, set()) - part
        left -= part
        found.append(part)
    return found
