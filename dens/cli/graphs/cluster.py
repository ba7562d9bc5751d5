"""`dens graph index` and `dens graph filter`: match many publications with many subscriptions, on Spark."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson, SparkMaster, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from spark_analysis.graphs.filter_batch import FilterJob
    from spark_analysis.graphs.results import Totals


class Plan(StrEnum):
    """How subscriptions are partitioned over workers: not at all, or as in chapter 5 of the thesis."""

    REPLICATE = "replicate"
    RANDOM = "random"
    CONTAINMENT = "containment"
    FREQUENCY = "frequency"


def index(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            metavar="SUBSCRIPTIONS",
            help="Folder of documents (.xml, .rq), or file of vectors in hex, one per line.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="INDEX", help="Folder of the index.")],
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Build an index of graph subscriptions.

    Each call adds a version to INDEX. A running `dens graph filter` switches to it when it is complete.
    """
    from dens.app.graphs.subscriptions import read_subscriptions
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from spark_analysis.graphs.index_files import write_index
    from spark_analysis.graphs.judge import index_parts

    table = chosen_table(vocabulary)
    found = read_subscriptions(subscriptions, table)
    announce_compiling()
    console.say(f"indexing {len(found):,} subscriptions …")
    parts = index_parts([one.body for one in found], table)
    made = write_index(output, parts.arrays, parts.header, [one.name for one in found], table)
    size = sum(array.nbytes for array in made.arrays.values())
    if as_json:
        console.print_document(
            {
                "index": str(output),
                "version": made.version,
                "subscriptions": len(found),
                "bytes": size,
                "digest": made.digest,
            }
        )
        return
    each = f", {size / len(found):.0f} bytes per subscription" if found else ""
    typer.echo(f"{made.folder}: {len(found):,} subscriptions{each}")


def filter_(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="Index of `dens graph index`.")],
    publications: Annotated[
        Path,
        typer.Argument(
            metavar="PUBLICATIONS",
            help="Folder of Parquet (number, vector), or file of vectors in hex, one per line.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the matches.")],
    follow: Annotated[
        bool, typer.Option("--follow", metavar="", help="Match files as they arrive, until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="With --follow: polling interval.")
    ] = 1,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="With --follow: process what is there now, and exit.")
    ] = False,
    plan: Annotated[
        Plan, typer.Option(help="Partition publications (replicate), or subscriptions (others).")
    ] = Plan.REPLICATE,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, metavar="N", help="Partitions of subscriptions; 4 by default.", show_default=False
        ),
    ] = None,
    rows: Annotated[
        bool,
        typer.Option("--rows", metavar="", help="Write one row per match instead of one per publication."),
    ] = False,
    master: SparkMaster = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Match publications with the subscriptions of an index, on Spark.

    Writes Parquet to DIR/matches. With --follow, each batch uses the newest version of the index; after an
    interruption the same command continues where it stopped. An invalid publication is reported, and the
    exit code is 1.
    """
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from spark_analysis.graphs.filter_batch import FilterJob
    from spark_analysis.graphs.index_files import read_index
    from spark_analysis.graphs.judge import GraphJudge
    from spark_analysis.session.session import spark_session

    if plan is Plan.REPLICATE and shards is not None:
        raise typer.BadParameter("--plan replicate has no shards; choose another plan", param_hint="--shards")
    if follow and plan is not Plan.REPLICATE:
        raise typer.BadParameter("--follow supports only --plan replicate", param_hint="--plan")
    if once and not follow:
        raise typer.BadParameter("--once is for --follow", param_hint="--once")
    table = chosen_table(vocabulary)
    announce_compiling()
    GraphJudge(read_index(index, table), table).prepare()  # before Spark starts
    console.say("starting Spark …")
    with spark_session(master) as spark:
        job = FilterJob(index, publications, output, spark, table, rows)
        totals = _followed(job, every, once) if follow else _judged(job, plan.value, shards or 4)
    _print(totals, output, as_json)


def _followed(job: "FilterJob", every: float, once: bool) -> "Totals":
    from dens.cli import console
    from spark_analysis.graphs.filter_stream import BatchJudged, follow

    def on_batch(batch: BatchJudged) -> None:
        found = batch.totals
        console.say(
            f"batch {batch.number}, index version {batch.version}: {found.publications:,} "
            f"publications, {found.matches:,} matches"
        )

    return follow(job, on_batch, every_s=every, once=once)


def _judged(job: "FilterJob", plan: str, shards: int) -> "Totals":
    from dens.cli import console
    from spark_analysis.graphs.filter_job import filter_publications

    with console.steps() as step:
        step("matching publications …")
        return filter_publications(job, plan=plan, shards=shards, report=step)


def _print(totals: "Totals", output: Path, as_json: bool) -> None:
    from dataclasses import asdict

    from dens.cli import console

    if as_json:
        console.print_document({**asdict(totals), "matches_in": str(output / "matches")})
    else:
        undecided = f", {totals.undecided:,} of them undecided" if totals.undecided else ""
        counts = f"{totals.publications:,} publications, {totals.matches:,} matches{undecided}"
        typer.echo(f"{counts}: {output / 'matches'}")
    if totals.faults:
        console.say(f"{totals.faults:,} invalid publications; {totals.first_fault}", style="red")
        raise typer.Exit(exits.FINDING)
