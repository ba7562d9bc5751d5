"""The page: one file, no request, the same bytes, nothing that a run's words could break."""

import errno
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spark_analysis.catalogue.metric import Measured
from spark_analysis.matching_figures import MatchingWork
from spark_analysis.number_format import NO_BREAK
from spark_analysis.pair_figures import DeliveryCounts
from spark_analysis.questions.buffers import Holding
from spark_analysis.questions.delay import Delay
from spark_analysis.questions.delivery import Delivery, Fairness
from spark_analysis.questions.load import loads_table
from spark_analysis.questions.match_details import SHOWN_DETAILS, MatchDetail
from spark_analysis.questions.movement import map_text
from spark_analysis.questions.partitions import Partitions
from spark_analysis.questions.radio import GivenUp
from spark_analysis.questions.timeline import Timeline
from spark_analysis.rendering.drawing import canvas, time_axis
from spark_analysis.report.build import refuse_unwritable, write_report
from spark_analysis.report.page import notices, page
from tests.paths import ROOT
from tests.spark_analysis.sample import changed, sample_analysis

FIGURES = {
    "delay", "timeline", "filtering", "traffic", "contacts", "map", "truth", "pieces", "reach", "holding",
    "degree", "energy",
}  # fmt: skip
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Collects what a browser would fetch, name and nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for key, value in attrs:
            self.attributes.append((tag, key, value or ""))
            if key in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.references.append(value or "")
            if key == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_page_makes_no_requests() -> None:
    text = page(sample_analysis())
    parsed = Page(text)
    assert all(reference.startswith("#") for reference in parsed.references)
    assert not {"script", "iframe", "object", "embed", "link", "img"} & set(parsed.tags)
    assert "@import" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert "default-src 'none'" in text
    assert not any(key.startswith("on") for _, key, _ in parsed.attributes)


def test_every_picture_is_drawn_named_and_described() -> None:
    text = page(sample_analysis())
    parsed = Page(text)
    assert parsed.tags.count("svg") == len(FIGURES)
    assert len(set(parsed.ids)) == len(parsed.ids)
    for figure in FIGURES:
        assert {f"{figure}-title", f"{figure}-desc"} <= set(parsed.ids)
    labels = [value for tag, key, value in parsed.attributes if (tag, key) == ("svg", "aria-labelledby")]
    assert sorted(labels) == sorted(f"{figure}-title {figure}-desc" for figure in FIGURES)
    targets = set(re.findall(r"url\(#([^)]*)\)", text)) | {reference[1:] for reference in parsed.references}
    assert targets <= set(parsed.ids)


def test_pictures_take_their_colours_from_the_page() -> None:
    svgs = "".join(re.findall(r"<svg.*?</svg>", page(sample_analysis()), re.DOTALL))
    assert "#0101" not in svgs
    used = set(re.findall(r"var\((--\w+)\)", svgs))
    style = page(sample_analysis()).split("</style>")[0]
    for block in ("prefers-color-scheme: dark", "@media print"):
        assert all(f"{variable}:" in style.split(block)[1] for variable in used)
    assert set(re.findall(r"#[0-9a-f]{6}\b", svgs)) <= {"#000000", "#ffffff"}


def test_figures_of_the_run_are_on_the_page() -> None:
    text = " ".join(Page(page(sample_analysis())).text).replace(NO_BREAK, " ")
    for piece in (
        "75.0 %",
        "150 of 200 expected",
        "4.06 min",
        "97.6 %",
        "fever.xml (0, revision 0)",
        "medics",
        "contact_ended",
        "had 5.0 partitions on average",
        "up to 119 copies of notifications, 3.57 kB",
        "fairness index over subscribers is 0.970",
        "Over groups it is 0.960",
        "policy epidemic",
        "direct",
        "could have reached 76.7 % of the others by the end",
        "half of them after 1.25 h",
        "held by 3.0 devices on average",
        "130 µs",
        "used 5.2 kJ in total, 34.7 J per delivery",
        "The 5 of 6 devices with an energy profile used",
        "1.76 kJ",
        "2.15 s on the air",
        "600 of them were forwarded by relays: 60 kB with headers.",
        "Delay by the number of transfers between devices",
        "100 of 214 contacts",
        "should have received 300 pairs of reading and subscriber, and received 50.0 % of them",
    ):
        assert piece in text


def test_the_same_answers_give_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    write_report(sample_analysis(), tmp_path / "here.html")
    program = (
        "import sys; from spark_analysis.report.build import write_report;from tests.spark_analysis.sample "
        "import sample_analysis; write_report(sample_analysis(), sys.argv[1])"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "there.html")],
        cwd=ROOT,
        env={"PYTHONHASHSEED": "77", "PATH": ""},
        check=True,
    )
    assert (tmp_path / "here.html").read_bytes() == (tmp_path / "there.html").read_bytes()


def test_words_of_a_scenario_cannot_become_markup() -> None:
    hostile = '</title><script>alert("x")</script>&$facts'
    parsed = Page(page(sample_analysis(hostile)))
    assert "script" not in parsed.tags
    assert hostile in "".join(parsed.text)


def test_what_a_reader_must_know_first() -> None:
    fine = sample_analysis()
    assert notices(fine) == []
    assert f"This run is partial: it stopped after 2{NO_BREAK}h" in notices(sample_analysis(partial=True))[0]
    broken = changed(fine, delivery=replace(fine.delivery, repeated=3, unexpected=2))
    assert [text.split(" ")[0] for text in notices(broken)] == ["3", "2"]
    assert "must never happen" in page(broken)


