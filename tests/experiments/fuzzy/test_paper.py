"""The paper's numbers are attributed to the machine they were measured on."""

from dens_experiments.fuzzy import paper
from dens_experiments.panel import PaperFigure

FIGURES = [one for one in vars(paper).values() if isinstance(one, PaperFigure)]


def test_the_phone_and_neman_are_not_mixed_up() -> None:
    assert paper.NEMAN_FLAT_100.place == paper.NEMAN == "NEMAN"
    assert (paper.NEMAN_FLAT_100.low, paper.NEMAN_FLAT_100.at) == (10, 100)
    assert (paper.NEMAN_FLAT_1000.low, paper.NEMAN_BROKEN_1000.low) == (100, 600)
    assert paper.NEMAN_BROKEN_100.low / paper.NEMAN_FLAT_100.low == 6
    assert paper.NEMAN_BROKEN_1000.low / paper.NEMAN_FLAT_1000.low == 6
    for one in (paper.FLAT_COVERED, paper.SORTED_AND_COVERED, paper.INDEXED):
        assert one.place == paper.PHONE


def test_every_number_has_a_source() -> None:
    assert len(FIGURES) >= 9
    for one in (*FIGURES, *paper.FOOTPRINTS):
        assert one.sentence.startswith("§5")
        assert one.low <= one.high
    assert [one.low for one in paper.FOOTPRINTS] == [49, 118, 19, 44, 22]
