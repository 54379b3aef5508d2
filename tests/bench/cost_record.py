"""Writes down what each test costs the processor: one JSON line a test, the figures on which the suite is made cheaper.

    PYTHONPATH=tests/bench:tests/helpers .venv/bin/python -m pytest -p cost_record --costs costs.jsonl tests/unit

Processor time says the same on a crowded machine as on a quiet one, nearly. Counted are this process with all its
threads, children that have ended, and commands that were forked (`warm_start`). A fixture of wider scope is a cost of
the first test that asks for it. Must not do: judge a figure.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from warm_start import Forked


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--costs`."""
    parser.addoption("--costs", type=Path, help="write what each test costs to this file, one JSON line a test")


def pytest_configure(config: pytest.Config) -> None:
    """Record where a file was named."""
    if config.getoption("costs") is not None:
        config.pluginmanager.register(CostRecord(config.getoption("costs").absolute()))


class CostRecord:
    """Appends to a file, so that several workers may share it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._phases: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """One test from beginning to end: its name, then seconds."""
        self._phases = {}
        begun, busy = time.monotonic(), processor_s()
        found = yield
        figures = {"cost": processor_s() - busy, **self._phases, "elapsed": time.monotonic() - begun}
        row = {"test": item.nodeid, **{name: round(seconds, 4) for name, seconds in figures.items()}}
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """The part of the fixtures."""
        busy = processor_s()
        try:
            return (yield)
        finally:
            self._phases["setup"] = processor_s() - busy

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        """The part of clearing away."""
        busy = processor_s()
        try:
            return (yield)
        finally:
            self._phases["teardown"] = processor_s() - busy


def processor_s() -> float:
    """Seconds of processor time of this process and what it started, so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) + Forked.spent_s
