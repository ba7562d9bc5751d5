"""`dens doctor`: the parts of DENS on this machine, and what is missing."""

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits


def doctor(as_json: AsJson = False) -> None:
    """Check this machine: parts, versions, Java, board tools, name clashes, disk space."""
    from dataclasses import asdict

    from dens.app.tools.doctor import examine
    from dens.cli import console

    findings = examine()
    failed = any(finding.state == "missing" for finding in findings)
    if as_json:
        console.print_document({"healthy": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        from rich.markup import escape
        from rich.table import Table

        marks = {
            "fine": "[green]fine[/]",
            "missing": "[bold red]missing[/]",
            "optional": "[yellow]optional[/]",
        }
        table = Table(title="dens doctor", title_justify="left")
        for heading in ("", "part", "found", "what to do"):
            table.add_column(heading, overflow="fold")
        for finding in findings:
            table.add_row(marks[finding.state], finding.part, escape(finding.found), escape(finding.advice))
        console.out().print(table)
    raise typer.Exit(exits.FINDING if failed else exits.FINE)