def test_quarantined_messages_are_counted_for_the_reader() -> None:
    fine = sample_analysis()
    given_up = tuple(
        GivenUp("quarantined", type_, "matching: ValueError", count)
        for type_, count in (("subscribe", 2), ("notification", 1))
    )
    found = changed(fine, overhead=replace(fine.overhead, given_up=fine.overhead.given_up + given_up))
    [notice] = notices(found)
    assert notice.startswith("3 messages were quarantined")
    assert "matching: ValueError" in page(found)


def test_a_run_without_deliveries_has_a_page_too() -> None:
    fine = sample_analysis()
    nothing = changed(
        fine,
        delivery=Delivery(DeliveryCounts(0, 0, 0, 0, 0), 0, 0, (), (), ()),
        delay=Delay(0, 0, 0, None, None, None, (None,) * 101, None, None, None, None, None, None, (), ()),
        timeline=Timeline(1.0, (0,), (0,)),
        overhead=replace(fine.overhead, by_type=(), given_up=()),
        metrics=dict.fromkeys(fine.metrics, Measured(None, "–")),
        contacts=replace(
            fine.contacts,
            contact=replace(fine.contacts.contact, survival=()),
            inter_contact=replace(fine.contacts.inter_contact, survival=()),
        ),
        filtering=replace(fine.filtering, judged=0, released=0, kept=0, unasked=0, share_kept=None),
        fairness=Fairness(None, None, None),
        fairness_of_groups=Fairness(None, None, None),
        pieces=Partitions(1.0, 0, (), (), ()),
        holding=Holding(1.0, (), (), ()),
        loads=(),
        energy=None,
        tracks=(),
        meetings=(),
    )
    parsed = Page(page(nothing))
    # What is known of no reading, no place and no battery is left out.
    assert parsed.tags.count("svg") == len(FIGURES - {"energy", "filtering", "truth", "map"})
    assert "No deliveries were expected" in "".join(parsed.text)


def test_column_of_unknown_costs_is_left_out() -> None:
    fine = sample_analysis()
    assert "<th>per notification</th>" in loads_table(fine.loads)
    assert "<th>memberships</th>" in loads_table(fine.loads)
    assert "<th>pairs</th>" not in loads_table(fine.loads), "there is nothing to break down"
    assert "Computing time" in loads_table(fine.loads)
    free = tuple(replace(load, filter_us_per_reading=None, matching=MatchingWork()) for load in fine.loads)
    found = loads_table(free)
    assert re.findall("<th>(.*?)</th>", found) == [
        "group",
        "devices",
        "held, mean",
        "held, peak",
        "peak size",
    ]
    assert re.findall("<td>(.*?)</td>", found)[5:8] == ["patients", "3", "–"]
    assert "Computing time" not in found


def test_the_map_says_how_many_contacts_it_shows() -> None:
    fine = sample_analysis()
    many = replace(fine.contacts, contact=replace(fine.contacts.contact, known=4960, censored=2))
    shown = f"Violet dots show where {len(fine.meetings)} of 4,962 contacts began; larger dots"
    assert shown in map_text(changed(fine, contacts=many))
    none = replace(fine.contacts, contact=replace(fine.contacts.contact, known=0, censored=0))
    assert "Violet dots show where every contact began;" in map_text(changed(fine, contacts=none))


def test_where_no_report_can_be_written_is_found_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for bad, words in (
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "report.html", "Not a directory"),
        (tmp_path / "file" / "deeper" / "report.html", "Not a directory"),
        (Path("/proc/report.html"), "report.html"),
    ):
        with pytest.raises(OSError, match=words) as caught:
            refuse_unwritable(bad)
        assert caught.value.filename == str(bad)
    for fine in (tmp_path / "file", tmp_path / "new" / "deeper" / "report.html", Path("/dev/null")):
        refuse_unwritable(fine)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_report_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "reports" / "report.html"
    write_report(sample_analysis(), target)
    assert target.read_text().endswith("</html>\n")
    target.write_text("the report of yesterday")
    full = OSError(errno.ENOSPC, "disk full")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(OSError, match="disk full") as caught:
        write_report(sample_analysis(), target)
    assert caught.value.filename == str(target)
    assert target.read_text() == "the report of yesterday"
    assert [entry.name for entry in target.parent.iterdir()] == ["report.html"]


@pytest.mark.parametrize(("low", "high"), [(200, 3000), (1, 2), (0.01, 90_000), (0.001, 600_000), (60, 61)])
def test_an_axis_of_times_says_where_it_is(low: float, high: float) -> None:
    _, axes = canvas(3)
    time_axis(axes, [low, high])
    assert 3 <= len(axes.get_xticks()) <= 11


def test_of_many_details_the_most_frequent_are_shown() -> None:
    several = tuple(
        MatchDetail("medics-1", 0, 0, "fever.xml", 200, f"{one:02x}", f"detail {one}.", 90 - one, 0)
        for one in range(SHOWN_DETAILS + 3)
    )
    text = " ".join(Page(page(changed(sample_analysis(), details=several))).text)
    assert "detail 0." in text
    assert f"detail {SHOWN_DETAILS - 1}." in text
    assert f"detail {SHOWN_DETAILS}." not in text
    assert "3 less frequent ones are in the JSON" in text
