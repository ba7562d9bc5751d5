"""Makes Python sources small for a board whose heap holds every name and every docstring of what it imports.

All sources are treated together, as one closed world: what they define is renamed in all of them alike. What
a board's own modules define (`append`, `read` …) keeps its name. The behaviour stays the same unless a
renamed object is looked up by a string; names that occur as strings are therefore kept.
"""

import ast
from collections.abc import Iterable, Mapping
from string import ascii_lowercase, ascii_uppercase

from dens.boards.optimiser.dense_text import dense_text
from dens.boards.optimiser.flatten_classes import without_classes
from dens.boards.optimiser.short_names import FOREIGN, quoted_words, renamed, used_names
from dens.boards.optimiser.specialise import (
    InlineBodies,
    InlineConstants,
    InlineExpressions,
    MoveBodies,
    Specialise,
    single_expressions,
)


class _Strip(ast.NodeTransformer):
    """Removes docstrings, annotations and __slots__."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__slots__":
            return None
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


class _TreeShake(ast.NodeTransformer):
    """Removes functions, classes and methods that are not used."""

    def __init__(self, used: frozenset[str]) -> None:
        self.used = used

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if node.name not in self.used and node.name[:2] != "__":
            return None
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | None:
        if node.name not in self.used:
            return None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in self.used]
        return node if node.names else None


def _tree_shake(trees: Mapping[str, ast.Module], keep: frozenset[str]) -> dict[str, ast.Module]:
    """Return the trees without unused definitions, repeatedly, until nothing more can be removed."""
    while True:
        before = sum(1 for tree in trees.values() for _ in ast.walk(tree))
        used = used_names(trees.values()) | keep | quoted_words(trees.values())
        trees = {name: _TreeShake(used).visit(tree) for name, tree in trees.items()}
        if before == sum(1 for tree in trees.values() for _ in ast.walk(tree)):
            return dict(trees)


def _check_meanings(trees: Mapping[str, ast.Module]) -> None:
    """Refuse modules for one namespace that define functions of the same name: the last would win."""
    homes: dict[str, str] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                if node.name in homes:
                    raise ValueError(
                        f"{node.name} is defined in {homes[node.name]} and in {module}, which share a "
                        "namespace on the board; rename one"
                    )
                homes[node.name] = module


def minify(
    sources: Mapping[str, str],
    constants: Mapping[str, int | bytes],
    keep: frozenset[str] = frozenset(),
    assumed: Mapping[str, int | str | None] | None = None,
    free_names: tuple[Iterable[str], Iterable[str]] = (ascii_lowercase, ascii_uppercase),
    together: bool = False,
    inlined: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return the minified sources by module name.

    `constants` are inlined. Names in `keep` stay as they are. Definitions that are neither used nor kept are
    removed. `assumed` are values of variables and attributes, which are folded in. `free_names` are assigned
    first: to local variables, and to everything else. With `together` all modules run in one namespace, chunk
    by chunk: imports of each other vanish, an empty line ends a chunk, and classes become functions
    (dens/boards/optimiser/flatten_classes.py); then calls of the functions in `inlined` are replaced by their
    bodies.
    """
    trees = {name: ast.parse(source) for name, source in sources.items()}
    for name, tree in trees.items():
        trees[name] = _Strip().visit(tree)
    values = {name: value for name, value in constants.items() if name not in keep}
    values |= {
        name: value for name, value in (assumed or {}).items() if name in constants and isinstance(value, int)
    }
    for name, tree in trees.items():
        trees[name] = InlineConstants(values).visit(tree)
    if assumed is not None:
        special = Specialise(assumed)
        trees = {name: special.visit(tree) for name, tree in trees.items()}
        unfolded = InlineExpressions(single_expressions(trees.values()))
        trees = {name: special.visit(unfolded.visit(tree)) for name, tree in trees.items()}
    if together:
        trees = without_classes(trees, FOREIGN)
        unfolded = InlineExpressions(single_expressions(trees.values()))
        folded = Specialise(assumed or {})
        trees = {name: folded.visit(unfolded.visit(tree)) for name, tree in trees.items()}
    trees = _tree_shake(trees, keep)
    if together:
        _check_meanings(trees)
        moved = MoveBodies(trees.values(), keep)
        trees = _tree_shake({name: moved.visit(tree) for name, tree in trees.items()}, keep)
    if inlined:
        pouring = InlineBodies(trees.values(), inlined)
        trees = _tree_shake({name: pouring.visit(tree) for name, tree in trees.items()}, keep)
    return {
        name: dense_text(ast.fix_missing_locations(tree), frozenset(trees) if together else None)
        for name, tree in renamed(trees, keep, free_names).items()
    }
