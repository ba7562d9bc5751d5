"""The node file selects the matching algorithm; unsupported values are reported with their place."""

from pathlib import Path

import pytest

from dens.node.settings.node_file import check_node_file, load_node


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ('matcher = "fnic"', "D390", 'did you mean "fnifc"?'),
        ('condition = "exakt"', "D391", "(subset, exact)"),
        ('matcher = "bfcpa1"', "D392", "does not support all aggregators"),
    ],
)
def test_unknown_matching_algorithm_is_reported_with_its_place(
    tmp_path: Path, line: str, code: str, message: str
) -> None:
    path = tmp_path / "node.toml"
    path.write_text(f'node = 1\nstore = "s"\n{line}\n[udp]\naddress = "127.0.0.1:1"\n')
    [problem] = check_node_file(path)
    assert (problem.code, problem.line, problem.column) == (code, 3, 1)
    assert message in problem.message


def test_a_node_matches_by_the_algorithm_and_condition_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "node.toml"
    path.write_text(
        'node = 1\nstore = "s"\nmatcher = "fnifs"\ncondition = "exact"\n[udp]\naddress = "127.0.0.1:1"\n'
    )
    plan = load_node(path)
    matcher = plan.languages[1].matcher(plan.table)
    matcher.add((1, 1), bytes.fromhex("00000064c87f64c87f0103"))
    told = bytes(6) + b"\x96\x96\x01\x01\x07"
    assert matcher.match(told, 0, 0) == [], "under exact a third attribute is one too many"
    assert len(matcher.match(bytes(6) + b"\x96\x96\x01\x03", 0, 0)) == 1
