"""Gives the names that a program defines short replacements."""

import ast
import builtins
import io
from array import array
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase, ascii_uppercase

FOREIGN = frozenset(
    name
    for kind in (
        str,
        bytes,
        bytearray,
        list,
        dict,
        int,
        set,
        tuple,
        array,
        io.BytesIO,
        io.StringIO,
        Exception,
    )
    for name in dir(kind)
)
"""Attributes of the runtime, which are not renamed; a board has them in its ROM."""


def _short(first: Iterable[str], alphabet: str, taken: frozenset[str]) -> Iterator[str]:
    """Yield the names of `first`, then two-letter ones, none of them a keyword or taken."""
    for name in first:
        if name not in taken:
            yield name
    for one in alphabet:
        for two in ascii_lowercase:
            if one + two not in ("as", "if", "in", "is", "or") and one + two not in taken:
                yield one + two


def used_names(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return every name and attribute that occurs anywhere, except in definitions and in imports without an
    alias.
    """
    found = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                found.update(alias.name for alias in node.names if alias.asname)
    return frozenset(found)


def _imported(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return every name that an import brings in."""
    return frozenset(
        alias.asname or alias.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


def _local_names(tree: ast.Module) -> frozenset[str]:
    """Return the names of arguments and local variables, which get new ones."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found.update(argument.arg for argument in node.args.args)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
                    found.add(inner.id)
                elif isinstance(inner, ast.ExceptHandler) and inner.name:
                    found.add(inner.name)
    return frozenset(found)


class _Rename(ast.NodeTransformer):
    """Gives globals, attributes, arguments and local variables their short names."""

    def __init__(
        self,
        globals_: Mapping[str, str],
        attributes: Mapping[str, str],
        fixed: frozenset[str],
        taken: frozenset[str],
        firsts: Iterable[str],
    ) -> None:
        self.globals = globals_
        self.attributes = attributes
        self.fixed = fixed
        self.taken = taken
        self.firsts = firsts
        self.locals: dict[str, str] = {}
        self.in_class = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self.attributes.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.locals.get(node.id) or self.globals.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.locals.get(node.arg, node.arg)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        for alias in node.names:
            given = alias.asname or alias.name
            alias.name = self.globals.get(alias.name, alias.name)
            short = self.globals.get(given, given)
            alias.asname = None if short == alias.name else short
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.globals.get(node.name, node.name)
        self.in_class = True
        self.generic_visit(node)
        self.in_class = False
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        known = self.attributes if self.in_class else self.globals
        node.name = known.get(node.name, node.name)
        outer, self.in_class = self.in_class, False
        names = [a.arg for a in node.args.args]
        names += [
            n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
        ]
        names += [n.name for n in ast.walk(node) if isinstance(n, ast.ExceptHandler) and n.name]
        fresh = _short(self.firsts, ascii_lowercase, self.fixed | self.taken)
        self.locals = {name: name if name in self.fixed else next(fresh) for name in dict.fromkeys(names)}
        self.generic_visit(node)
        self.locals = {}
        self.in_class = outer
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name:
            node.name = self.locals.get(node.name, node.name)
        return self.generic_visit(node)


def quoted_words(trees: Iterable[ast.Module]) -> set[str]:
    """Return every word that occurs as a string, because it may be used to look up a name."""
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def renamed(
    trees: Mapping[str, ast.Module],
    keep: frozenset[str],
    free_names: tuple[Iterable[str], Iterable[str]],
) -> dict[str, ast.Module]:
    """Return the trees with short names, the same in all of them. Names in `keep` stay, and so do those that
    occur as strings; `free_names` are given first: to local variables, and to everything else.
    """
    words = quoted_words(trees.values()) | keep
    keywords = frozenset(
        node.arg
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg is not None
    )
    globals_: dict[str, str] = {}
    attributes: dict[str, str] = {}
    taken = used_names(trees.values()) | _imported(trees.values()) | words | keywords
    global_names = _short(free_names[1], ascii_uppercase, taken)
    attribute_names = _short(free_names[1], ascii_uppercase, frozenset())
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                members = [n.name for n in node.body if isinstance(n, ast.FunctionDef)]
                members += [
                    n.attr
                    for n in ast.walk(node)
                    if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
                ]
                for member in members:
                    if member not in attributes and member not in FOREIGN | words and member[:2] != "__":
                        attributes[member] = next(attribute_names)
        for node in tree.body:
            defined: list[str] = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined = [node.name]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                defined = [node.targets[0].id]
            elif isinstance(node, ast.ImportFrom):
                defined = [alias.asname for alias in node.names if alias.asname]
            for name in defined:
                if name not in globals_ and name not in words and not hasattr(builtins, name):
                    globals_[name] = next(global_names)
    renamed_locals = frozenset().union(*map(_local_names, trees.values()))
    known = frozenset(dir(builtins)) | _imported(trees.values()) | words | keywords
    left_alone = frozenset(name for name in taken if name in known or name not in renamed_locals)
    shadowed = left_alone - frozenset(globals_) | frozenset(globals_.values())
    return {
        name: _Rename(globals_, attributes, keywords, shadowed, free_names[0]).visit(tree)
        for name, tree in trees.items()
    }
