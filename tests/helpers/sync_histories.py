"""Random histories of several devices, whose files arrive late, twice, in any order, and with kills in between."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from sync_rig import Device, bundles_opened_by, new_group_of

from core.errors import Code, EnvironmentFaultError
from core.intake.sync.device import use_folder

VALUES = ("Lisbon", "Porto", "Faro", "Braga")
SUBJECTS = ("Ada", "Grace")
RELATIONS = ("caused_by", "instance_of", "supports", "related_to")
DEEDS = (
    "say", "say", "claim", "claim", "hear", "replace", "replace", "split", "label", "pin", "relate", "relate", "judge",
    "decide", "forget", "erase", "undo", "undo",
)  # fmt: skip
WORDS = ("Bees need water", "The pump hums", "Tea at four", "Rain on Sunday")


class KilledError(Exception):
    """Stands for a kill: nothing that runs catches it."""


@dataclass
class History:
    """Some devices, each with a folder of its own; files pass between them as chance has it."""

    devices: list[Device]
    chance: random.Random
    erased: set[str] = field(default_factory=set)
    folders: list[Path] = field(default_factory=list)
    removed: list[Device] = field(default_factory=list)

    @classmethod
    def begin(cls, folder: Path, seed: int) -> History:
        """Devices that know one another."""
        chance = random.Random(seed)
        devices, shared = new_group_of(folder, chance.choice((2, 2, 3, 3, 4, 5)))
        made = cls(devices, chance)
        for device in devices:
            own = folder / f"folder-{device.name}"
            shutil.copytree(shared, own)
            device.write(lambda tx, own=own: use_folder(tx, str(own)))  # type: ignore[misc]  # mypy infers no lambda with defaults
            made.folders.append(own)
        return made

    def run(self, steps: int) -> None:
        """Do things at random."""
        for _ in range(steps):
            at = self.chance.randrange(len(self.devices))
            device = self.devices[at]
            device.clock.advance(self.chance.choice((0, 1, 40, 5_000)))
            turn = self.chance.random()
            if turn < 0.6:
                self._act(device)
            elif turn < 0.8:
                self.exchange(device)
            elif turn < 0.95:
                self.deliver(self.chance.random() < 0.3)
            else:
                device.close()
                device.open()

    def _act(self, device: Device) -> None:
        chance = self.chance
        standing, everything = device.ids("active", "disputed"), device.ids()
        deed = chance.choice(DEEDS) if standing else "say"
        if deed in ("say", "claim", "hear", "replace", "split"):
            self._tell(device, deed, standing)
        elif deed == "label":
            device.label(chance.choice(everything), tags=f'["{chance.randrange(9)}"]', importance=chance.random())
        elif deed == "pin":
            device.label(chance.choice(everything), pinned=chance.randrange(2))
        elif deed == "relate":
            device.relate(chance.choice(everything), chance.choice(everything), chance.choice(RELATIONS))
        elif deed == "judge":
            device.judge(chance.choice(everything), chance.choice(("confirm", "dispute")))
        elif deed == "decide":
            device.decide(chance.choice(("keep_both", "reject")))
        elif deed == "forget":
            device.forget(chance.choice(standing))
        elif deed == "erase":
            gone = chance.choice(everything)
            device.erase(gone)
            self.erased.add(gone)
        else:
            device.undo()

    def _tell(self, device: Device, deed: str, standing: list[str]) -> None:
        chance = self.chance
        subject, value = chance.choice(SUBJECTS), chance.choice(VALUES)
        claim = (subject, "lives in", value)
        if deed == "say":
            device.remember(chance.choice(WORDS))
        elif deed == "split":
            device.split([f"{chance.choice(WORDS)}, at length, {at}" for at in range(3)])
        elif deed == "hear":
            device.remember(f"People say that {subject} has moved to {value}", claim)
        else:
            device.remember(
                f"{subject} lives in {value}", claim, chance.choice(standing) if deed == "replace" else None
            )

    def exchange(self, device: Device) -> None:
        """One round of a device, maybe with a kill in it."""
        kill = self.chance.random()
        if kill < 0.7:
            device.now()
            return
        place = device.rounds
        if kill < 0.8:  # behind the transaction, before the file is in the folder
            place._publish = lambda folder, path: _die()  # type: ignore[method-assign]  # the kill
        elif kill < 0.9:  # within the writing of a bundle
            place._write_spooled = lambda path, header: _die()  # type: ignore[method-assign]  # the kill
        else:  # the folder is full or gone
            place._publish = lambda folder, path: _refuse()  # type: ignore[method-assign]  # the fault
        with suppress(KilledError, EnvironmentFaultError):
            device.now()
        device.close()
        device.open()

    def deliver(self, is_twice: bool = False) -> None:
        """Some files of one folder arrive in another."""
        source, target = self.chance.sample(self.folders, 2)
        files = [path for path in source.iterdir() if not path.name.startswith(".")]
        self.chance.shuffle(files)
        for path in files[: self.chance.randrange(len(files) + 1)]:
            shutil.copyfile(path, target / path.name)
            if is_twice:
                shutil.copyfile(path, target / path.name.replace(".loci", " (1).loci"))

    def take_out(self) -> None:
        """The last device is taken out by one of the first two, which stay, and goes on without knowing it."""
        if len(self.devices) <= 2:
            return
        lost = self.devices[-1]
        self.chance.choice(self.devices[:2]).take_out(lost)
        self.devices.remove(lost)
        self.removed.append(lost)

    def opened_by_removed(self) -> list[str]:
        """What is written when all who stay know who is out, and opens with what one who is out has."""
        before = {path.name for folder in self.folders for path in folder.iterdir()}
        for device in self.devices:
            device.remember(f"{device.name} says something that only those who stay may read")
        self.finish()
        found = []
        for device in self.removed:
            for folder in self.folders:
                found += [f"{device.name}: {name}" for name in bundles_opened_by(device, folder) - before]
        return found

    def finish(self, most: int = 20) -> None:
        """Everything arrives everywhere, until nobody has anything to tell."""
        for _ in range(most):
            for source in self.folders:
                for target in self.folders:
                    if source is not target:
                        for path in source.iterdir():
                            if not path.name.startswith(".") and not (target / path.name).exists():
                                shutil.copyfile(path, target / path.name)
            reports = [device.now() for device in self.devices]
            if not any(report.wrote or report.bundles for report in reports):
                return
        raise AssertionError("they never came to rest")

    def differences(self) -> list[str]:
        """Rows that are not the same on every device, and what no vault may hold."""
        first, *others = [device.synced_rows() for device in self.devices]
        found = []
        for device, rows in zip(self.devices[1:], others, strict=True):
            for table in first:
                for key in first[table].keys() | rows[table].keys():
                    ours, theirs = first[table].get(key), rows[table].get(key)
                    if ours != theirs:
                        names = [n for n in (ours or theirs or {}) if (ours or {}).get(n) != (theirs or {}).get(n)]
                        found.append(f"{device.name} {table} {key}: {names} {ours is not None} {theirs is not None}")
        for device in self.devices:
            if not self.removed:  # what one of them erased may have come too late
                found += [f"{device.name} holds {one}" for one in self.erased.intersection(device.ids("active"))]
            broken = device.read(lambda rows: rows.all("PRAGMA foreign_key_check"))
            found += [f"{device.name}: {row}" for row in broken]
            counts = {name: len(rows) for name, rows in device.synced_rows().items()}
            real = device.real_rows()
            found += [
                f"{device.name} {name}: {counts[name]} of {real[name]}" for name in counts if counts[name] != real[name]
            ]
        return found

    def close(self) -> None:
        """Close all vaults."""
        for device in (*self.devices, *self.removed):
            device.close()


def _die() -> NoReturn:
    raise KilledError


def _refuse() -> NoReturn:
    raise EnvironmentFaultError(Code.DISK_FULL, "The folder of your devices is full.")
