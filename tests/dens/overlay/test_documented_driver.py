"""The driver that docs/reference/protocols.md shows works as it stands there."""

import re

import pytest

from tests.paths import ROOT


def test_the_driver_on_the_page_delivers_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "reference" / "protocols.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(program, "docs/reference/protocols.md", "exec"), {"__name__": "driver"})
    printed = capsys.readouterr().out.strip()
    assert printed.startswith("3 ")
    assert f"It prints `{printed}`" in page
