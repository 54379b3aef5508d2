"""Years of an ordinary person in an hour: python tests/bench/bench_years.py [--years 5] [--a-day 30] [--home DIR].

Not a test: it prints a table and asserts nothing. A person and three assistants store so many memories a day, one in
five a repetition in the same or other words, one in twenty at odds with what was said before; somebody asks a few
questions a day, pins now and then, and decides ten questions of the desk a week. The clock is set forward by a day, and
all scheduled work that is due runs to its end. Told at the end of each quarter: what stands, what a digest stands for,
what is archived, what is replaced, the size of the vault, and what must never happen (a pinned memory or one in the
person's own word that was archived by a run; two asserted exclusive claims at odds). Then the program is closed and
opened again. With `--home` the vault and the life are kept there after each quarter, and a run that was cut off goes
on from the last one.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers"), str(ROOT / "tests" / "bench")]

from bench_store import facts  # noqa: E402
from engine_rig import HandClock, Rig, WordEmbedder, rig_at  # noqa: E402

from app.bench.machine import describe_machine  # noqa: E402
from core.embed.embedder import Embedder, MiniLmEmbedder  # noqa: E402
from core.engine.conflicts import ReviewChores  # noqa: E402
from core.engine.facade import built_in_readers  # noqa: E402
from core.engine.jobs.scheduler import SchedulerPacing  # noqa: E402
from core.errors import LociError  # noqa: E402
from core.types.reviews import Decision  # noqa: E402
from core.types.values import (  # noqa: E402
    OWNER_ACTOR,
    Action,
    Actor,
    Kind,
)
from core.types.views import Revision  # noqa: E402

DAY_MS = 86_400_000
START_MS = 1_700_000_000_000
QUARTER = 91
_ERASED = "episode,fact,rule,procedure,digest"

_TRAITS = {
    "lives_in": ("I live in {}.", ("Leeds", "Bergen", "Ghent", "Porto", "Turin", "Graz", "Cork", "Lyon")),
    "works_at": ("I work at {}.", ("Harbour Press", "Kestrel Labs", "Nordlys", "the tram works", "Vale & Sons")),
    "dentist": ("My dentist is {}.", ("Dr Aalto", "Dr Brandt", "Dr Casal", "Dr Duarte", "Dr Egede")),
    "phone_model": ("My phone is a {}.", ("Quill 4", "Quill 5", "Lumen 2", "Lumen 3", "Tern X")),
    "car": ("I drive a {}.", ("Volvo", "Skoda", "Renault", "Fiat", "Toyota")),
    "bank": ("My bank is {}.", ("Sparbank", "Old Mill", "Union", "Harbour Savings")),
}
_AGAIN = ("{0}", "{0}", "Note to self: {0}", "As I said before: {0}", "{0} That is how it is.", "Once more: {0}")
_ABOUT = (
    "boat",
    "oven",
    "garden",
    "roof",
    "violin",
    "camera",
    "chess club",
    "loom",
    "kiln",
    "piano",
    "well",
    "dentist",
)


class YearClock(HandClock):
    """The wall moves by hand; pauses and idle times follow it, deadlines the machine."""

    def monotonic(self) -> float:
        """Seconds of both."""
        return time.monotonic() + (self.at_ms - START_MS) / 1000


@dataclass
class Life:
    """What was said so far."""

    dice: random.Random
    known: list[str]
    said: list[str] = field(default_factory=list)
    traits: dict[str, str] = field(default_factory=dict)
    pinned: list[str] = field(default_factory=list)
    explicit: list[str] = field(default_factory=list)
    day: int = 0
    stored: int = 0
    took_s: float = 0.0
    clients: list[Actor] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    root: bytes | None = None

    def learn(self, count: int) -> None:
        """Have so much to say at least: a life that is gone on with may last longer than it was to."""
        if len(self.known) < count:
            old = {*self.said, *self.known}
            fresh = [text for text in facts(count + len(old), 8 + self.day) if text not in old]
            self.known = [*fresh[: count - len(self.known)], *self.known]

    def next(self) -> tuple[str, str, dict[str, Any] | None]:
        """Kind, text and claim of the next memory."""
        roll = self.dice.random()
        if roll < 0.20 and self.said:
            return "fact", self.dice.choice(_AGAIN).format(self.dice.choice(self.said[-4_000:])), None
        if roll < 0.25:
            name = self.dice.choice(sorted(_TRAITS))
            form, values = _TRAITS[name]
            value = self.traits[name] = self.dice.choice(values)
            return "fact", form.format(value), {"subject": "user", "predicate": name, "value": value, "exclusive": True}
        self.said.append(self.known.pop())
        return ("fact" if roll < 0.55 else "episode"), self.said[-1], None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the years."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=float, default=5.0)
    parser.add_argument("--a-day", type=int, default=30)
    parser.add_argument("--words", action="store_true", help="the cheap stand-in for the embedder")
    parser.add_argument("--consolidate-hours", type=int, default=24, help="between two consolidations; 168 is faster")
    parser.add_argument("--erase", action="store_true", help="the owner lets the archive be erased for good")
    parser.add_argument("--svg", type=Path, help="draw the curves")
    parser.add_argument("--json", type=Path, help="keep the figures")
    parser.add_argument("--home", type=Path, help="keep what was lived here, and go on from it")
    chosen = parser.parse_args(arguments)
    embedder: Embedder = WordEmbedder() if chosen.words else MiniLmEmbedder(threads=1)
    print(describe_machine())
    with tempfile.TemporaryDirectory() as made:
        kept = None if chosen.home is None else Kept(chosen.home)
        wanted: dict[str, object] = {"consolidate_hours": chosen.consolidate_hours}
        if chosen.erase:
            wanted["erase_kinds"] = _ERASED
        rows = lived(Path(made), kept, embedder, wanted, int(chosen.years * 365), chosen.a_day)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if chosen.svg is not None:
        chosen.svg.write_text(drawn(rows), encoding="utf-8")


class Kept:
    """A life that can be gone on with: the vault as it was at the end of a quarter, and all that was said by then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, home: Path, life: Life) -> None:
        """Keep both; a run that is cut off in here leaves what was kept before."""
        name = f"day{life.day}"
        shutil.copytree(home, self._folder / name, dirs_exist_ok=True)
        fresh = self._folder / "life.new"
        fresh.write_bytes(pickle.dumps(life))
        fresh.replace(self._folder / "life.pickle")
        for old in self._folder.glob("day*"):
            if old.name != name:
                shutil.rmtree(old)

    def back(self, home: Path) -> Life | None:
        """What was kept, its vault put where the engine opens it; None at the beginning."""
        written = self._folder / "life.pickle"
        if not written.exists():
            return None
        life: Life = pickle.loads(written.read_bytes())  # noqa: S301 - this script wrote it
        shutil.copytree(self._folder / f"day{life.day}", home)
        return life


