"""The report of a run as one HTML page: text, tables and figures; no scripts, no requests."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template

from spark_analysis.answers import Analysis, questions
from spark_analysis.catalogue.registry import metrics
from spark_analysis.number_format import counted, time_text
from spark_analysis.question import Section


def page(analysis: Analysis) -> str:
    """Return the page. Equal answers give equal bytes."""
    template = Template(files("spark_analysis.report").joinpath("template.html").read_text(encoding="utf-8"))
    sections = sections_of(analysis)
    return template.substitute(
        title=escape(analysis.run.title),
        facts=escape(_facts(analysis)),
        notices="\n".join(f'<p class="notice" role="note">{escape(text)}</p>' for text in notices(analysis)),
        navigation="\n".join(
            f'<a href="#about-{section.id}">{escape(section.title)}</a>' for section in sections if section.id
        ),
        key=_headlines(analysis),
        sections="\n\n".join(_laid_out(sections)),
    )


def sections_of(analysis: Analysis) -> list[Section]:
    """Return the sections of all questions in the order of the page."""
    found = [
        section
        for question in questions()
        for section in question.sections(analysis.answers[question.name], analysis)
    ]
    return sorted(found, key=lambda section: section.place)


def _laid_out(sections: Iterable[Section]) -> Iterable[str]:
    """Yield the sections as HTML; adjacent half sections share a row."""
    for is_half, neighbours in groupby(sections, key=lambda section: section.is_half):
        htmls = [_html(section) for section in neighbours]
        if is_half:
            for begin in range(0, len(htmls), 2):
                row = htmls[begin : begin + 2]
                yield '<div class="pair">\n' + "\n".join(row) + "\n</div>" if len(row) == 2 else row[0]
        else:
            yield from htmls


def _html(section: Section) -> str:
    anchor = f' id="about-{section.id}"' if section.id else ""
    style = ' class="long"' if section.is_long else ""
    return f"<section{anchor}{style}>\n<h2>{escape(section.title)}</h2>\n{section.html}</section>"


def notices(analysis: Analysis) -> list[str]:
    """Return warnings for the head of the page: partial run, violated guarantees, nothing expected."""
    found = []
    if analysis.run.partial:
        found.append(
            f"This run is partial: it stopped after {time_text(analysis.run.end_s)}, and "
            "everything below covers that part only."
        )
    quarantined = sum(one.messages for one in analysis.overhead.given_up if one.kind == "quarantined")
    if quarantined:
        found.append(
            f"{quarantined:,} messages were quarantined: processing them raised an error in a language or "
            "another part, so their deliveries may be missing; the reasons are under Discarded copies."
        )
    if analysis.delivery.repeated:
        found.append(
            f"{analysis.delivery.repeated} notifications were delivered to an application more than once; "
            "this must never happen."
        )
    if analysis.delivery.unexpected:
        found.append(
            f"{analysis.delivery.unexpected} deliveries matched no subscription; this must never happen."
        )
    if not analysis.delivery.total.expected:
        found.append("No deliveries were expected in this run, so delivery ratio and delay are undefined.")
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


def _headlines(analysis: Analysis) -> str:
    cards = [(metric.title, analysis.metrics[metric.name]) for metric in metrics() if metric.is_headline]
    return "\n".join(
        f"<div><dt>{escape(title)}</dt><dd>{escape(value.text)}</dd>"
        f'<dd class="note">{escape(value.note)}</dd></div>'
        for title, value in cards
    )
