"""Malicious run folders: every command ends with a reported error, and nothing outside of
the folder is read or changed."""

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dens.app.node.run_offers import RunOffers
from dens.cli.failures import failure_of
from dens.config import exit_codes as exits
from dens.config.problems import DocumentError
from dens.trace import parquet_guard as run_parts
from dens.trace.comparison import compare_runs
from dens.trace.schema import SCHEMA_VERSION
from emulation.rerun import interrupted_at_ms, rerun, version_differences
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from spark_analysis.live import follow as live
from spark_analysis.live.follow import follow
from spark_analysis.report.build import refuse_unwritable, write_report
from spark_analysis.run import is_large
from spark_analysis.sweep.key_figures import key_figures
from tests.sizes import examples
from tests.spark_analysis.little import write_little_sweep
from tests.spark_analysis.sample import sample_analysis

SECRET = "SECRET-LINE-ONE api_token=abc\n"


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("little")
    write_little_sweep(folder)
    scenario = load_scenario(folder / "little.toml", ["duration_s=60"])
    run_scenario(scenario, 1, folder / "run")
    return folder / "run"


@pytest.fixture
def run(whole_run: Path, tmp_path: Path) -> Path:
    """A run that a test may spoil."""
    return Path(shutil.copytree(whole_run, tmp_path / "run"))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A private file."""
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


def lead_elsewhere(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


COMMANDS: dict[str, Callable[[Path], object]] = {
    "report": lambda run: is_large(run),
    "sweep": lambda run: key_figures(run),
    "rerun": lambda run: rerun(run, run.with_name("again"), force=True),
    "compare": lambda run: compare_runs(run, run),
    "live": lambda run: follow(run, None, print, window_ms=1, every_s=1, once=True),  # type: ignore[arg-type]
    "offers": lambda run: RunOffers(run).partition_of(0, 0),
}


def begin_to_follow(run: Path) -> None:
    """Follow a run as far as that goes without Spark."""
    try:
        COMMANDS["live"](run)
    except AttributeError as error:
        assert "'NoneType' object has no attribute 'readStream'" in str(error)  # noqa: PT017


READING = COMMANDS | {
    "rerun": lambda run: (version_differences(run), interrupted_at_ms(run)),
    "live": begin_to_follow,
}
"""The same without doing a run, or following one, where nothing is wrong."""


def told(error: BaseException) -> str:
    """Return the reported message; anything but a user error fails the test."""
    failure = failure_of(error)
    assert failure.exit_code == exits.BAD_INPUT, failure.lines
    return "\n".join(failure.lines)


def test_a_report_never_goes_through_a_link(run: Path, secret: Path) -> None:
    target = run / "report.html"
    target.symlink_to(secret)
    refuse_unwritable(target)
    write_report(sample_analysis(), target, run)
    assert secret.read_text() == SECRET
    assert not target.is_symlink()
    assert target.read_text().startswith("<!doctype html>")
    target.unlink()
    os.mkfifo(target)
    write_report(sample_analysis(), target, run)
    assert target.is_file()
    target.unlink()
    target.symlink_to(secret)
    write_report(sample_analysis(), target)  # named by a person, and yet
    assert secret.read_text() == SECRET


def test_rerun_follows_no_link_among_the_inputs(dens, run: Path, secret: Path) -> None:
    [subscription] = (run / "inputs").glob("*subscription.xml")
    lead_elsewhere(subscription, secret)
    ended = dens("rerun", run)
    assert ended.code == exits.BAD_INPUT
    assert (
        "subscription.xml: error D381: is a link, and no link inside the folder of a run is followed"
        in ended.err
    )
    assert "SECRET" not in ended.err + ended.out
    assert not run.with_name("run-again").exists()


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "..", ".", "", "a\0b", "a/b"])
def test_an_input_is_named_within_its_folder(run: Path, secret: Path, name: str) -> None:
    change(run, lambda manifest: manifest["inputs"].update({"subscription.xml": name}))
    with pytest.raises(DocumentError, match="D382"):
        rerun(run, run.with_name("again"))


def test_a_private_recording_stays_private_in_the_run(tmp_path: Path) -> None:
    write_little_sweep(tmp_path)
    (tmp_path / "subscription.xml").chmod(0o600)
    run_scenario(load_scenario(tmp_path / "little.toml", ["duration_s=1"]), 1, tmp_path / "run")
    [subscription] = (tmp_path / "run" / "inputs").glob("*subscription.xml")
    [words] = (tmp_path / "run" / "inputs").glob("*medical.toml")
    assert stat.S_IMODE(subscription.stat().st_mode) == 0o600
    assert stat.S_IMODE(words.stat().st_mode) & 0o077 == 0o044 & ~os.umask(os.umask(0o022))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "place", ["manifest.json", "trace", "trace/nodes", "trace/contacts/part-00000.parquet"]
)
def test_no_command_reads_through_a_link(run: Path, tmp_path: Path, command: str, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (run / place).rename(elsewhere)
    (run / place).symlink_to(elsewhere)
    with pytest.raises(DocumentError, match="D381"):
        COMMANDS[command](run)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["manifest.json", "trace/contacts/part-00000.parquet"])
def test_no_command_waits_for_a_pipe(run: Path, command: str, place: str) -> None:
    (run / place).unlink()
    os.mkfifo(run / place)
    with pytest.raises(DocumentError, match="D002: cannot be read: it is not a regular file"):
        COMMANDS[command](run)


@pytest.mark.parametrize("place", ["live", "live/batches", "live/checkpoint/offsets", "live/lock"])
def test_following_writes_through_no_link(run: Path, tmp_path: Path, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    (run / place).parent.mkdir(parents=True, exist_ok=True)
    (run / place).symlink_to(elsewhere)
    with pytest.raises(DocumentError, match="D381"):
        COMMANDS["live"](run)
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]


def test_notes_about_files_elsewhere_are_not_gone_on_with(run: Path) -> None:
    notes = run / "live" / "checkpoint" / "sources" / "0"
    notes.mkdir(parents=True)
    (notes / "0").write_text(
        'v1\n{"path":"file:///elsewhere/part-00000.parquet","timestamp":1,"batchId":0}\n'
    )
    with pytest.raises(Exception, match="they are about files elsewhere") as refused:
        COMMANDS["live"](run)
    told(refused.value)


def test_vocabularies_elsewhere_are_not_read(run: Path, secret: Path) -> None:
    def point(manifest: dict[str, Any]) -> None:
        del manifest["vocabulary_documents"]
        manifest["scenario"]["vocabularies"] = [str(secret)]

    change(run, point)
    with pytest.raises(Exception, match="does not contain its vocabulary") as refused:
        key_figures(run)
    assert "SECRET" not in told(refused.value)


# ---------------------------------------------------------------------- manifests


def change(run: Path, how: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    how(manifest)
    (run / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("simulated_ms", 10**300),
        ("simulated_ms", -1),
        ("seed", -1),
        ("status", "finished"),
        ("node", 2**31),
        ("schema_version", 0),
        ("schema_version", SCHEMA_VERSION + 1),
        ("parts", {"nodes": -1}),
        ("versions", []),
        ("vocabulary_documents", {"medical": "x" * 65_537}),
        ("scenario.duration_s", 1e308),
        ("scenario.name", 5),
        ("scenario.sensor", [{"group": "patients"}]),
        ("scenario.radio", {"near": {"rate_bytes_per_s": -1}}),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_out_of_bounds_value_is_reported_by_its_key(run: Path, command: str, key: str, value: object) -> None:
    def spoil(manifest: dict[str, Any]) -> None:
        *above, last = key.split(".")
        table = manifest["scenario"] if above else manifest
        table[last] = value

    change(run, spoil)
    with pytest.raises(DocumentError) as refused:
        COMMANDS[command](run)
    message = told(refused.value)
    assert f"{run}/manifest.json: error D383: " in message
    assert key in message or key == "schema_version"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000, "nests more than 64 tables"),
        ('{"a":' * 200_000, "nests more than 64 tables"),
        ("[" * 100 + "]" * 100, "nests more than 64 tables"),
        ('{"a": [' + "1," * 1_000_001 + "1]}", "more than 1,000,000 values"),
        ('{"simulated_ms": ' + "9" * 5000 + "}", "contains an invalid number"),
        ('{"simulated_ms": NaN}', "NaN is not a JSON number"),
        ('"' + '\\"' * 1_000_000, "invalid JSON"),
        ('{"a": "' + "[" * 100_000 + '"}', "schema_version: field required"),
    ],
)
def test_a_manifest_that_would_take_all_memory_or_stack(run: Path, text: str, message: str) -> None:
    (run / "manifest.json").write_text(text)
    with pytest.raises(DocumentError, match="D383") as refused:
        compare_runs(run, run)
    assert message in told(refused.value)


def test_unknown_keys_are_ignored(run: Path) -> None:
    change(run, lambda manifest: manifest.update({"made_tomorrow": {"by": "a later dens"}}))
    assert not is_large(run)


# ---------------------------------------------------------------------- keys


def test_the_text_of_a_key_is_in_no_file_of_a_run(tmp_path: Path) -> None:
    write_little_sweep(tmp_path)
    scenario = tmp_path / "little.toml"
    with scenario.open("a") as file:
        file.write('\n[security]\nmission_key = "correct horse battery"\n')
    run_scenario(load_scenario(scenario), 1, tmp_path / "run")
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"correct horse" in path.read_bytes()]
    again = rerun(tmp_path / "run", tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.lines() == ["same trace, byte for byte"]
    assert again.summary.frames_sent > 0


def test_a_key_in_an_older_manifest_is_not_printed(run: Path, whole_run: Path) -> None:
    change(run, lambda manifest: manifest["scenario"].update(security={"mission_key": "correct horse"}))
    assert "horse" not in json.dumps(compare_runs(run, whole_run).as_document())


# ---------------------------------------------------------------------- parts


def spoil_part(run: Path, table: pa.Table) -> None:
    pq.write_table(table, run / "trace" / "nodes" / "part-00000.parquet")


def nodes(run: Path) -> pa.Table:
    return pq.read_table(run / "trace" / "nodes" / "part-00000.parquet")


def wrong_type(run: Path) -> None:
    rows = nodes(run)
    texts = pa.array([str(one) for one in rows["node"].to_pylist()])
    spoil_part(run, rows.set_column(0, "node", texts))


def nested(run: Path) -> None:
    rows = nodes(run)
    spoil_part(run, rows.set_column(0, "node", pa.array([[1]] * len(rows))))


def many_groups(run: Path) -> None:
    rows = pa.concat_tables([nodes(run)] * 300)
    pq.write_table(rows, run / "trace" / "nodes" / "part-00000.parquet", row_group_size=1)


def many_columns(run: Path) -> None:
    rows = nodes(run)
    for number in range(100):
        rows = rows.append_column(f"more{number}", pa.array([1] * len(rows)))
    spoil_part(run, rows)


def long_words(run: Path) -> None:
    rows = nodes(run)
    names = pa.array(["x" * 100_000] * len(rows)).dictionary_encode()
    spoil_part(run, rows.set_column(rows.column_names.index("name"), "name", names))


def torn(run: Path) -> None:
    part = run / "trace" / "nodes" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-30] + part.read_bytes()[-8:])


def long_footer(run: Path) -> None:
    part = run / "trace" / "nodes" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1")


@pytest.mark.parametrize(
    ("spoil", "commands"),
    [
        (wrong_type, ("report", "sweep", "compare")),
        (nested, ("report", "sweep", "compare")),
        (many_groups, ("report", "sweep", "compare", "offers")),
        (many_columns, ("report", "sweep", "compare", "offers")),
        (long_words, ("compare", "offers")),
        (torn, ("report", "sweep", "compare", "offers")),
        (long_footer, ("report", "sweep", "compare", "offers")),
    ],
)
def test_absurd_parts_are_refused_by_name(
    run: Path, whole_run: Path, spoil: Callable[[Path], None], commands: tuple[str, ...]
) -> None:
    spoil(run)
    for command in commands:
        with pytest.raises(DocumentError, match=r"nodes/part-00000\.parquet: error D384") as refused:
            compare_runs(run, whole_run) if command == "compare" else COMMANDS[command](run)
        told(refused.value)


@pytest.mark.slow
def test_what_a_part_holds_is_counted_while_it_is_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that stands once in the file may stand in every row."""
    monkeypatch.setattr(run_parts, "MOST_BYTES", 1_000_000)
    rows = pa.table({"name": pa.array(["x" * 60_000] * 50_000)})
    spoil_part(run, rows)
    part = run / "trace" / "nodes" / "part-00000.parquet"
    assert part.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with pytest.raises(DocumentError, match="it holds more than 1,000,000 bytes"):
        run_parts.read_part(run, part, ["name"])
    assert pa.total_allocated_bytes() - before < 300 * 1_000_000


