"""A package with a metric is installed beside DENS; commands show it without configuration."""

import os
from pathlib import Path
from typing import Any

import pytest

METRIC = """
from spark_analysis.catalogue.metric import Metric, Unit


def counted(contacts):
    return {"contacts": contacts.num_rows}


def contacts(evidence):
    return evidence.tables.sums("contacts", ["a"], counted).get("contacts")


METRIC = Metric(
    name="met", title="contacts", meaning="contacts of all pairs", unit=Unit.NUMBER, better="up",
    needs=frozenset({"tables"}), of=contacts,
)
"""


@pytest.fixture
def with_metric(tmp_path: Path) -> dict[str, Any]:
    """Install a package; return how to call a command that sees it."""
    site = tmp_path / "site"
    (site / "met_metric-1.0.dist-info").mkdir(parents=True)
    (site / "met_metric.py").write_text(METRIC)
    (site / "met_metric-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: met-metric\nVersion: 1.0\n"
    )
    (site / "met_metric-1.0.dist-info" / "entry_points.txt").write_text(
        "[dens.metrics]\nmet = met_metric:METRIC\n"
    )
    return {"env": {**os.environ, "PYTHONPATH": str(site)}}


@pytest.fixture
def demo(dens, tmp_path: Path) -> Path:
    assert dens("init", tmp_path / "demo").code == 0
    sweep = tmp_path / "demo" / "seeds.toml"
    sweep.write_text('scenario = "scenario.toml"\nseeds = "1..2"\n')
    return tmp_path / "demo"


@pytest.mark.slow
def test_sweeps_and_comparisons_show_it(
    dens_process, with_metric: dict[str, Any], demo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    swept = dens_process("sweep", demo / "seeds.toml", "-o", out, "-j", "1", "--json", **with_metric)
    assert swept.code == 0, swept.err
    assert swept.document()["variants"][0]["figures"]["met"]["mean"] > 0
    table = dens_process("sweep", demo / "seeds.toml", "-o", out, "-j", "1", **with_metric)
    assert "contacts of all" in table.out
    runs = sorted((out / "runs").iterdir())
    compared = dens_process("compare", *runs, **with_metric)
    assert compared.code == 1, "seeds differ"
    assert "metrics.met: " in compared.out
    assert "metrics.mean_delay_s: " in compared.out
    without = dens_process("compare", *runs, "--json")
    assert "metrics.met" not in {one["path"] for one in without.document()["figures"]}


@pytest.mark.spark
def test_reports_show_it(dens_process, with_metric: dict[str, Any], demo: Path, tmp_path: Path) -> None:
    assert dens_process("run", demo / "scenario.toml", "--out", tmp_path / "run").code == 0
    page = tmp_path / "report.html"
    told = dens_process("report", tmp_path / "run", "-o", page, "--json", **with_metric)
    assert told.code == 0, told.err
    assert told.document()["metrics"]["met"] > 0
    assert "contacts of all pairs" in page.read_text("utf-8")


def test_unloadable_metric_is_reported_in_words(
    dens_process, with_metric: dict[str, Any], demo: Path, tmp_path: Path
) -> None:
    (tmp_path / "site" / "met_metric.py").write_text("METRIC = 5\n")
    told = dens_process("sweep", demo / "seeds.toml", "-o", tmp_path / "out", "-j", "1", **with_metric)
    assert told.code == 3
    assert "metric met (met_metric:METRIC) of the package met-metric is a int; name a Metric of" in told.err
    assert "Traceback" not in told.err
    assert not (tmp_path / "out").exists(), "reported before anything is run"
