"""Says why a person waits: the first use of compiled code takes some seconds."""


def announce_compiling() -> None:
    """Have the preparation of compiled code announced on the terminal; elsewhere nobody is waiting."""
    from dens.cli import console
    from plugins.kernels import compiled

    if console.err().is_terminal:
        compiled.announce = console.say
