"""Starts `dens`. Ctrl-C while the commands are loaded exits with 130, as later."""

import sys


def main() -> None:
    """Load the commands and run the requested one."""
    try:
        from dens.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
