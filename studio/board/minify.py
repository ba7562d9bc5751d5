"""Makes Python sources small for a board whose heap holds every name and every docstring of what it imports.

All sources are treated together, as one closed world: what they define is renamed in all of them alike. What
a board's own modules define (`append`, `read` …) keeps its name. Afterwards the sources do the same as
before, as long as nobody looks up a renamed thing by its string; names that occur as strings are therefore
left alone.
"""

import ast
import builtins
import copy
import io
import operator
import tokenize
from array import array
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from studio.board.declass import without_classes

_FOREIGN = frozenset(
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
"""Attributes that belong to the runtime: they are not ours to rename, and a board knows them anyhow."""


def _short(first: Iterable[str], alphabet: str, taken: frozenset[str]) -> Iterator[str]:
    """Yield the names of `first`, then two-letter ones, none of them a keyword or taken."""
    for name in first:
        if name not in taken:
            yield name
    for one in alphabet:
        for two in ascii_lowercase:
            if one + two not in ("as", "if", "in", "is", "or") and one + two not in taken:
                yield one + two


class _Stripped(ast.NodeTransformer):
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


_SHORT_BYTES = 16


def plain_constants(tree: ast.Module) -> dict[str, int | bytes]:
    """Return the module's constants: upper-case names that are assigned a plain integer or a few bytes."""
    found: dict[str, int | bytes] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            value: Any = node.value.value if isinstance(node.value, ast.Constant) else None
            is_short = isinstance(value, bytes) and len(value) <= _SHORT_BYTES
            if name.isupper() and (type(value) is int or is_short):
                found[name] = value
    return found


class _Inlined(ast.NodeTransformer):
    """Puts constants where their names are used, and drops the names."""

    def __init__(self, constants: Mapping[str, int | bytes]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.constants and isinstance(node.ctx, ast.Load):
            return ast.Constant(self.constants[node.id])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.constants:
            return None
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        node.names = [alias for alias in node.names if alias.name not in self.constants]
        return node if node.names else None


_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


class Specialised(ast.NodeTransformer):
    """Puts a value where a parameter of the whole package is read, and works out what follows from it.

    A parameter is a local variable or an attribute of the given name. Its assignments vanish, sums of numbers
    are added up, a loop over `range(1)` becomes its body, and of a decision that is made only what was
    decided for stays.
    """

    def __init__(self, values: Mapping[str, int | None]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(self.values[node.id]) if node.id in self.values else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in self.values and isinstance(node.ctx, ast.Load):
            return ast.Constant(self.values[node.attr])
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        node.targets = [
            target
            for target in node.targets
            if (target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")) not in self.values
        ]
        return self.generic_visit(node) if node.targets else None

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | None:
        self.generic_visit(node)
        target = node.target
        name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
        if name in self.values or (_number(node.value) == 0 and isinstance(node.op, ast.Add | ast.Sub)):
            return None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A local variable that is given one number, once, is that number."""
        self.generic_visit(node)
        stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        fixed = {
            n.targets[0].id: number
            for n in ast.walk(node)
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)
            if stored.count(n.targets[0].id) == 1 and (number := _number(n.value)) is not None
        }
        fixed = {name: value for name, value in fixed.items() if name not in self.values}
        return Specialised(fixed).visit(node) if fixed else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decisive = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for position, value in enumerate(node.values):
            is_constant = isinstance(value, ast.Constant)
            if not is_constant or position == len(node.values) - 1:
                values.append(value)
            elif bool(value.value) is decisive:  # type: ignore[attr-defined]
                values.append(value)
                break
        node.values = values
        return values[0] if len(values) == 1 else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            return inner.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Constant):
            return ast.Constant(not inner.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number(node.left), _number(node.right)
        work = _ARITHMETIC.get(type(node.op))
        if work and left is not None and right is not None:
            return ast.Constant(work(left, right))
        if right == 0 and isinstance(node.op, ast.Add | ast.Sub):
            return node.left
        if right == 0 and isinstance(node.op, ast.Mult):
            return node.right
        if right == 1 and isinstance(node.op, ast.Mult):
            return node.left
        if left == 0 and isinstance(node.op, ast.Add):
            return node.right
        inner = node.left
        if right is not None and isinstance(node.op, ast.Add | ast.Sub) and isinstance(inner, ast.BinOp):
            middle = _number(inner.right)
            if middle is not None and isinstance(inner.op, ast.Add | ast.Sub):
                both = (middle if isinstance(inner.op, ast.Add) else -middle) + (
                    right if isinstance(node.op, ast.Add) else -right
                )
                if both == 0:
                    return inner.left
                return ast.BinOp(inner.left, ast.Add() if both > 0 else ast.Sub(), ast.Constant(abs(both)))
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = node.iter
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id == "range"
            and len(call.args) == 1
            and _number(call.args[0]) == 1
            and isinstance(node.target, ast.Name)
        ):
            zero = Specialised({node.target.id: 0})
            body: list[ast.stmt] = []
            for statement in node.body:
                changed = zero.visit(statement)
                body += changed if isinstance(changed, list) else [changed] if changed else []
            return body
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.Constant):
            return node.body if test.value else node.orelse
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            left, right = _number(test.left), _number(test.comparators[0])
            if left is not None and right is not None:
                return node.body if left == right else node.orelse
        return node


class _Unfolded(ast.NodeTransformer):
    """Puts the body of a function that is one expression, or one decision, where it is called."""

    def __init__(self, functions: Mapping[str, tuple[list[str], ast.expr]]) -> None:
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in self.functions or node.keywords or not all(map(_is_plain, node.args)):
            return node
        arguments, body = self.functions[name]
        replaced: ast.AST = _Replaced(dict(zip(arguments, node.args, strict=True))).visit(copy.deepcopy(body))
        return replaced


class _Replaced(ast.NodeTransformer):
    """Puts expressions where names stand."""

    def __init__(self, expressions: Mapping[str, ast.expr]) -> None:
        self.expressions = expressions

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.expressions[node.id]) if node.id in self.expressions else node


def _is_plain(node: ast.expr) -> bool:
    """Tell whether an expression may stand twice: it does nothing, and costs little."""
    if isinstance(node, ast.Attribute):
        return _is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return _is_plain(node.value) and _is_plain(node.slice)
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and isinstance(node.right, ast.Constant)
    return isinstance(node, ast.Name | ast.Constant)


def _expressions(trees: Iterable[ast.Module]) -> dict[str, tuple[list[str], ast.expr]]:
    """Return the functions that are nothing but an expression: their arguments, and what they return."""
    found: dict[str, tuple[list[str], ast.expr]] = {}
    for tree in trees:
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.args.defaults or node.args.vararg:
                continue
            arguments = [argument.arg for argument in node.args.args]
            only = node.body[0]
            if len(node.body) == 1 and isinstance(only, ast.Return) and isinstance(only.value, ast.Constant):
                found[node.name] = arguments, only.value
            if len(node.body) != 2 or not isinstance(node.body[0], ast.If):
                continue
            decision, last = node.body
            if not isinstance(decision, ast.If) or decision.orelse or len(decision.body) != 1:
                continue
            if _returned(decision.body[0]) is False and _returned(last) is True:
                found[node.name] = arguments, ast.UnaryOp(ast.Not(), decision.test)
    return found


def _returned(node: ast.stmt) -> object:
    """Return the constant that a statement returns, or None."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
        return node.value.value
    return None


def _number(node: ast.expr) -> int | None:
    """Return the integer that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


class _Shaken(ast.NodeTransformer):
    """Leaves out functions, classes and methods that nobody names."""

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


def _used(trees: Iterable[ast.Module]) -> frozenset[str]:
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


class _Renamed(ast.NodeTransformer):
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


def _strings(trees: list[ast.Module]) -> set[str]:
    """Return every word that occurs as a string: somebody may look it up."""
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def minify(
    sources: Mapping[str, str],
    constants: Mapping[str, int | bytes],
    keep: frozenset[str] = frozenset(),
    assumed: Mapping[str, int | None] | None = None,
    free_names: tuple[Iterable[str], Iterable[str]] = (ascii_lowercase, ascii_uppercase),
    together: bool = False,
) -> dict[str, str]:
    """Return the sources, by module name, as small as a board likes them.

    `constants` are put where their names stand. Names in `keep` stay as they are. What no source uses, and
    is not kept, is left out. What is `assumed` of variables and attributes everywhere is worked in.
    `free_names` are given first: to local variables, and to everything else. With `together` all of it will
    run in one namespace, piece by piece: imports of each other vanish, an empty line ends a piece, and
    classes become functions (studio/board/declass.py).
    """
    trees = {name: ast.parse(source) for name, source in sources.items()}
    for name, tree in trees.items():
        trees[name] = _Stripped().visit(tree)
    values = {name: value for name, value in constants.items() if name not in keep}
    values |= {
        name: value for name, value in (assumed or {}).items() if name in constants and value is not None
    }
    for name, tree in trees.items():
        trees[name] = _Inlined(values).visit(tree)
    if assumed is not None:
        special = Specialised(assumed)
        trees = {name: special.visit(tree) for name, tree in trees.items()}
        unfolded = _Unfolded(_expressions(trees.values()))
        trees = {name: special.visit(unfolded.visit(tree)) for name, tree in trees.items()}
    if together:
        trees = without_classes(trees, _FOREIGN)
        unfolded = _Unfolded(_expressions(trees.values()))
        trees = {name: unfolded.visit(tree) for name, tree in trees.items()}
    while True:
        before = sum(1 for tree in trees.values() for _ in ast.walk(tree))
        used = _used(trees.values()) | keep | _strings(list(trees.values()))
        trees = {name: _Shaken(used).visit(tree) for name, tree in trees.items()}
        if before == sum(1 for tree in trees.values() for _ in ast.walk(tree)):
            break
    words = _strings(list(trees.values())) | keep
    keywords = frozenset(
        node.arg
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg is not None
    )
    globals_: dict[str, str] = {}
    attributes: dict[str, str] = {}
    taken = _used(trees.values()) | _imported(trees.values()) | words | keywords
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
                    if member not in attributes and member not in _FOREIGN | words and member[:2] != "__":
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
    small = {}
    renamed_locals = frozenset().union(*map(_local_names, trees.values()))
    known = frozenset(dir(builtins)) | _imported(trees.values()) | words | keywords
    left_alone = frozenset(name for name in taken if name in known or name not in renamed_locals)
    shadowed = left_alone - frozenset(globals_) | frozenset(globals_.values())
    for name, tree in trees.items():
        renamed = _Renamed(globals_, attributes, keywords, shadowed, free_names[0]).visit(tree)
        small[name] = _text(ast.fix_missing_locations(renamed), frozenset(trees) if together else None)
    return small


_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.Try, ast.With)


def _text(tree: ast.Module, together: frozenset[str] | None) -> str:
    """Return the source of a tree with as few lines and characters as there can be: a board remembers where
    every line of a function begins. The modules in `together` share a namespace.
    """
    if together is None:
        return "\n".join(_lines(tree.body)) + "\n"
    pieces: list[list[ast.stmt]] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in together:
            continue
        if isinstance(node, ast.FunctionDef) or not pieces or isinstance(pieces[-1][0], ast.FunctionDef):
            pieces.append([])
        pieces[-1].append(node)
    return "\n\n".join("\n".join(_lines(piece)) for piece in pieces) + "\n"


def _lines(body: Iterable[ast.stmt]) -> list[str]:
    """Return a block's lines, indented by single spaces, simple statements that follow each other joined."""
    lines: list[str] = []
    simple: list[str] = []
    for node in body:
        if not isinstance(node, _COMPOUND):
            simple.append(_tight(ast.unparse(node)))
            continue
        if simple:
            lines.append(";".join(simple))
            simple = []
        lines += _compound(node)
    if simple:
        lines.append(";".join(simple))
    return lines


def _compound(node: ast.stmt) -> list[str]:
    """Return the lines of a compound statement: its heads, each with its block on the same line if that can
    be.
    """
    heads: list[tuple[str, list[ast.stmt]]] = []
    parts = {name: list(getattr(node, name, [])) for name in ("body", "orelse", "finalbody", "handlers")}
    if isinstance(node, ast.Try):
        heads.append(("try:", parts["body"]))
        for handler in parts["handlers"]:
            bare = ast.ExceptHandler(handler.type, handler.name, [ast.Pass()])
            text = ast.unparse(ast.Try([ast.Pass()], [bare], [], []))
            heads.append((text.split("\n")[2], handler.body))
    else:
        for name in ("body", "orelse"):
            if parts[name]:
                setattr(node, name, [ast.Pass()] if name == "body" else [])
        heads.append((ast.unparse(node).rsplit("\n", 1)[0].strip(), parts["body"]))
    rest = parts["orelse"]
    if isinstance(node, ast.If) and len(rest) == 1 and isinstance(rest[0], ast.If):
        tail = _compound(rest[0])
        tail[0] = "el" + tail[0]
        rest = []
    else:
        tail = []
    if rest:
        heads.append(("else:", rest))
    if parts["finalbody"]:
        heads.append(("finally:", parts["finalbody"]))
    lines: list[str] = []
    for head, body in heads:
        inner = _lines(body)
        if len(inner) == 1 and not isinstance(body[0], _COMPOUND):
            lines.append(_tight(head) + inner[0])
        else:
            lines.append(_tight(head))
            lines += [" " + line for line in inner]
    return lines + tail


def _tight(text: str) -> str:
    """Return one line of source without the spaces that separate nothing."""
    out: list[str] = []
    previous = tokenize.TokenInfo(tokenize.NL, "", (1, 0), (1, 0), "")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if token.start > previous.end and out and _sticks(out[-1][-1]) and _sticks(token.string[0]):
            out.append(" ")
        out.append(token.string)
        previous = token
    return "".join(out)


def _sticks(character: str) -> bool:
    """Tell whether a character would melt into a word beside it."""
    return character.isalnum() or character in "_\"'"
