"""The report as one HTML page: words, tables and pictures; no script, no request."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from spark_analysis.answers import Analysis, Served
from spark_analysis.figures import (
    contacts_figure,
    degree_figure,
    delay_figure,
    filtering_figure,
    holding_figure,
    map_figure,
    pieces_figure,
    reach_figure,
    timeline_figure,
    traffic_figure,
    truth_figure,
)
from spark_analysis.wording import bytes_text, number_text, share_text, time_text

_SERVED_HEAD: Final = ("owed", "delivered", "open", "missed", "ratio")


def page(analysis: Analysis) -> str:
    """Return the whole page. The same answers give the same text."""
    template = Template(files("spark_analysis").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(analysis.run.title),
        facts=escape(_facts(analysis)),
        notices="\n".join(f'<p class="notice" role="note">{escape(text)}</p>' for text in notices(analysis)),
        key=_key(analysis),
        delivery_table=_delivery_table(analysis),
        truth_text=escape(_truth_text(analysis)),
        truth_figure=truth_figure(analysis.truth),
        delay_text=escape(_delay_text(analysis)),
        delay_figure=delay_figure(analysis.delay, analysis.delivery.total),
        delay_table=_delay_table(analysis),
        hops_table=_hops_table(analysis),
        timeline_figure=timeline_figure(analysis.timeline),
        filtering_text=escape(_filtering_text(analysis)),
        filtering_figure=filtering_figure(analysis.filtering),
        traffic_text=escape(_traffic_text(analysis)),
        traffic_figure=traffic_figure(analysis.overhead.by_type),
        contacts_text=escape(_contacts_text(analysis)),
        contacts_figure=contacts_figure(analysis.contacts),
        fairness_text=escape(_fairness_text(analysis)),
        pieces_text=escape(_pieces_text(analysis)),
        pieces_figure=pieces_figure(analysis.pieces),
        reach_text=escape(_reach_text(analysis)),
        reach_figure=reach_figure(analysis.pieces),
        holding_text=escape(_holding_text(analysis)),
        holding_figure=holding_figure(analysis.holding),
        degree_text=escape(_degree_text(analysis)),
        degree_figure=degree_figure(analysis.holding),
        loads_table=_loads_table(analysis),
        map_text=escape(_map_text(analysis)),
        map_figure=map_figure(analysis.tracks, analysis.meetings),
        subscription_table=_subscription_table(analysis),
        given_up=_given_up(analysis),
    )


def notices(analysis: Analysis) -> list[str]:
    """Return what a reader must know first: the run is partial, a promise was broken, nothing was owed."""
    found = []
    if analysis.run.partial:
        found.append(
            f"This run is partial: it stopped after {time_text(analysis.run.end_s)} of simulated time, "
            "and everything below is about that part only."
        )
    if analysis.delivery.repeated:
        found.append(
            f"{analysis.delivery.repeated} notifications were shown to an application more than once; "
            "that must never happen."
        )
    if analysis.delivery.not_owed:
        found.append(f"{analysis.delivery.not_owed} deliveries were owed to nobody; that must never happen.")
    if not analysis.delivery.total.owed:
        found.append("Nothing was owed to anybody in this run, so there is no delivery ratio and no delay.")
    return found


def _facts(analysis: Analysis) -> str:
    run = analysis.run
    roles = ", ".join(
        f"{count} {role}{'s' if count != 1 else ''}" for role, count in run.nodes_by_role.items()
    )
    return " · ".join(
        [
            f"scenario {run.name}",
            f"seed {run.seed}",
            *([f"policy {run.policy}"] if run.policy else []),
            f"{time_text(run.end_s)} simulated",
            roles or "no nodes",
            f"{run.subscriptions} subscriptions",
            f"{run.notifications:,} notifications",
        ]
    )


def _key(analysis: Analysis) -> str:
    total, delay, overhead, filtering = (
        analysis.delivery.total,
        analysis.delay,
        analysis.overhead,
        analysis.filtering,
    )
    cards = [
        ("delivered", share_text(total.ratio), f"{total.delivered:,} of {total.owed:,} owed"),
        ("median delay", time_text(delay.p50_s), f"95 % within {time_text(delay.p95_s)}"),
        ("kept at home", share_text(filtering.share_kept), f"of {filtering.judged:,} readings"),
        (
            "overhead",
            number_text(overhead.overhead_ratio),
            f"{overhead.relayed:,} transfers of notifications",
        ),
        ("radio per delivery", bytes_text(overhead.bytes_per_delivery), "everything sent, of every type"),
    ]
    return "\n".join(
        f'<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd class="note">{escape(note)}</dd></div>'
        for name, value, note in cards
    )


def _delivery_table(analysis: Analysis) -> str:
    rows = [(group.group, *_served_cells(group.served)) for group in analysis.delivery.by_group]
    if len(rows) != 1:
        rows.append(("all", *_served_cells(analysis.delivery.total)))
    table = _table("Pairs of notification and subscriber, by group", ("subscribers", *_SERVED_HEAD), rows)
    languages = [
        (f"language {one.language}", *_served_cells(one.served)) for one in analysis.delivery.by_language
    ]
    if len(languages) > 1:
        table += _table("By subscription language", ("notifications", *_SERVED_HEAD), languages)
    return table


def _subscription_table(analysis: Analysis) -> str:
    return _table(
        "Notifications owed to each subscription revision",
        ("subscriber", "subscription", *_SERVED_HEAD),
        [
            (
                one.subscriber,
                f"{one.document or 'no document'} ({one.id}, revision {one.seq})",
                *_served_cells(one.served),
            )
            for one in analysis.delivery.by_subscription
        ],
        text_columns=(1,),
    )


def _served_cells(served: Served) -> tuple[str, ...]:
    counts = (served.owed, served.delivered, served.open, served.missed)
    return (*(number_text(count) for count in counts), share_text(served.ratio))


def _truth_text(analysis: Analysis) -> str:
    truth = analysis.truth
    text = (
        "Every reading that was taken, matched in full against every subscription in force at that moment, "
        "whether or not a filter knew of it yet: "
        f"{truth.wanted:,} pairs of reading and subscriber should have been told, and "
        f"{share_text(truth.recall)} of them were."
    )
    if truth.unwanted:
        text += f" {truth.unwanted:,} were delivered although nobody wanted them."
    if truth.released_in_vain:
        text += f" {truth.released_in_vain:,} readings left their source although nobody wanted them then."
    return text


def _delay_text(analysis: Analysis) -> str:
    delay = analysis.delay
    text = (
        "From the event at the source to the application that asked, as a share of everything owed: the "
        "curve ends at the delivery ratio, not at 100 %."
    )
    if delay.censored:
        text += (
            f" The {delay.censored:,} pairs that had not arrived when the run ended are in none of the "
            "figures below; their delays are only known to be longer than they were watched."
        )
    return text


def _delay_table(analysis: Analysis) -> str:
    delay = analysis.delay
    figures = (delay.mean_s, delay.p50_s, delay.p90_s, delay.p95_s, delay.p99_s, delay.max_s)
    return _table(
        "Delay of delivered pairs",
        ("delivered", "mean", "median", "90 %", "95 %", "99 %", "longest"),
        [(number_text(delay.delivered), *(time_text(figure) for figure in figures))],
    )


def _hops_table(analysis: Analysis) -> str:
    return _table(
        "Delay by the number of hops, publisher to subscriber",
        ("hops", "delivered", "share", "mean delay"),
        [
            (
                number_text(one.hops),
                number_text(one.delivered),
                share_text(one.delivered / analysis.delay.delivered),
                time_text(one.mean_s),
            )
            for one in analysis.delay.by_hops
        ],
    )


def _filtering_text(analysis: Analysis) -> str:
    filtering = analysis.filtering
    return (
        f"Watchdogs judged {filtering.judged:,} readings at the source and kept "
        f"{share_text(filtering.share_kept)} of them: {bytes_text(filtering.vector_bytes_kept)} of "
        f"{bytes_text(filtering.vector_bytes_judged)} that never used the radio, counted as bare vectors "
        "sent once."
    )


def _traffic_text(analysis: Analysis) -> str:
    overhead = analysis.overhead
    return (
        f"{overhead.transmissions:,} transmissions, {bytes_text(overhead.bytes_on_air)} on the air, "
        "envelopes and transfers that were cut included."
    )


def _contacts_text(analysis: Analysis) -> str:
    contacts = analysis.contacts
    return (
        f"{contacts.pairs_met:,} of {contacts.pairs:,} pairs of nodes ever met. A contact lasted "
        f"{time_text(contacts.contact.median_s)} in the median; between two contacts a pair was apart for "
        f"{time_text(contacts.inter_contact.median_s)}. The curves (Kaplan–Meier) account for times that "
        "the beginning or the end of the run cut off."
    )


def _fairness_text(analysis: Analysis) -> str:
    single, groups = analysis.fairness, analysis.fairness_of_groups
    if single.jain is None:
        return ""
    text = (
        f"Between {share_text(single.least)} and {share_text(single.largest)} of what a subscriber was "
        f"owed arrived; Jain’s fairness index over subscribers is {single.jain:.3f}, where 1 is equal."
    )
    if len(analysis.delivery.by_group) > 1 and groups.jain is not None:
        text += f" Between the groups it is {groups.jain:.3f}."
    return text


def _pieces_text(analysis: Analysis) -> str:
    pieces = analysis.pieces.pieces
    if not pieces:
        return "Nobody took part."
    return (
        f"Looked at every {time_text(analysis.pieces.every_s)}, the network was in "
        f"{sum(pieces) / len(pieces):.1f} pieces on average; a node that is on its own is one."
    )


def _reach_text(analysis: Analysis) -> str:
    pieces = analysis.pieces
    if not pieces.reachable:
        return "Nobody took part."
    half = next((i for i, reached in enumerate(pieces.reachable) if reached * 2 >= pieces.pairs), None)
    text = (
        "Carried from contact to contact, something that a node had at the beginning could have come to "
        f"{share_text(pieces.reachable[-1] / max(pieces.pairs, 1))} of the others by the end, had everybody "
        "carried everything"
    )
    return f"{text}; to half of them after {time_text(half * pieces.every_s)}." if half else f"{text}."


def _degree_text(analysis: Analysis) -> str:
    known = [degree for degree in analysis.holding.degree if degree is not None]
    if not known:
        return "There was nothing to copy."
    return (
        f"By the end a notification had been held by {known[-1]:.1f} nodes on average, its source and those "
        "that have let go of it since included."
    )


def _loads_table(analysis: Analysis) -> str:
    return _table(
        "Buffers hold notifications; peaks are those of one node. Computing time is that of all nodes of the "
        "group together, from their board profiles.",
        (
            "group",
            "nodes",
            "held, mean",
            "held, peak",
            "peak size",
            "filtering",
            "a reading",
            "matching",
            "a match",
        ),
        [
            (
                load.group,
                number_text(load.nodes),
                number_text(load.mean_items),
                number_text(load.peak_items),
                bytes_text(load.peak_bytes),
                _busy_text(load.filter_s, load.filter_us_per_reading),
                time_text(_micro(load.filter_us_per_reading)),
                _busy_text(load.match_s, load.match_us_per_match),
                time_text(_micro(load.match_us_per_match)),
            )
            for load in analysis.loads
        ],
    )


def _busy_text(total_s: float, each_us: float | None) -> str:
    return time_text(total_s if each_us else None)


def _micro(microseconds: float | None) -> float | None:
    return microseconds / 1e6 if microseconds else None


def _holding_text(analysis: Analysis) -> str:
    holding = analysis.holding
    return (
        f"All nodes together held up to {max(holding.copies, default=0):,} copies of notifications, "
        f"{bytes_text(max(holding.bytes, default=0))}."
    )


def _map_text(analysis: Analysis) -> str:
    nodes = sum(analysis.run.nodes_by_role.values())
    shown, met = len(analysis.tracks), analysis.contacts.contact.known + analysis.contacts.contact.censored
    whose = "all nodes" if shown >= nodes else f"{shown} of the {nodes} nodes"
    contacts = (
        "every contact"
        if len(analysis.meetings) >= met
        else f"{len(analysis.meetings):,} of {met:,} contacts"
    )
    return (
        f"Tracks of {whose}; the dot at the end of a track is where it began. Violet dots are {contacts}, "
        "where it began, larger when it lasted longer."
    )


def _given_up(analysis: Analysis) -> str:
    if not analysis.overhead.given_up:
        return ""
    table = _table(
        "Counted by copy: a notification that was delivered long ago expires at every node that carries it. "
        "Lost: on the air and not received. Dropped and refused: by policy.",
        ("what", "of which type", "why", "times"),
        [(one.kind, one.type, one.reason, number_text(one.messages)) for one in analysis.overhead.given_up],
        text_columns=(1, 2),
    )
    return f'<section>\n<h2>What was given up</h2>\n<div class="scroll">\n{table}\n</div>\n</section>'


def _table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Sequence[int] = ()
) -> str:
    def cells(tag: str, values: Sequence[str]) -> str:
        marks = (' class="text"' if i in text_columns else "" for i in range(len(values)))
        return "".join(
            f"<{tag}{mark}>{escape(value)}</{tag}>" for mark, value in zip(marks, values, strict=True)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f"<table>\n<caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{cells('th', head)}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )
