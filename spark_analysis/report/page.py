"""The report as one HTML page: words, tables and pictures; no script, no request."""

from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from plugins.registry import name_of_language
from spark_analysis.answers import Analysis, Served
from spark_analysis.catalogue.registry import metrics
from spark_analysis.number_format import (
    counted,
    delivery_text,
    median_text,
    number_text,
    share_text,
    time_text,
)
from spark_analysis.report.figures import (
    delay_figure,
    timeline_figure,
)
from spark_analysis.report.network_figures import (
    contacts_figure,
    degree_figure,
    holding_figure,
    pieces_figure,
    reach_figure,
)
from spark_analysis.report.page_network import (
    brokers_table,
    contacts_text,
    degree_text,
    energy_section,
    holding_text,
    loads_table,
    pieces_text,
    reach_text,
)
from spark_analysis.report.page_sections import (
    composites_section,
    filter_and_radio,
    map_section,
    questions,
    truth_section,
)
from spark_analysis.report.page_table import table

MOST_DETAILS: Final = 20
"""So many different things that matches said are shown; programs get them all."""
_SERVED_HEAD: Final = (
    "owed",
    "delivered",
    "open",
    "missed",
    "lost",
    "withdrawn",
    "ratio",
    "of whole lifetimes",
)


def page(analysis: Analysis) -> str:
    """Return the whole page. The same answers give the same text."""
    template = Template(files("spark_analysis.report").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(analysis.run.title),
        facts=escape(_facts(analysis)),
        notices="\n".join(f'<p class="notice" role="note">{escape(text)}</p>' for text in notices(analysis)),
        key=_key(analysis),
        delivery_table=_delivery_table(analysis),
        questions="\n".join(questions(analysis)),
        truth=truth_section(analysis),
        composites=composites_section(analysis),
        delay_text=escape(_delay_text(analysis)),
        delay_figure=delay_figure(analysis.delay, analysis.delivery.total),
        delay_table=_delay_table(analysis),
        hops_table=_hops_table(analysis),
        timeline_figure=timeline_figure(analysis.timeline),
        filter_and_radio=filter_and_radio(analysis),
        contacts_text=escape(contacts_text(analysis)),
        contacts_figure=contacts_figure(analysis.contacts),
        fairness_text=escape(_fairness_text(analysis)),
        pieces_text=escape(pieces_text(analysis)),
        pieces_figure=pieces_figure(analysis.pieces),
        reach_text=escape(reach_text(analysis)),
        reach_figure=reach_figure(analysis.pieces),
        holding_text=escape(holding_text(analysis)),
        holding_figure=holding_figure(analysis.holding),
        degree_text=escape(degree_text(analysis)),
        degree_figure=degree_figure(analysis.holding),
        loads_table=loads_table(analysis) + brokers_table(analysis),
        energy=energy_section(analysis),
        map=map_section(analysis),
        metrics_table=_metrics_table(analysis),
        subscription_table=_subscription_table(analysis) + _details_table(analysis),
        given_up=_given_up(analysis),
    )


def notices(analysis: Analysis) -> list[str]:
    """Return what a reader must know first: the run is partial, a promise was broken, nothing was owed."""
    found = []
    if analysis.run.partial:
        found.append(
            f"This run is partial: it stopped after {time_text(analysis.run.end_s)}, and "
            "everything below is about that part only."
        )
    quarantined = sum(one.messages for one in analysis.overhead.given_up if one.kind == "quarantined")
    if quarantined:
        found.append(
            f"{quarantined:,} messages were quarantined: a language or another part failed with them, and "
            "nothing more was found for them there; the reasons are under What was given up."
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
    roles = ", ".join(counted(count, role) for role, count in run.nodes_by_role.items())
    return " · ".join(
        [
            f"scenario {run.name}",
            *([] if run.seed is None else [f"seed {run.seed}"]),
            *([f"policy {run.policy}"] if run.policy else []),
            time_text(run.end_s),
            roles or "no nodes",
            counted(run.devices, "device"),
            counted(run.subscriptions, "subscription"),
            counted(run.notifications, "notification"),
        ]
    )


def _key(analysis: Analysis) -> str:
    cards = [(metric.title, analysis.metrics[metric.name]) for metric in metrics() if metric.is_headline]
    return "\n".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(one.text)}</dd>"
        f'<dd class="note">{escape(one.note)}</dd></div>'
        for title, one in cards
    )


def _metrics_table(analysis: Analysis) -> str:
    rows = [(metric.title, analysis.metrics[metric.name].text, metric.meaning) for metric in metrics()]
    return table("The metrics by which runs are compared", ("metric", "value", "meaning"), rows, (2,))


def _delivery_table(analysis: Analysis) -> str:
    rows = [(group.group, *_served_cells(group.served)) for group in analysis.delivery.by_group]
    if len(rows) != 1:
        rows.append(("all", *_served_cells(analysis.delivery.total)))
    found = table("Pairs of notification and subscriber, by group", ("subscribers", *_SERVED_HEAD), rows)
    languages = [
        (name_of_language(one.language), *_served_cells(one.served)) for one in analysis.delivery.by_language
    ]
    if len(languages) > 1:
        caption = "By the language of the notification; who was owed it may have asked in another"
        found += table(caption, ("notifications in", *_SERVED_HEAD), languages)
    return found


def _made(language: int) -> str:
    return f"{name_of_language(language)}, made by chance"


def _subscription_table(analysis: Analysis) -> str:
    return table(
        "Notifications owed to each subscription revision",
        ("subscriber", "subscription", *_SERVED_HEAD),
        [
            (
                one.subscriber,
                f"{one.document or _made(one.language)} ({one.id}, revision {one.seq})",
                *_served_cells(one.served),
            )
            for one in analysis.delivery.by_subscription
        ],
        text_columns=(1,),
    )


def _details_table(analysis: Analysis) -> str:
    """Return what matches said beyond their degree; nothing where none did."""
    if not analysis.details:
        return ""
    shown = analysis.details[:MOST_DETAILS]
    rest = len(analysis.details) - len(shown)
    more = f"; {rest} more, each less often, are in the JSON" if rest else ""
    return table(
        f"What matches said, in the words of their language, by the number of notifications{more}",
        ("subscriber", "subscription", "what it said", "notifications", "delivered"),
        [
            (
                one.subscriber,
                f"{one.document or 'made by chance'} ({one.id}, revision {one.seq})",
                one.words,
                number_text(one.notifications),
                number_text(one.delivered),
            )
            for one in shown
        ],
        text_columns=(1, 2),
    )


def _served_cells(served: Served) -> tuple[str, ...]:
    counts = (
        served.owed,
        served.delivered,
        served.open,
        served.missed,
        served.lost,
        served.withdrawn,
    )
    return (
        *(number_text(count) for count in counts),
        share_text(served.ratio),
        share_text(served.whole_ratio),
    )


def _delay_text(analysis: Analysis) -> str:
    delay, total = analysis.delay, analysis.delivery.total
    if not total.owed:
        return "Nothing was owed."
    half = (
        f"half of all owed pairs arrive within {time_text(delay.median_s)}"
        if delay.median_s is not None
        else f"half of all owed pairs take {median_text(None, delay.watched_s)} or never arrive"
    )
    return (
        "From the event at the source to the application that asked. "
        f"{delivery_text(total, delay.estimate)}. By the same estimate, which counts the "
        f"{delay.open + delay.withdrawn:,} open and withdrawn pairs for as long as they were watched and the "
        f"{delay.missed + delay.lost:,} missed and lost ones as never arriving, {half}. The "
        "table below is about the delivered pairs alone."
    )


def _delay_table(analysis: Analysis) -> str:
    delay = analysis.delay
    figures = (delay.mean_s, delay.p50_s, delay.p90_s, delay.p95_s, delay.p99_s, delay.max_s)
    return table(
        "Delay of delivered pairs",
        ("delivered", "mean", "median", "90 %", "95 %", "99 %", "longest"),
        [(number_text(delay.delivered), *(time_text(figure) for figure in figures))],
    )


def _hops_table(analysis: Analysis) -> str:
    return table(
        "Delay by the number of transfers between devices, publisher to subscriber, whatever number of radio "
        "hops each took; 0: both are in one device",
        ("transfers", "delivered", "share", "mean delay"),
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


def _given_up(analysis: Analysis) -> str:
    if not analysis.overhead.given_up:
        return ""
    found = table(
        "Counted by copy: a notification that was delivered long ago expires at every node that carries it. "
        "Lost: on the air and not received. Dropped and refused: by policy. "
        "Quarantined: some work with it failed; it is still carried. "
        "Undecided: its origin's work budget was spent, or a call reached its limit.",
        ("what", "of which type", "why", "times"),
        [(one.kind, one.type, one.reason, number_text(one.messages)) for one in analysis.overhead.given_up],
        text_columns=(1, 2),
    )
    return f'<section>\n<h2>What was given up</h2>\n<div class="scroll">\n{found}\n</div>\n</section>'
