"""`dens report` loads its pages while Java starts."""

import subprocess
import sys

LOADS = """
import sys
from spark_analysis.report.build import load_pages
before = "matplotlib" in sys.modules
load_pages()
pages = ("spark_analysis.report.page", "spark_analysis.report.comparison_page", "matplotlib.figure")
print(before, [name for name in pages if name not in sys.modules])
"""


def test_loading_the_pages_loads_matplotlib() -> None:
    ended = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert ended.stdout.split(maxsplit=1) == ["False", "[]\n"]
