"""Help panels, and the names that were removed in 0.3."""

import pytest

PANELS = ("Subscriptions", "Runs", "Real nodes", "Boards", "Vocabularies", "Graphs", "Tools")


@pytest.mark.parametrize("columns", ["80", "120"])
def test_help_has_the_panels_in_order(dens, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = dens("--help").out
    places = [text.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert "─ Commands ─" not in text
    assert "Exit codes: 0 success, 1 findings, 2 usage error" in text
    assert max(map(len, text.splitlines())) <= int(columns)


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (["publish", "offer.xml"], "publish", "dens node publish"),
        (["node", "offers", "node.toml"], "node offers", "dens offers"),
        (["node", "lookup", "node.toml", "temp"], "node lookup", "dens offers --word"),
        (["experiment", "gtopss", "all"], "experiment gtopss", "dens experiment graph"),
    ],
)
def test_removed_names_exit_with_2_and_name_the_new_one(dens, words: list[str], old: str, new: str) -> None:
    ended = dens(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f'error: "dens {old}" was renamed to "{new}"\n')
    document = dens(*words, "--json").document()
    assert document["problems"][0]["message"] == f'"dens {old}" was renamed to "{new}"'


def test_removed_names_are_not_listed(dens) -> None:
    assert "│ publish " not in dens("--help").out
    assert "│ lookup " not in dens("node", "--help").out


def test_paragraphs_of_help_are_not_broken_at_lines_of_the_source(dens) -> None:
    assert "The same file and seed give the same trace. Ctrl-C leaves" in dens("run", "--help").out
