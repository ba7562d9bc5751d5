"""`dens learn`: from the readings of a run to a vocabulary that checks, as a person would do it."""

from pathlib import Path

import pytest


def test_terms_of_a_run_become_a_vocabulary_that_checks(dens, dens_process, spark, tmp_path: Path) -> None:
    """The first command starts Spark as a user's does, the second shares the session of the tests."""
    folder = tmp_path / "demo"
    assert dens("init", folder).code == 0
    assert dens("run", folder / "scenario.toml", "--out", folder / "run").code == 0
    shown = dens("vocabulary", "show", folder / "shelter.toml", "--json").document()["events"][0]
    attribute = next(one["name"] for one in shown["attributes"] if "domain" in one and one["terms"])
    vocabulary, plot = tmp_path / "learnt.toml", tmp_path / "learnt.svg"
    about = ("--event", shown["name"], "--attribute", attribute, "--json")
    learnt = dens_process(
        "learn", "terms", folder / "run", *about, "--master", "local[1]",
        "--terms", "little,much", "-o", vocabulary, "--plot", plot,
    )  # fmt: skip
    assert learnt.code == 0, learnt.err
    assert [term["name"] for term in learnt.document()["terms"]] == ["little", "much"]
    assert sum(term["values"] for term in learnt.document()["terms"]) == learnt.document()["values"] > 0
    assert dens("vocabulary", "check", vocabulary).code == 0
    assert dens("vocabulary", "diff", folder / "shelter.toml", vocabulary).code == 0
    assert plot.read_text().count("<svg") == 1
    followed = dens("learn", "transitions", folder / "run", *about)
    assert followed.code == 0, followed.err
    matrix = followed.document()
    assert len(matrix["counts"]) == len(matrix["states"]) > 1
    assert 0 < sum(map(sum, matrix["counts"])) < learnt.document()["values"]


@pytest.mark.parametrize("names", ["", "a,a", "very high"])
def test_names_that_no_vocabulary_takes(dens, tmp_path: Path, names: str) -> None:
    ended = dens("learn", "terms", tmp_path, "--event", "e", "--attribute", "a", "--terms", names)
    assert ended.code == 3
    assert "--terms needs distinct names" in ended.err


RENTS = "flat,rent\n" + "".join(
    f"{n},{text}\n"
    for n, text in enumerate(
        [*(str(rent) for rent in (700, 720, 750, 780, 800, 820, 900)), "850..950", "880±30", "?", "",
         *(str(rent) for rent in (1900, 1950, 2000, 2050, 2100)), "3400", "3500..3600", "3500"]
    )
)  # fmt: skip
ABOUT = ("--vocabulary", "housing", "--event", "apartment", "--attribute", "rent")


@pytest.mark.parametrize("form", ["fitted", "lr"])
def test_a_column_of_a_file_becomes_terms_that_both_languages_read(dens, tmp_path: Path, form: str) -> None:
    (tmp_path / "rents.csv").write_text(RENTS)
    vocabulary = tmp_path / "mine.toml"
    learnt = dens(
        "learn", "terms", "--csv", tmp_path / "rents.csv", "--column", "rent", *ABOUT, "--form", form,
        "--terms", "modest,usual,dear", "-o", vocabulary, "--json",
    )  # fmt: skip
    assert learnt.code == 0, learnt.err
    found = learnt.document()
    assert found["values"] == 17  # neither the unknown nor the empty one
    assert [term["values"] for term in found["terms"]] == [9, 5, 3]
    assert all(("lr" in term) == (form == "lr") for term in found["terms"])
    assert dens("vocabulary", "check", vocabulary).code == 0
    for namespace in ("subscription", "approximate"):
        document = tmp_path / f"{namespace}.xml"
        document.write_text(
            f'<subscription xmlns="urn:dens:{namespace}:1" event="apartment">'
            '<approximate-predicate attribute="rent"><is>modest</is></approximate-predicate></subscription>'
        )
        assert dens("compile", document, "--vocabulary", vocabulary).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (
            ("--csv", "rents.csv", "--column", "rant", *ABOUT),
            3,
            'no column "rant"; did you mean "rent"?',
        ),
        (
            ("--csv", "bad.csv", "--column", "rent", *ABOUT),
            3,
            'bad.csv:3:1: error D311: "cheapish" is not a value of rent',
        ),
        (("--csv", "rents.csv", *ABOUT), 2, "--csv needs --column NAME and --vocabulary NAME|FILE"),
        (("run", "--csv", "rents.csv", "--column", "rent", *ABOUT), 2, "give runs, or --csv FILE"),
        (ABOUT, 2, "give runs, or --csv FILE"),
        (("run", *ABOUT), 2, "--column and --vocabulary are for --csv"),
        (
            ("--csv", "rents.csv", "--column", "rent", *ABOUT, "--from", "both"),
            2,
            "a CSV file has no subscriptions",
        ),
        (("run", *ABOUT[2:], "--from", "dreams"), 2, "'dreams': use readings, subscriptions or both"),
        (
            ("--csv", "rents.csv", "--column", "rent", *ABOUT, "--form", "round"),
            2,
            "'round': use fitted or lr",
        ),
    ],
)
def test_sources_that_say_nothing(dens, tmp_path: Path, monkeypatch, arguments, code: int, says: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rents.csv").write_text(RENTS)
    (tmp_path / "bad.csv").write_text("flat,rent\n1,800\n2,cheapish\n")
    ended = dens("learn", "terms", *arguments)
    assert ended.code == code
    assert says in ended.err
