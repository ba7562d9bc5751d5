"""Runs the code of a scenario's processes.

A scenario file is data otherwise, so its code runs only if the caller allows it (`--allow-code`).
"""

import sys
from collections.abc import Generator, Sequence
from hashlib import sha256
from types import ModuleType
from typing import Any

from dens.config.problems import DocumentError, listed
from dens.config.refusal import Refusal
from emulation.running_world import RunningWorld
from emulation.scenario.processes import PlannedProcess


def check_allowed(processes: Sequence[PlannedProcess], scenario: str, *, allow_code: bool) -> None:
    """Refuse a scenario with processes unless its code may run."""
    if processes and not allow_code:
        files = listed(sorted({process.file for process in processes}))
        message = f"this scenario runs Python code ({files}); read it, then allow it with --allow-code"
        raise DocumentError.of_file(scenario, "D335", message)


def import_processes(processes: Sequence[PlannedProcess]) -> list[ModuleType]:
    """Run the top level of the files of these processes; return the module of each."""
    modules: dict[str, ModuleType] = {}
    for process in processes:
        if process.file not in modules:
            modules[process.file] = _import_text(process)
    return [modules[process.file] for process in processes]


def start_processes(
    run: RunningWorld, processes: Sequence[PlannedProcess], modules: Sequence[ModuleType]
) -> None:
    """Start the processes of a scenario in the environment of its run."""
    for process, module in zip(processes, modules, strict=True):
        run.environment.process(_guarded(run, process, getattr(module, process.function, None)))


def _import_text(process: PlannedProcess) -> ModuleType:
    """Run a file from its text, so that no bytecode is written beside it. The module is in `sys.modules`, as
    dataclasses require, under a name derived from the text."""
    name = f"dens_process_{sha256(process.text.encode()).hexdigest()[:16]}"
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(process.text, process.file, "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        message = f"cannot import this file: {type(error).__name__}: {error}"
        raise DocumentError.of_file(process.file, "D334", message) from error
    return module


def _guarded(run: RunningWorld, process: PlannedProcess, function: Any) -> Generator[Any, Any, None]:
    """Run a process, and name it in its exceptions. SimPy raises a copy, made from the arguments."""
    try:
        yield from function(run, **process.parameters)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise Refusal(f'process "{process.function}" of {process.file} failed: {reason}') from error
