"""The tables of a trace: what every run writes down, column by column.

One table is one folder of Parquet parts. A table's columns never change meaning; adding or changing one
raises `SCHEMA_VERSION`, and readers keep the older versions: a table that a trace does not have has no rows,
and a column of `ADDED_COLUMNS` that a part does not have is null. Times are milliseconds of simulated time
since the start of the run. Nodes are numbers; the table `nodes` says who they are. The prose for every column
stands in docs/reference/trace-format.md, which a contract test holds against this file; Spark's types are
made of it.
"""

from typing import Final

import pyarrow as pa

SCHEMA_VERSION: Final = 4
NUMBERED_BY_CLASS: Final = 4
"""Since this version readings are numbered apart in each event class, and notifications name it."""

_word = pa.dictionary(pa.int8(), pa.string())
"""A column with few different words. Spark reads it as a plain string."""


def _table(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def _with_nullable(schema: pa.Schema, *names: str) -> pa.Schema:
    return pa.schema([field.with_nullable(field.name in names) for field in schema])


TABLES: Final[dict[str, pa.Schema]] = {
    # Who takes part. One row a node.
    "nodes": _table(
        ("node", pa.int32()),
        ("name", pa.string()),
        ("group", pa.string()),
        ("role", _word),
    ),
    # How they move: straight legs at constant speed, without gaps, from 0 to the end of the run.
    "motion": _table(
        ("node", pa.int32()),
        ("begin_ms", pa.float64()),
        ("end_ms", pa.float64()),
        ("x0_m", pa.float64()),
        ("y0_m", pa.float64()),
        ("x1_m", pa.float64()),
        ("y1_m", pa.float64()),
    ),
    # When two nodes are in range, from motion alone (a < b). `censored`: still in range at the end of the
    # run.
    "contacts": _table(
        ("a", pa.int32()),
        ("b", pa.int32()),
        ("begin_ms", pa.float64()),
        ("end_ms", pa.float64()),
        ("censored", pa.bool_()),
    ),
    # When a node is up. The first row of every node is at 0.
    "node_state": _table(
        ("at_ms", pa.int64()),
        ("node", pa.int32()),
        ("state", _word),
        ("reason", _word),
    ),
    # Every subscription revision of an application, and when it was withdrawn.
    "subscriptions": _with_nullable(
        _table(
            ("subscriber", pa.int32()),
            ("id", pa.int32()),
            ("seq", pa.int32()),
            ("language", pa.int32()),
            ("created_ms", pa.int64()),
            ("expires_ms", pa.int64()),
            ("withdrawn_ms", pa.int64()),
            ("vector", pa.binary()),
            ("document", pa.string()),
        ),
        "withdrawn_ms",
        "document",
    ),
    # Every step of every message. (origin, number) names the message, node is where it happened, peer the
    # other side.
    "messages": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("kind", _word),
            ("node", pa.int32()),
            ("peer", pa.int32()),
            ("type", _word),
            ("language", pa.int32()),
            ("origin", pa.int32()),
            ("number", pa.int64()),
            ("bytes", pa.int32()),
            ("hops", pa.int32()),
            ("age_ms", pa.int64()),
            ("reason", _word),
        ),
        "peer",
        "reason",
    ),
    # Every reading that a watchdog judged. `released` counts the notifications it became. `exact` are the
    # values as the source knew them, where a byte for each does not say all of it; since version 3. `stamp`
    # is what notifications say of the time, where the source's own clock shows another; since version 4.
    "filter_decisions": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("node", pa.int32()),
            ("event_number", pa.int32()),
            ("event", pa.int32()),
            ("attributes", pa.binary()),
            ("values", pa.binary()),
            ("installed", pa.int32()),
            ("released", pa.int32()),
            ("degree_u8", pa.int32()),
            ("suppressed", _word),
            ("cost_us", pa.float64()),
            ("exact", pa.binary()),
            ("stamp", pa.int32()),
        ),
        "suppressed",
        "exact",
        "stamp",
    ),
    # What a reading of `filter_decisions` would have been, had its sensor not erred: a row for each reading
    # of a sensor with a stated error. Since version 4.
    "true_readings": _table(
        ("at_ms", pa.int64()),
        ("node", pa.int32()),
        ("event_number", pa.int32()),
        ("event", pa.int32()),
        ("attributes", pa.binary()),
        ("values", pa.binary()),
        ("exact", pa.binary()),
    ),
    # Every document that a source offered to its filter. `released` counts the notifications it became. Since
    # version 3.
    "documents": _table(
        ("at_ms", pa.int64()),
        ("node", pa.int32()),
        ("event_number", pa.int32()),
        ("language", pa.int32()),
        ("vector", pa.binary()),
        ("installed", pa.int32()),
        ("released", pa.int32()),
    ),
    # The notifications that left a source filter, by message. `event` is the class of the reading, among
    # whose readings `event_number` counts; null for documents, which are counted apart; since version 4.
    "notifications": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("origin", pa.int32()),
            ("number", pa.int64()),
            ("language", pa.int32()),
            ("event_number", pa.int32()),
            ("lifetime_ms", pa.int64()),
            ("vector", pa.binary()),
            ("event", pa.int32()),
        ),
        "event",
    ),
    # The notifications that DENS nodes made of others, which they held; `event_ms` is that of the last of
    # these. Since version 4.
    "composites": _table(
        ("at_ms", pa.int64()),
        ("origin", pa.int32()),
        ("number", pa.int64()),
        ("language", pa.int32()),
        ("event_ms", pa.int64()),
        ("lifetime_ms", pa.int64()),
        ("vector", pa.binary()),
    ),
    # What notifications say, made or published, where several may say the same. Since version 4.
    "results": _table(
        ("at_ms", pa.int64()),
        ("origin", pa.int32()),
        ("number", pa.int64()),
        ("language", pa.int32()),
        ("identity", pa.binary()),
        ("rank", pa.int32()),
    ),
    # What a DENS node found: this notification satisfies this subscription revision. `detail` is what else
    # the subscription's language knows of it; since version 3.
    "matches": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("node", pa.int32()),
            ("origin", pa.int32()),
            ("number", pa.int64()),
            ("subscriber", pa.int32()),
            ("id", pa.int32()),
            ("seq", pa.int32()),
            ("degree_u8", pa.int32()),
            ("cost_us", pa.float64()),
            ("detail", pa.binary()),
        ),
        "detail",
    ),
    # What a DENS node's matchers did for a notification, where a scenario says how they match or what they
    # compute with; without origin and number for several at once, when a subscription came late. Since
    # version 4.
    "matching_work": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("node", pa.int32()),
            ("origin", pa.int32()),
            ("number", pa.int64()),
            ("notifications", pa.int32()),
            ("matches", pa.int32()),
            ("feature_tests", pa.int64()),
            ("memberships", pa.int64()),
            ("aggregations", pa.int64()),
            ("pairs", pa.int64()),
            ("rows", pa.int64()),
            ("cost_us", pa.float64()),
        ),
        "origin",
        "number",
    ),
    # Routing entries that a broker has from a neighbour and sends to it, written on change. Since version 4.
    "routing": _table(
        ("at_ms", pa.int64()),
        ("node", pa.int32()),
        ("peer", pa.int32()),
        ("advertisements", pa.int32()),
        ("subscriptions", pa.int32()),
        ("covered", pa.int32()),
        ("mergers", pa.int32()),
    ),
    # What a node holds, written when it changes.
    "buffers": _table(
        ("at_ms", pa.int64()),
        ("node", pa.int32()),
        ("subscriptions", pa.int32()),
        ("notifications", pa.int32()),
        ("notification_bytes", pa.int64()),
    ),
    # Every hop of a frame between nodes that are not in range of each other; `lost` says why it ended there.
    # (source, destination) are its ends, `frame` names it. Since version 4.
    "hops": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("sent_ms", pa.int64()),
            ("node", pa.int32()),
            ("peer", pa.int32()),
            ("source", pa.int32()),
            ("destination", pa.int32()),
            ("frame", pa.int64()),
            ("hop", pa.int32()),
            ("bytes", pa.int32()),
            ("lost", _word),
        ),
        "sent_ms",
        "peer",
        "lost",
    ),
    # When two nodes that are not in range have a contact (a < b), and over how many hops. Since version 4.
    "overlay_contacts": _table(
        ("a", pa.int32()),
        ("b", pa.int32()),
        ("begin_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("hops", pa.int32()),
        ("censored", pa.bool_()),
    ),
    # What a device has used since the start, and what its battery still holds. Since version 2.
    "energy": _with_nullable(
        _table(
            ("at_ms", pa.int64()),
            ("node", pa.int32()),
            ("idle_j", pa.float64()),
            ("radio_j", pa.float64()),
            ("compute_j", pa.float64()),
            ("battery_j", pa.float64()),
        ),
        "battery_j",
    ),
}

