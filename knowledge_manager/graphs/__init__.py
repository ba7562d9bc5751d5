"""Graphs of statements: their terms, the files they come from, and what a mission agrees on about them."""
