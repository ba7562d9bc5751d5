"""Starts `dens`. Ctrl-C while the commands are still being loaded ends like any other interruption."""

import sys


def main() -> None:
    """Load the commands and run the one that was asked for."""
    try:
        from dens.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
