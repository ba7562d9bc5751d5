"""`dens doctor`: checks this machine."""

import typer

from dens.cli.options import AsJson
from dens.config import exit_codes as exits


def doctor(as_json: AsJson = False) -> None:
    """Check this machine: versions, Java, board tools, disk space."""
    from dataclasses import asdict

    from dens.app.doctor import examine
    from dens.cli import console

    findings = examine()
    failed = any(finding.state == "missing" for finding in findings)
    if as_json:
        console.print_document({"healthy": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
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
            table.add_row(marks[finding.state], finding.part, finding.found, finding.advice)
        console.out().print(table)
    raise typer.Exit(exits.FINDING if failed else exits.FINE)