# ---------------------------------------------------------------------- anything at all

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *("schema_version", "status", "simulated_ms", "seed", "node", "scenario", "inputs", "parts"),
        *("versions", "vocabulary_documents", "subscription_documents", "table_check", "began_ms"),
    ]
)
PLACES = st.sampled_from(
    ["manifest.json", "summary.json", "inputs", "trace", "trace/nodes", "trace/messages", "live"]
    + [f"trace/{table}/part-00000.parquet" for table in ("nodes", "contacts", "messages", "subscriptions")]
)
MISHAPS = st.one_of(
    st.tuples(st.just("link"), PLACES, st.sampled_from(["secret", "folder", "nothing", "self"])),
    st.tuples(st.just("pipe"), PLACES, st.none()),
    st.tuples(st.just("missing"), PLACES, st.none()),
    st.tuples(st.just("folder"), PLACES, st.none()),
    st.tuples(st.just("bytes"), PLACES, st.binary(max_size=60)),
    st.tuples(st.just("deep"), st.sampled_from(["manifest.json", "summary.json"]), st.integers(1, 100_000)),
    st.tuples(st.just("key"), KEYS, JSON),
    st.tuples(st.just("scenario"), st.sampled_from(["name", "group", "radio", "sensor", "duration_s"]), JSON),
)


