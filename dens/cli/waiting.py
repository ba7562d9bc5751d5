"""Announces the compilation of kernels, which takes seconds at first use."""


def announce_compiling() -> None:
    """Announce the compilation of kernels on a terminal."""
    from dens.cli import console
    from plugins.kernels import compiled

    if console.err().is_terminal:
        compiled.announce = console.say
