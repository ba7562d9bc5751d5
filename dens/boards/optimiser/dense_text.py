"""Writes a syntax tree as Python with as few lines and characters as there can be."""

import ast
import io
import tokenize
from collections.abc import Iterable

_COMPOUND = (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For, ast.Try, ast.With)


def dense_text(tree: ast.Module, together: frozenset[str] | None) -> str:
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
    """Return whether a character would melt into a word beside it."""
    return character.isalnum() or character in "_\"'"
