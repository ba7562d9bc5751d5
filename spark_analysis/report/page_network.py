"""What the report says of the network and of the nodes' own part: meetings, pieces, buffers, batteries."""

from html import escape
from typing import Final

from spark_analysis.answers import Analysis, Times
from spark_analysis.matching_figures import MatchingDone
from spark_analysis.number_format import (
    NOT_KNOWN,
    bytes_text,
    energy_text,
    median_text,
    number_text,
    share_text,
    time_text,
)
from spark_analysis.report.network_figures import energy_figure
from spark_analysis.report.page_table import table

COUNTED: Final = {
    "feature tests": "feature_tests",
    "memberships": "memberships",
    "aggregations": "aggregations",
    "pairs": "pairs",
    "rows": "rows",
}
"""Columns of what matching took, by their titles."""


def contacts_text(analysis: Analysis) -> str:
    """Say how long nodes were in contact and apart."""
    contacts = analysis.contacts
    return (
        f"{contacts.pairs_met:,} of {contacts.pairs:,} pairs of devices ever met. A contact lasted "
        f"{_median(contacts.contact)}; between two contacts a pair was apart for "
        f"{_median(contacts.inter_contact)}. Medians and curves are Kaplan–Meier estimates: they account for "
        "times that the beginning or the end of the run cut off (censored) and that are only known to be "
        "longer."
    )


def _median(times: Times) -> str:
    return (
        f"{median_text(times.median_s, times.watched_s)} in the median "
        f"({times.known:,} known, {times.censored:,} censored)"
    )


def map_text(analysis: Analysis) -> str:
    """Say what the map shows."""
    devices = analysis.run.devices
    shown, met = len(analysis.tracks), analysis.contacts.contact.known + analysis.contacts.contact.censored
    whose = "all devices" if shown >= devices else f"{shown} of the {devices} devices"
    contacts = (
        "every contact"
        if len(analysis.meetings) >= met
        else f"{len(analysis.meetings):,} of {met:,} contacts"
    )
    return (
        f"Tracks of {whose}; the dot at the end of a track is where it began. Violet dots show where "
        f"{contacts} began; the larger a dot, the longer its contact lasted."
    )


def pieces_text(analysis: Analysis) -> str:
    """Say in how many pieces the network was."""
    pieces = analysis.pieces.pieces
    if not pieces:
        return "Nobody took part."
    return (
        f"Looked at every {time_text(analysis.pieces.every_s)}, the network was in "
        f"{sum(pieces) / len(pieces):.1f} pieces on average; a device that is on its own, or down, is one."
    )


def reach_text(analysis: Analysis) -> str:
    """Say what time could reach."""
    pieces = analysis.pieces
    if not pieces.reachable:
        return "Nobody took part."
    half = next((i for i, reached in enumerate(pieces.reachable) if reached * 2 >= pieces.pairs), None)
    text = (
        "Carried from contact to contact, something that a device had at the beginning could have come to "
        f"{share_text(pieces.reachable[-1] / max(pieces.pairs, 1))} of the others by the end, had every "
        "device carried everything"
    )
    return f"{text}; to half of them after {time_text(half * pieces.every_s)}." if half else f"{text}."


def holding_text(analysis: Analysis) -> str:
    """Say how much was carried."""
    holding = analysis.holding
    return (
        f"All nodes together held up to {max(holding.copies, default=0):,} copies of notifications, "
        f"{bytes_text(max(holding.bytes, default=0))}."
    )


def degree_text(analysis: Analysis) -> str:
    """Say how far notifications spread."""
    known = [degree for degree in analysis.holding.degree if degree is not None]
    if not known:
        return "There was nothing to copy."
    return (
        f"By the end a notification had been held by {known[-1]:.1f} devices on average, that of its "
        "source and those that have given it up since included."
    )


