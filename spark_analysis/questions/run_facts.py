"""Which run was analysed: the facts in the head of the report."""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_analysis.question import Question, RunContext
from spark_analysis.run import Run


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The run. A partial run stopped at `end_s`, before the end of its scenario."""

    name: str
    title: str
    seed: int | None
    policy: str | None
    partial: bool
    end_s: float
    nodes_by_role: dict[str, int]
    subscriptions: int
    notifications: int
    devices: int = 0
    """A device with several roles has one node per role."""
    documents: int = 0
    """Documents that sources offered to their filters."""
    document_frames: float | None = None
    """Mean frames per transmitted document, with the smallest radio frame; None if no radio has frames."""


def collect(context: RunContext) -> RunFacts:
    run = context.run
    roles = [row["role"] for row in context.nodes.values()]
    return RunFacts(
        name=run.manifest.name,
        title=run.manifest.title,
        seed=run.manifest.seed,
        policy=run.manifest.policy,
        partial=run.partial,
        end_s=context.end_ms / 1000,
        nodes_by_role={role: roles.count(role) for role in sorted(set(roles))},
        subscriptions=len(context.revisions),
        notifications=run.rows("notifications"),
        devices=context.devices.count,
        documents=run.rows("documents"),
        document_frames=_document_frames(run),
    )


def _document_frames(run: Run) -> float | None:
    radios = run.manifest.scenario.get("radio", {}).values()
    sizes = [radio["frame_bytes"] for radio in radios if radio.get("frame_bytes")]
    if not sizes or not run.rows("documents"):
        return None
    row = frames_of_documents(run.table("documents"), run.table("messages"), min(sizes)).first()
    return None if row is None else row["frames"]


def frames_of_documents(documents: DataFrame, messages: DataFrame, frame_bytes: int) -> DataFrame:
    """Return one row: the mean frames of `frame_bytes` that a document takes, with envelope."""
    languages = documents.select("language").distinct()
    sent = messages.where((F.col("kind") == "sent") & (F.col("type") == "notification"))
    sent_once = (
        sent.join(languages, "language", "left_semi")
        .groupBy("origin", "number")
        .agg(F.max("bytes").alias("bytes"))
    )
    return sent_once.agg(F.avg(F.ceil(F.col("bytes") / frame_bytes)).alias("frames"))


RUN: Final = Question(name="run", place=10, collect=collect)
