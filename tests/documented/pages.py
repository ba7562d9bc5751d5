"""What the commands of each documentation page need to run, and which of them cannot run in a test."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from tests.paths import ROOT, page_path

RACING = """<subscription xmlns="urn:dens:subscription:1" event="patient">
  <approximate-predicate attribute="ticker"><is>high</is></approximate-predicate>
</subscription>
"""
HOT = """<subscription xmlns="urn:dens:subscription:1" event="weather">
  <crisp-predicate attribute="temperature" operator="ge">30</crisp-predicate>
</subscription>
"""
PATIENT_DAY = "patient_temperature,heart_rate,oxygen_saturation\n36.8,71,98\n40.1,134,88\n"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: how its folder is prepared, which commands run in the background, which are left out."""

    prepare: Callable[[Path], None] = lambda folder: None
    with_node: bool = False
    """Whether a DENS node of `node.toml` runs while the commands do."""
    background: tuple[str, ...] = ()
    """Beginnings of commands that wait for what later commands do. They must end with 0."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Beginnings of commands that are not run → the reason."""
    after: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    """Beginnings of commands → what the reader does by hand after them."""


def block_after(page: str, words: str) -> str:
    """Return the first block of code behind these words of a page, without its indentation."""
    text = page_path(page).read_text()
    assert words in text, f"{page} has no {words!r}"
    behind = text.split(words, 1)[1]
    fenced = re.search(r"```\w*\n(.*?)```", behind, re.DOTALL)
    indented = re.search(r"\n\n((?:    .*\n|\n)+)", behind)
    found = min(filter(None, (fenced, indented)), key=lambda match: match.start())
    lines = [line.removeprefix("    ") for line in found[1].splitlines()]
    return "".join(f"{line}\n" for line in takewhile(lambda line: not line.startswith("$ "), lines))


def _csv(folder: Path, name: str, header: str, *rows: str) -> None:
    (folder / name).write_text("\n".join((header, *rows)) + "\n")


def _analysis(folder: Path) -> None:
    _csv(folder, "wind.csv", "speed", *(f"{value / 10}" for value in range(0, 300, 3)))


def _atopss(folder: Path) -> None:
    _csv(folder, "rents.csv", "rent", *(str(400 + 17 * value) for value in range(150)))


def _boards(folder: Path) -> None:
    (folder / "hot.xml").write_text(HOT)
    (folder / "fever.xml").write_text((ROOT / "docs" / "examples" / "patient.xml").read_text())
    (folder / "subscriptions").mkdir()
    (folder / "subscriptions" / "hot.xml").write_text(HOT)
    _csv(folder, "day.csv", "temperature,humidity", "21.5,40", "31.0,50", "22.0,41")


def _composite(folder: Path) -> None:
    (folder / "docs").unlink()
    (folder / "docs" / "examples").mkdir(parents=True)
    place = folder / "docs" / "examples" / "intrusion"
    place.mkdir()
    for path in (ROOT / "docs" / "examples" / "intrusion").iterdir():
        (place / path.name).write_bytes(path.read_bytes())


def _cluster(folder: Path) -> None:
    (folder / "wanted").mkdir()
    (folder / "wanted" / "flood.xml").write_text(block_after("graphs.md", "`flood.xml`"))
    (folder / "publications").write_text("")
    (folder / "item.ttl").write_text(block_after("graphs.md", "`item.ttl`"))


def _graphs(folder: Path) -> None:
    (folder / "item.ttl").write_text(block_after("graphs.md", "`item.ttl`"))
    (folder / "flood.xml").write_text(block_after("graphs.md", "`flood.xml`"))
    (folder / "flood.rq").write_text(block_after("graphs.md", "The same in SPARQL"))
    (folder / "reports").mkdir()
    (folder / "reports" / "item.ttl").write_text(block_after("graphs.md", "`item.ttl`"))


def _node(folder: Path) -> None:
    (folder / "day.csv").write_text(block_after("node.md", "A bed with a recording, `day.csv`"))
    (folder / "offer.xml").write_text((ROOT / "docs" / "examples" / "apartment_offer.xml").read_text())


def _subscriptions(folder: Path) -> None:
    (folder / "ours.ttl").write_text(block_after("subscriptions.md", "## Your own words"))
    (folder / "racing.xml").write_text(RACING)


def _tutorial(folder: Path) -> None:
    text = block_after("tutorial.md", "Save this as")
    (folder / "camp" / "subscriptions" / "fumes.xml").write_text(text)


def _tutorial_scenario(folder: Path) -> None:
    with (folder / "camp" / "scenario.toml").open("a") as scenario:
        scenario.write("\n" + block_after("tutorial.md", "Add the alarm to the end of"))


FIGURES = "measures for minutes; tests/experiments runs every experiment small"
HARDWARE = "needs a board on a serial port"
ENDLESS = "follows a folder until it is stopped; tests run it"

PAGES: Mapping[str, Page] = {
    "analysis.md": Page(_analysis),
    "atopss.md": Page(
        _atopss,
        with_node=True,
        left_out={
            "dens node publish": "waits for a subscriber; tests/dens/cli/test_publish_command.py runs it"
        },
    ),
    "boards.md": Page(_boards, left_out={"dens board deploy": HARDWARE}),
    "composite.md": Page(
        _composite,
        left_out={
            "dens run triage": "eight runs; the scenario's own tests run it",
            "dens learn composite warning.xml": "needs those runs",
        },
    ),
    "extending.md": Page(
        left_out={"dens node publish": "needs a package of its own; tests/contracts installs one"}
    ),
    "graph-cluster.md": Page(
        _cluster,
        left_out={"dens graph feed": ENDLESS, "dens graph filter flood.index incoming": ENDLESS},
    ),
    "graphs.md": Page(_graphs, with_node=True, background=("dens node subscribe",)),
    "knowledge.md": Page(
        left_out={
            "dens thesaurus compile": "replaces a file of the package; a test compares it with the file"
        }
    ),
    "experiments-matching.md": Page(left_out={"dens experiment fuzzy": FIGURES}),
    "experiments-atopss.md": Page(
        left_out={
            "dens experiment atopss table1": FIGURES,
            "dens experiment atopss fig": FIGURES,
            "dens experiment atopss all": FIGURES,
        }
    ),
    "node.md": Page(
        _node,
        with_node=True,
        background=("dens node subscribe node.toml docs",),
        left_out={
            "dens node run": "runs in the background",
            "dens node subscribe node.toml patient.xml": "needs a second machine",
            "dens report seen": "needs the trace of a node; tests/dens/node makes one and reports it",
            "dens node publish node.toml offer.xml": "waits for a subscriber; test_publish_command runs it",
        },
    ),
    "security.md": Page(),
    "subscriptions.md": Page(_subscriptions),
    "tutorial.md": Page(after={"dens init camp": _tutorial, "dens explain": _tutorial_scenario}),
}
"""The pages that show commands."""
