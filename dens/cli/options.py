"""Options that several commands share, so that they read and behave alike."""

from pathlib import Path
from typing import Annotated

import typer


def _vocabularies(incomplete: str) -> list[str]:
    from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies

    return [name for name in shipped_vocabularies() if name.startswith(incomplete)]


AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON document on stdout.")]

AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", metavar="", help="Run the Python processes that the scenario names."),
]

Language = Annotated[
    str | None,
    typer.Option(metavar="TAG", help="Language of words: en, no, bg; all by default.", show_default=False),
]


def _subscription_languages(incomplete: str) -> list[str]:
    from plugins.registry import languages

    return [known.name for known in languages().values() if known.name.startswith(incomplete)]


OfBytes = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="Subscription language of vectors; documents name their own.",
        show_default=False,
        autocompletion=_subscription_languages,
    ),
]

NodeFile = Annotated[Path, typer.Argument(metavar="NODE.toml", help="Configuration of the DENS node.")]

NodeAt = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the DENS node; taken from NODE.toml by default.",
        show_default=False,
    ),
]

SparkMaster = Annotated[
    str | None,
    typer.Option(
        "--master",
        "--remote",
        metavar="URL",
        help="Spark master (local[2], spark://host:7077) or Spark Connect (sc://host:15002); "
        "all cores of this machine by default.",
        envvar="DENS_SPARK_MASTER",
        show_default=False,
    ),
]

OtherThesaurus = Annotated[
    list[str] | None,
    typer.Option(
        "--thesaurus",
        metavar="NAME|FILE",
        help="Thesaurus to use on top of the shipped one (rescue); repeatable.",
        show_default=False,
    ),
]

Vocabularies = Annotated[
    list[str] | None,
    typer.Option(
        "--vocabulary",
        help="Shipped vocabulary (medical, weather, fire, housing, reports) or file; repeatable. "
        "Default: all shipped.",
        metavar="NAME|FILE",
        show_default=False,
        autocompletion=_vocabularies,
    ),
]
