"""Documented commands are called as those of the command line are."""

from tests.dens.cli.conftest import dens

__all__ = ["dens"]
