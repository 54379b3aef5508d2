"""The sample palace: a diary of an invented person, brought in by the real importers, month after month.

Its clock is set to the day of each import, so that what Loci believed on a date can be looked at, and stands on one
fixed morning at the end, so that pictures can be made again.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from app.sample.deeds import Deeds
from core.engine.facade import Engine, Home, HomeKeys, Setup, built_in_embedder, create_vault
from core.types.values import OWNER_ACTOR

NOON = 12
_PAUSE = timedelta(minutes=7)
"""Between two deeds of one day."""
_UNDO_DAYS = 3650
BEGIN = datetime(2025, 6, 1, 9, 0, tzinfo=UTC)
"""The vault is made on this day: its time never runs backwards."""
END = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

_SEED = 7
"""Of what is random in the ids: they stand in contexts and break ties, so with others it would be another sample."""

Told = Callable[[int, int], None]


class SampleClock:
    """Stands where it is put; deadlines run on the machine's time."""

    def __init__(self, at: datetime) -> None:
        self._at_ms = _ms(at)

    def put(self, at: datetime) -> None:
        """Move the present."""
        self._at_ms = _ms(at)

    def now_ms(self) -> int:
        """The present, epoch ms UTC."""
        return self._at_ms

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class SamplePart:
    """One import of the diary.

    Attributes:
        path: file or folder.
        space: where it goes.
        on: when it is brought in.
    """

    path: Path
    space: str
    on: datetime


def parts_in(folder: Path) -> list[SamplePart]:
    """The imports of the diary, in the order in which they happened.

    Args:
        folder: `resources/demo`.
    """
    listed = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    return [SamplePart(folder / part["path"], part["space"], _noon(part["on"])) for part in listed]


@contextmanager
def sample_engine() -> Iterator[tuple[Engine, SampleClock, str]]:
    """An engine with an empty, open sample vault in a temporary home; all of it is gone at the end.

    Yields:
        The engine, its clock, and the passphrase nobody else knows.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="loci-sample-")))
        clock = SampleClock(BEGIN)
        home = Home(folder / "home")
        keys = HomeKeys(home)
        passphrase = secrets.token_urlsafe(16)
        create_vault(keys, passphrase, clock)
        chance = random.Random(_SEED).randbytes  # noqa: S311 - ids of a sample, which guard nothing
        engine = Engine(Setup(home, clock, built_in_embedder(), background=False, chance=chance))
        stack.callback(engine.close)
        engine.unlock(keys.open(passphrase))
        yield engine, clock, passphrase


def fill(engine: Engine, clock: SampleClock, told: Told | None = None) -> None:
    """Bring the whole diary in, and do what its owner and her assistants did since; the caller's thread waits.

    Args:
        engine: open, its vault empty.
        clock: the engine's.
        told: hears how many parts are in, and of how many.
    """
    with as_file(files("resources") / "demo") as folder:
        parts = parts_in(folder)
        # Eighteen months pass here within seconds: what can be undone shall not depend on when somebody looked.
        engine.settings.set("undo_days", _UNDO_DAYS).result()
        for number, part in enumerate(parts):
            if told is not None:
                told(number, len(parts))
            clock.put(part.on)
            engine.imports.run(part.path, None, part.space, OWNER_ACTOR).result()
        deeds = Deeds(engine)
        done: Counter[str] = Counter()
        for deed in json.loads((folder / "deeds.json").read_text(encoding="utf-8")):
            clock.put(_noon(deed["on"]) + _PAUSE * done[deed["on"]])
            done[deed["on"]] += 1
            deeds.do(deed)
        engine.flush()
        clock.put(END)


def _noon(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=NOON, tzinfo=UTC)


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
