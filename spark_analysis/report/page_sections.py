"""The sections of the report that a run may be without, and the list of all that a reader may look for."""

from html import escape
from typing import Final

from plugins.registry import name_of_language
from spark_analysis.answers import Analysis
from spark_analysis.number_format import bytes_text, share_text, time_text
from spark_analysis.report.figures import composites_figure, filtering_figure, traffic_figure, truth_figure
from spark_analysis.report.network_figures import map_figure
from spark_analysis.report.page_network import map_text
from spark_analysis.report.page_table import table

_QUESTIONS: Final = {
    "arrived": "Did it arrive?",
    "told": "What should have been told?",
    "composites": "Were the parts put together?",
    "delay": "How long did it take?",
    "filter": "What stayed at home",
    "radio": "What the radio was used for",
    "contacts": "In contact, and apart",
    "pieces": "In how many pieces?",
    "map": "Where they went",
    "carried": "What they carried",
    "loads": "What it cost the nodes",
    "metrics": "Every metric",
    "subscriptions": "Every subscription",
}
"""The sections that a reader looks for, by their names in the page."""


def questions(analysis: Analysis) -> list[str]:
    """Return a link to each section that the page has. A real node knows neither readings nor places."""
    missing: set[str] = set()
    if not _is_truth_known(analysis):
        missing.add("told")
    if analysis.composites is None:
        missing.add("composites")
    if not analysis.filtering.judged:
        missing.add("filter")
    if not analysis.tracks:
        missing.add("map")
    return [f'<a href="#about-{id}">{name}</a>' for id, name in _QUESTIONS.items() if id not in missing]


def _section(id: str, text: str, figure: str) -> str:
    return (
        f'<section id="about-{id}">\n<h2>{_QUESTIONS[id]}</h2>\n<p>{escape(text)}</p>\n'
        f'<div class="figure" tabindex="0">\n{figure}\n</div>\n</section>'
    )


def _is_truth_known(analysis: Analysis) -> bool:
    return bool(analysis.filtering.judged or analysis.run.documents)


def truth_section(analysis: Analysis) -> str:
    """Return what should have been told; nothing where neither readings nor documents are known."""
    if not _is_truth_known(analysis):
        return ""
    return _section("told", _truth_text(analysis), truth_figure(analysis.truth) + _misled_table(analysis))


def _misled_table(analysis: Analysis) -> str:
    """Return how often what sensors told was not what was true; nothing where none states an error."""
    if not analysis.misled:
        return ""
    return table(
        "Readings of sensors that state an error, as they were told and by their true values: pairs of "
        "reading and subscription",
        ("language", "wanted either way", "only as told", "only by the true values"),
        [
            (name_of_language(one.language), f"{one.agreed:,}", f"{one.false:,}", f"{one.missed:,}")
            for one in analysis.misled
        ],
    )


def composites_section(analysis: Analysis) -> str:
    """Return what became of composites; nothing where nobody asked for any."""
    composites = analysis.composites
    if composites is None:
        return ""
    text = (
        f"Of the readings that were taken, {composites.owed:,} composites should have been made and shown to "
        f"whoever had asked for them, and {share_text(composites.ratio)} were. They are counted by what they "
        f"say: {composites.messages:,} messages of DENS nodes and sources say it."
    )
    if composites.unowed:
        text += f" {composites.unowed:,} more were shown: predictions that were still open at the end."
    if composites.foretold is not None:
        text += f" {composites.foretold.in_words()}."
    return _section("composites", text, composites_figure(composites))


def filter_and_radio(analysis: Analysis) -> str:
    """Return what stayed at home beside what was sent, or the latter alone."""
    radio = _section("radio", _traffic_text(analysis), traffic_figure(analysis.overhead.by_type))
    if not analysis.filtering.judged:
        return radio
    kept = _section("filter", _filtering_text(analysis), filtering_figure(analysis.filtering))
    return f'<div class="pair">\n{kept}\n{radio}\n</div>'


def map_section(analysis: Analysis) -> str:
    """Return the map; nothing where nobody moved."""
    if not analysis.tracks:
        return ""
    return _section("map", map_text(analysis), map_figure(analysis.tracks, analysis.meetings))


def _truth_text(analysis: Analysis) -> str:
    truth = analysis.truth
    documents = analysis.run.documents
    text = (
        f"Every reading that was taken{' and every document that was offered' if documents else ''}, "
        "matched in full against every subscription in force at that moment, "
        "whether or not a filter knew of it yet: "
        f"{truth.wanted:,} pairs of reading {'or document ' if documents else ''}and subscriber should have "
        f"been told, and {share_text(truth.recall)} of them were."
    )
    if truth.unwanted:
        text += f" {truth.unwanted:,} were delivered and not wanted."
    if truth.released_in_vain:
        what = "readings or documents" if documents else "readings"
        text += f" {truth.released_in_vain:,} {what} left their source although nobody wanted them then."
    return text


def _filtering_text(analysis: Analysis) -> str:
    filtering = analysis.filtering
    return (
        f"Watchdogs judged {filtering.judged:,} readings at the source and kept "
        f"{share_text(filtering.share_kept)} of them: {bytes_text(filtering.vector_bytes_kept)} of "
        f"{bytes_text(filtering.vector_bytes_judged)} that never used the radio, "
        f"{time_text(filtering.radio_s_kept)} on the air, counted as bare vectors sent once."
    )


def _traffic_text(analysis: Analysis) -> str:
    overhead = analysis.overhead
    forwarded = ""
    if overhead.forwarded:
        forwarded = (
            f" {overhead.forwarded:,} of them were forwarded by relays: "
            f"{bytes_text(overhead.forwarded_bytes)} with headers, which the bars leave out. They show each "
            "message once, as its source sent it."
        )
    split = f" in {overhead.frames:,} frames" if overhead.frames != overhead.transmissions else ""
    frames = analysis.run.document_frames
    documents = "" if frames is None else f" A document took {frames:.1f} frames in the mean."
    return (
        f"{overhead.transmissions:,} transmissions{split}, {bytes_text(overhead.bytes_on_air)} on the air, "
        f"envelopes, the overhead of frames and transfers that were cut included.{forwarded}{documents}"
    )
