"""Parameters of table 5.1, as people set them."""

import pytest

from dens_experiments.family import Request, UnknownFigure
from dens_experiments.graph.settings import PARAMETERS, settings_of, workload_of
from dens_experiments.graph_workload import GraphWorkload

BASE = GraphWorkload()


def test_parameters_are_set_by_name() -> None:
    asked = Request(set=(("overlap", "0.25"), ("stars", "3"), ("nodes", "20")))
    found = workload_of(asked, BASE)
    assert (found.overlap, found.stars, found.nodes, found.edges) == (0.25, 3, 20, 90)
    assert {"nodes", "edges", "matched", "stars", "starred", "overlap"} <= set(PARAMETERS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((("overlop", "1"),), "parameter 'overlop' is unknown; there are: nodes, edges"),
        ((("overlap", "1.5"),), "overlap=1.5 is not a share"),
        ((("overlap", "half"),), "overlap=half is not a number"),
        ((("nodes", "0"),), "nodes=0 is out of range"),
        ((("nodes", "99"),), "a publication needs edges ≥ nodes − 1"),
        ((("least_edges", "9"),), "least_edges 9 is more than most_edges 8"),
    ],
)
def test_what_means_nothing_is_refused(given: tuple[tuple[str, str], ...], says: str) -> None:
    with pytest.raises(UnknownFigure, match=says):
        workload_of(Request(set=given), BASE)


def test_counts_seeds_and_repetitions_equal_the_requested_ones() -> None:
    found = settings_of(Request(counts=(5, 7), seeds=(4,), repetitions=2), (1,), (2,))
    assert (found.counts, found.seeds, found.repetitions) == ((5, 7), (4,), 2)
    assert settings_of(Request(small=True), (1,), (2,)).counts == (2,)
    with pytest.raises(UnknownFigure, match="0 cannot be measured"):
        settings_of(Request(counts=(0,)), (1,), (2,))