def lived(
    folder: Path, kept: Kept | None, embedder: Embedder, options: Mapping[str, object], days: int, a_day: int
) -> list[dict[str, Any]]:
    """So many days, the program closed and opened again after each quarter; a row of figures for each."""
    life = (kept and kept.back(folder / "home")) or Life(random.Random(7), facts(days * a_day, 7))
    life.learn((days - life.day) * a_day)
    while life.day < days:
        clock, begun = YearClock(START_MS), time.monotonic()
        clock.advance(life.day * DAY_MS)
        with rig_at(folder, clock=clock, embedder=embedder, readers=built_in_readers(), root=life.root) as rig:
            if life.root is None:
                life.root = rig.root
                for name, value in options.items():
                    rig.engine.settings.set_option(name, value=value).result(60)
                life.clients = [rig.client(name, "read", "write", "space:home") for name in ("Wren", "Rook", "Teal")]
            rig.engine.scheduler.beats = SchedulerPacing(every_s=0.0, quiet_s=0.0)
            live(rig, life, clock, min(days, (life.day // QUARTER + 1) * QUARTER), a_day)
            life.took_s += time.monotonic() - begun
            life.rows.append(figures(rig, life))
        if kept is not None:
            kept.keep(folder / "home", life)
        print("  ".join(f"{name} {value}" for name, value in life.rows[-1].items()), flush=True)
    return life.rows


def live(rig: Rig, life: Life, clock: YearClock, until: int, a_day: int) -> None:
    """The days of a quarter."""
    while life.day < until:
        for _ in range(a_day):
            life.stored += _say(rig, life)
        for _ in range(3):
            rig.recall(f"what about the {life.dice.choice(_ABOUT)}")
        life.day += 1
        if life.day % 7 == 0:
            _decide(rig)
        clock.advance(DAY_MS)
        rig.engine.flush_journal()
        keep_house(rig)


def _say(rig: Rig, life: Life) -> int:
    kind, text, claim = life.next()
    own = life.dice.random() < 0.1
    actor = OWNER_ACTOR if own else life.dice.choice(life.clients)
    more: dict[str, Any] = {"kind": Kind(kind), "importance": round(life.dice.uniform(0.1, 0.6), 2)}
    if not own:
        more["space"] = "home"
    if claim is not None:
        more["claim"] = claim
    try:
        reply = rig.store(text, actor, **more)
    except LociError as error:
        print("refused:", error.code.value)
        return 0
    if own and kind == "fact" and reply.operation == "ADD":
        life.explicit.append(reply.memory_id)
        if life.dice.random() < 0.05:
            rig.engine.library.revise_memories([reply.memory_id], Revision(pinned=True)).result(60)
            life.pinned.append(reply.memory_id)
    return 1


def _decide(rig: Rig) -> None:
    """Ten questions a week, as the desk suggests them."""
    conflicts = rig.engine.conflicts
    for item in conflicts.list_items(OWNER_ACTOR).result(60)[:10]:
        if rig.value("SELECT state FROM conflicts WHERE id = ?", item.id) != "open":
            continue  # an answer before settled it too
        action = item.suggestion.action if item.suggestion is not None else Action.SKIP
        try:
            conflicts.resolve(item.id, Decision(action), OWNER_ACTOR).result(60)
        except LociError:
            conflicts.resolve(item.id, Decision(Action.SKIP), OWNER_ACTOR).result(60)


def keep_house(rig: Rig) -> None:
    """Let all work that is due run to its end, and the desk close what nobody needs to decide any more."""
    scheduler, opened = rig.engine.scheduler, rig.opened
    ReviewChores().run(opened.storage, opened.search)
    for _ in range(40):
        scheduler.queue_due(opened, force=True)
        rig.wait_for_jobs()
        if not scheduler.agenda.list_due_jobs(opened, scheduler.make_context(opened)):
            return
    raise AssertionError("the work never ends")


def figures(rig: Rig, life: Life) -> dict[str, Any]:
    """What stands at the end of a day."""
    by_status: dict[str, int] = dict(rig.rows("SELECT status, count(*) FROM memories GROUP BY status"))
    lost = rig.value(
        "SELECT count(*) FROM memories WHERE id IN (SELECT value FROM json_each(?)) "
        "AND status IN ('archived', 'deleted') AND status_reason IN ('faded', 'expired', 'doubted')",
        json.dumps(life.pinned + life.explicit),
    )
    odds = rig.value(
        "SELECT count(*) FROM (SELECT 1 FROM claims WHERE state = 'asserted' AND exclusive = 1 AND valid_to IS NULL "
        "GROUP BY space_id, subject_key, predicate, scope_session, polarity HAVING count(DISTINCT value_key) > 1)"
    )
    size = sum(path.stat().st_size for path in rig.home.path.glob("vault.db*"))
    active = int(by_status.get("active", 0))
    return {
        "day": life.day, "stored": life.stored, "active": active, "own": int(rig.value(
            "SELECT count(*) FROM memories WHERE status = 'active' AND client_id IS NULL AND import_id IS NULL "
            "AND source = 'user_explicit'")), "digests": int(rig.value(
            "SELECT count(*) FROM memories WHERE kind = 'digest' AND status = 'active'")),
        "consolidated": int(by_status.get("consolidated", 0)), "superseded": int(by_status.get("superseded", 0)),
        "archived": int(by_status.get("archived", 0)), "held": int(by_status.get("quarantined", 0)),
        "disputed": int(by_status.get("disputed", 0)),
        "fading": int(rig.value("SELECT count(*) FROM fading")),
        "questions": int(rig.value("SELECT count(*) FROM conflicts WHERE state = 'open'")),
        "mb": round(size / 1e6, 1), "kb_each": round(size / 1e3 / max(1, active), 2), "lost": int(lost),
        "at_odds": int(odds), "s": round(life.took_s),
    }  # fmt: skip


def drawn(rows: Sequence[dict[str, Any]]) -> str:
    """The curves as a picture: what was stored, what stands, what is archived."""
    wide, high, left, low = 720, 320, 60, 280
    most = max(row["stored"] for row in rows)
    last = rows[-1]["day"]

    def line(name: str) -> str:
        points = [(0, 0), *((row["day"], row[name]) for row in rows)]
        return " ".join(f"{left + x / last * (wide - left - 20):.1f},{low - y / most * 250:.1f}" for x, y in points)

    curves = (("stored", "#8a94a6"), ("archived", "#d0a44c"), ("active", "#3aa99f"))
    told = f"Stored {rows[-1]['stored']}, active {rows[-1]['active']}, archived {rows[-1]['archived']}"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" aria-label="{told}">']
    for at, (name, colour) in enumerate(curves):
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{line(name)}"/>')
        parts.append(
            f'<text x="{left + 10 + at * 120}" y="20" fill="{colour}" font-size="14">{name} {rows[-1][name]:,}</text>'
        )
    for year in range(1, last // 365 + 1):
        x = left + year * 365 / last * (wide - left - 20)
        parts.append(
            f'<text x="{x:.0f}" y="{low + 20}" font-size="12" fill="#8a94a6" text-anchor="middle">{year} y</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
