"""Long runs call the command as those of the command line do."""

from tests.dens.cli.conftest import dens

__all__ = ["dens"]
