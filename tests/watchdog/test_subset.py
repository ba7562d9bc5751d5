"""The language that the oldest board runtime understands: what its sources may not contain."""

import ast
from pathlib import Path

import pytest

import watchdog
from tests.paths import ROOT

MODULES = sorted(Path(watchdog.__file__).parent.glob("*.py"))
ALLOWED_IMPORTS = {"array"}
ALLOWED = {
    "authentication": {"an import of hashlib"},
    "native_grader": {"a plain import"},
    "native_scan": {"a plain import"},
}
"""What is imported where it is only on boards that have it."""
ABSENT_NAMES = {"memoryview", "property", "NotImplemented", "float", "round", "complex", "divmod", "format"}
ABSENT_METHODS = {"hex", "fromhex", "encode", "decode", "__name__", "bit_length", "bit_count"}


def faults(tree: ast.AST) -> list[str]:
    """Return what the oldest runtime lacks, with its line."""
    found = []
    for node in ast.walk(tree):
        reason = None
        if isinstance(node, ast.JoinedStr):
            reason = "an f-string"
        elif isinstance(node, ast.AnnAssign):
            reason = "an annotated variable"
        elif isinstance(node, ast.NamedExpr):
            reason = "an assignment expression"
        elif isinstance(node, ast.Div):
            reason = "a division that is not //"
        elif isinstance(node, ast.Match | ast.AsyncFunctionDef | ast.Await):
            reason = "syntax of later years"
        elif isinstance(node, ast.Constant) and isinstance(node.value, float):
            reason = "a float"
        elif isinstance(node, ast.Name) and node.id in ABSENT_NAMES:
            reason = node.id
        elif isinstance(node, ast.Attribute) and node.attr in ABSENT_METHODS:
            reason = node.attr
        elif isinstance(node, ast.Import):
            reason = "a plain import"
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module not in ALLOWED_IMPORTS and not module.startswith("watchdog."):
                reason = "an import of " + module
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            if not isinstance(node.ctx, ast.Load):
                reason = "assignment to a slice"
        elif isinstance(node, ast.arguments) and node.posonlyargs:
            reason = "positional-only arguments"
        if reason:
            found.append(f"line {getattr(node, 'lineno', 0)}: {reason}")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_keeps_to_the_subset(path: Path) -> None:
    found = {fault.partition(": ")[2] for fault in faults(ast.parse(path.read_text(encoding="utf-8")))}
    assert found == ALLOWED.get(path.stem, set())


@pytest.mark.parametrize(
    "wrong",
    ["f'{x}'", "x: int = 1", "1 / 2", "0.5", "b[1:2] = b'x'", "import math", "memoryview(b)", "(x := 1)"],
)
def test_the_gate_notices(wrong: str) -> None:
    assert faults(ast.parse(wrong))


def test_the_package_is_ours() -> None:
    assert Path(watchdog.__file__) == ROOT / "watchdog" / "__init__.py"