def loads_table(analysis: Analysis) -> str:
    """Return what the groups held and computed, and what matching took; a column in which nothing is known is
    left out, and so is the second table where nobody counted.
    """
    loads = analysis.loads
    group = [load.group for load in loads]
    held = _known(
        {
            "group": group,
            "devices": [number_text(load.nodes) for load in loads],
            "held, mean": [number_text(load.mean_items) for load in loads],
            "held, peak": [number_text(load.peak_items) for load in loads],
            "peak size": [bytes_text(load.peak_bytes) for load in loads],
            "filtering": [_busy_text(load.filter_s, load.filter_us_per_reading) for load in loads],
            "a reading": [time_text(_micro(load.filter_us_per_reading)) for load in loads],
        }
    )
    matching = _known(
        {
            "matching": [time_text(load.matching.total_us / 1e6 or None) for load in loads],
            "a notification": [
                time_text(_micro(load.matching.each(load.matching.cost_us))) for load in loads
            ],
            **{
                title: [_counted_text(load.matching, name) for load in loads]
                for title, name in COUNTED.items()
            },
        }
    )
    computed = " Computing time is that of all nodes of the group together, from their board profiles."
    caption = "Buffers hold notifications; means and peaks are those of one device, all its roles together."
    if "filtering" in held:
        caption += computed
    tables = table(caption, tuple(held), list(zip(*held.values(), strict=True)))
    if loads and matching:
        caption = "What matching took is for each notification that a mediator judged."
        if "matching" in matching:
            caption += computed
        columns = {"group": group, **matching}
        tables += table(caption, tuple(columns), list(zip(*columns.values(), strict=True)))
    return tables


def brokers_table(analysis: Analysis) -> str:
    """Return what brokers told their neighbours at the end; nothing where mediators carry."""
    if not analysis.brokers:
        return ""
    rows = [
        (
            one.group,
            number_text(one.brokers),
            number_text(one.links),
            number_text(one.advertisements),
            number_text(one.subscriptions),
            number_text(one.covered),
            number_text(one.mergers),
            number_text(one.subscriptions / one.brokers),
        )
        for one in analysis.brokers
    ]
    heads = ("group", "brokers", "links", "advertisements", "told", "covered", "mergers", "told by each")
    caption = (
        "What brokers told their neighbours at the end, for each publisher's tree by itself: bodies that are "
        "told, those that they stand for besides, and those that were made of several."
    )
    return table(caption, heads, rows)


def _known(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the columns in which something is known."""
    return {name: cells for name, cells in columns.items() if not cells or set(cells) != {NOT_KNOWN}}


def energy_section(analysis: Analysis) -> str:
    """Return the section about energy; nothing where the scenario does not say what things cost."""
    energy = analysis.energy
    if energy is None:
        return ""
    known = (
        f"The {energy.devices:,} devices together"
        if energy.devices == energy.all_devices
        else f"The {energy.devices:,} of {energy.all_devices:,} devices of which the scenario states what "
        "things cost together"
    )
    text = (
        f"{known} used {energy_text(energy.total_j)}, {energy_text(energy.j_per_delivery)} for each "
        f"delivery in the network; what was sent and received of it is "
        f"{energy_text(energy.radio_j_per_delivery)}. "
        "Looked at every ten minutes."
    )
    by_group = table(
        "Energy by role and group",
        (
            "role",
            "group",
            "devices",
            "being up",
            "radio",
            "computing",
            "each device",
            "a delivery",
            "ran empty",
        ),
        [
            (
                one.role,
                one.group,
                number_text(one.devices),
                energy_text(one.idle_j),
                energy_text(one.radio_j),
                energy_text(one.compute_j),
                energy_text((one.idle_j + one.radio_j + one.compute_j) / one.devices),
                energy_text(
                    _for_each(one.idle_j + one.radio_j + one.compute_j, analysis.overhead.deliveries)
                ),
                number_text(one.empty),
            )
            for one in energy.by_group
        ],
        text_columns=(1,),
    )
    return (
        f'<section id="about-energy">\n<h2>What it took of the batteries</h2>\n<p>{escape(text)}</p>\n'
        f'<div class="figure" tabindex="0">\n{energy_figure(energy)}\n</div>\n'
        f'<div class="scroll">\n{by_group}\n</div>\n</section>'
    )


def _for_each(whole: float, parts: int) -> float | None:
    return whole / parts if parts else None


def _counted_text(matching: MatchingDone, name: str) -> str:
    return number_text(matching.each(getattr(matching, name)) or None)


def _busy_text(total_s: float, each_us: float | None) -> str:
    return time_text(total_s if each_us else None)


def _micro(microseconds: float | None) -> float | None:
    return microseconds / 1e6 if microseconds else None