ADDED_COLUMNS: Final[dict[str, frozenset[str]]] = {
    "filter_decisions": frozenset({"exact", "stamp"}),
    "matches": frozenset({"detail"}),
    "notifications": frozenset({"event"}),
}
"""The columns that a table did not have in its first version; all of them may be null."""

RENAMED_WORDS: Final[dict[tuple[str, str], dict[str, str]]] = {
    ("messages", "type"): {"bundle": "batch"},
    ("messages", "reason"): {"sealed": "unexpected_tag", "unsealed": "no_tag"},
}
"""Words of (table, column) as versions 1 and 2 wrote them, and what they are called now."""

MESSAGE_KINDS: Final = (
    "created",  # an application or a protocol machine made it
    "made",  # a DENS node made it of notifications that it holds, and keeps it
    "sent",  # it was put on the air
    "received",  # it came in whole
    "lost",  # it was on the air and did not arrive: the radio lost it, or the contact ended
    "stored",  # a node keeps it
    "replicated",  # a DENS node got its copy from another one
    "delivered",  # the application of a subscriber saw it, once
    "duplicate",  # it came again and was not shown again
    "acknowledged",  # the sender knows that the other side has it
    "expired",  # its lifetime was over
    "dropped",  # given up for another reason, which is named
    "refused",  # not accepted, for a named reason
    "spared",  # an install that a mediator did not send: what the source looks for stands for it
    "quarantined",  # some work with it failed and is not tried again, as the reason says
    "undecided",  # what it satisfies is not decided, or not yet: the reason is the work that was too much
)

NODE_STATES: Final = ("up", "down")
