"""Processes of nodes are begun by the command line, as people begin them."""

from tests.dens.cli.conftest import dens, dens_process, impatient

__all__ = ["dens", "dens_process", "impatient"]
