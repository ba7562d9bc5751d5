"""`dens graph index` and `dens graph filter`: many publications against many subscriptions, on Spark."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, SparkMaster, Vocabularies
from dens.config import exit_codes as exits

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from spark_analysis.graphs.results import Totals


class Plan(StrEnum):
    """How subscriptions are split over workers: not at all, or as chapter 5 does."""

    REPLICATE = "replicate"
    RANDOM = "random"
    CONTAINMENT = "containment"
    FREQUENCY = "frequency"


def index(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            metavar="SUBSCRIPTIONS", help="A folder of documents (.xml, .rq), or a file with a vector a line."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="INDEX", help="Folder of the index.")],
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Make an index of subscriptions that are graphs: a new version in INDEX each time.

    Who filters meanwhile goes on with the version before, and takes the new one when it is whole.
    """
    from dens.app.graph_subscriptions import read_subscriptions
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from spark_analysis.graphs.index_files import write_index
    from spark_analysis.graphs.judge import index_parts

    table = chosen_table(vocabulary)
    found = read_subscriptions(subscriptions, table)
    announce_compiling()
    console.say(f"{len(found):,} subscriptions …")
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
    each = f", {size / len(found):.0f} bytes a subscription" if found else ""
    typer.echo(f"{made.folder}: {len(found):,} subscriptions{each}")


def filter_(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="What `dens graph index` made.")],
    publications: Annotated[
        Path,
        typer.Argument(
            metavar="PUBLICATIONS",
            help="A folder of Parquet (number, vector), or a file with a vector a line.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the matches.")],
    follow: Annotated[
        bool, typer.Option("--follow", metavar="", help="Judge files as they come, until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="With --follow: how often to look.")
    ] = 1,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="With --follow: what is there now, and end.")
    ] = False,
    plan: Annotated[
        Plan, typer.Option(help="Split publications (replicate), or subscriptions as chapter 5 does.")
    ] = Plan.REPLICATE,
    shards: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, metavar="N", help="Parts of the other plans; 4 by default.", show_default=False
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", metavar="", help="Write a row a match instead of one a publication.")
    ] = False,
    master: SparkMaster = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Say which publications satisfy which subscriptions of an index, with Spark: DIR/matches, as Parquet.

    With --follow files are judged as they come, each batch by the newest version of the index at that time.
    Stopped or killed, the same command goes on where it was. A publication that is no vector is told, and the
    command ends 1.
    """
    from dens.app.tables import chosen_table
    from dens.cli import console
    from dens.cli.waiting import announce_compiling
    from spark_analysis.graphs.index_files import read_index
    from spark_analysis.graphs.judge import GraphJudge
    from spark_analysis.session.session import spark_session

    if plan is Plan.REPLICATE and shards is not None:
        raise typer.BadParameter("replicate has no shards; name another --plan", param_hint="--shards")
    if follow and plan is not Plan.REPLICATE:
        raise typer.BadParameter("what is followed is judged by the whole index", param_hint="--plan")
    if once and not follow:
        raise typer.BadParameter("without --follow everything is judged once", param_hint="--once")
    table = chosen_table(vocabulary)
    announce_compiling()
    GraphJudge(read_index(index, table), table).prepare()  # what is wrong is told before Spark is started
    console.say("starting Spark …")
    with spark_session(master) as spark:
        if follow:
            totals = _followed(index, publications, output, spark, table, every, once, rows)
        else:
            totals = _judged(index, publications, output, spark, table, plan.value, shards or 4, rows)
    _tell(totals, output, as_json)


def _followed(
    index: Path,
    publications: Path,
    output: Path,
    spark: Any,
    table: "MissionTable",
    every: float,
    once: bool,
    rows: bool,
) -> "Totals":
    from dens.cli import console
    from spark_analysis.graphs.filter_stream import BatchJudged, follow

    def tell(batch: BatchJudged) -> None:
        found = batch.totals
        console.say(
            f"batch {batch.number}, version {batch.version} of the index: {found.publications:,} "
            f"publications, {found.matches:,} matches"
        )

    return follow(index, publications, output, spark, table, tell, every_s=every, once=once, as_rows=rows)


def _judged(
    index: Path,
    publications: Path,
    output: Path,
    spark: Any,
    table: "MissionTable",
    plan: str,
    shards: int,
    rows: bool,
) -> "Totals":
    from dens.cli import console
    from spark_analysis.graphs.filter_job import filter_publications

    with console.steps("judging publications …") as tell:
        return filter_publications(
            index, publications, output, spark, table, plan=plan, shards=shards, as_rows=rows, report=tell
        )


def _tell(totals: "Totals", output: Path, as_json: bool) -> None:
    from dataclasses import asdict

    from dens.cli import console

    if as_json:
        console.print_document({**asdict(totals), "matches_in": str(output / "matches")})
    else:
        doubted = f", {totals.undecided:,} of them undecided" if totals.undecided else ""
        typer.echo(
            f"{totals.publications:,} publications, {totals.matches:,} matches{doubted}: {output / 'matches'}"
        )
    if totals.faults:
        console.say(f"{totals.faults:,} are no publications; {totals.first_fault}", style="red")
        raise typer.Exit(exits.FINDING)