def befall(run: Path, outside: Path, mishap: tuple[str, str, Any]) -> None:
    kind, place, what = mishap
    path = run / place
    if kind in ("key", "scenario"):
        manifest = run / "manifest.json"
        if manifest.is_file() and not manifest.is_symlink():
            try:
                document = json.loads(manifest.read_text())
                (document if kind == "key" else document["scenario"])[place] = what
            except (ValueError, KeyError, TypeError, RecursionError):
                return
            manifest.write_text(json.dumps(document))
        return
    if not path.parent.is_dir() or path.parent.is_symlink() or path.parent.parent.is_symlink():
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    targets = {"secret": outside / "secret.txt", "folder": outside, "nothing": outside / "no", "self": path}
    if kind == "link":
        path.symlink_to(targets[what])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("bytes", "deep"):
        path.write_bytes(what if kind == "bytes" else b"[" * what)


def seen(folder: Path) -> dict[str, object]:
    """Return everything that a folder holds, without following anything."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def places(whole_run: Path) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory() as scratch:
        outside = Path(scratch) / "outside"
        outside.mkdir()
        (outside / "secret.txt").write_text(SECRET)
        yield Path(shutil.copytree(whole_run, Path(scratch) / "run")), outside


@pytest.fixture
def impatient_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a follower not wait for tables that were removed."""
    monkeypatch.setattr(live, "_BEGIN_TIMEOUT_S", 0.0)


@pytest.mark.usefixtures("impatient_follower")
@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(mishaps=st.lists(MISHAPS, min_size=1, max_size=3))
def test_whatever_a_folder_holds_is_read_or_refused_in_words(
    whole_run: Path, mishaps: list[tuple[str, str, Any]]
) -> None:
    with places(whole_run) as (run, outside):
        for mishap in mishaps:
            befall(run, outside, mishap)
        before = seen(outside)
        for command in READING.values():
            try:
                command(run)
            except Exception as error:
                assert "SECRET" not in told(error)  # noqa: PT017
        assert seen(outside) == before
