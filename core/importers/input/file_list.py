"""Files of a folder as they were when it was listed, in little room: a folder may hold a hundred thousand.

Must not do: list a folder, or open a file.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.importers.input.files import DiskFile


class ListedFiles(Mapping[str, DiskFile]):
    """Files of a folder as they were when it was listed, by their names inside it.

    A folder may hold a hundred thousand: numbers in columns take a tenth of what an object for each would.
    """

    def __init__(self) -> None:
        """List nothing yet."""
        self._places: dict[str, int] = {}
        self._folders: list[Path] = []
        self._folder_of, self._times, self._sizes = array("L"), array("q"), array("Q")
        self._identities = array("Q")
        self._odd_names: dict[int, str] = {}

    def add_file(self, folder: Path, inside: str, name: str, status: os.stat_result) -> None:
        """List a file; of two with one name the later counts.

        Args:
            folder: the folder that it lies in.
            inside: its name inside the folder that was named, cleaned.
            name: its own, as the system gives it.
        """
        if not self._folders or self._folders[-1] is not folder:
            self._folders.append(folder)
        place = len(self._sizes)
        self._places[inside] = place
        self._folder_of.append(len(self._folders) - 1)
        self._sizes.append(status.st_size)
        self._times.extend((status.st_mtime_ns, status.st_ctime_ns))
        self._identities.extend((status.st_dev, status.st_ino))
        if name != inside.rpartition("/")[2]:
            self._odd_names[place] = name

    def __getitem__(self, name: str) -> DiskFile:
        """The file of a name."""
        place = self._places[name]
        own = self._odd_names.get(place) or name.rpartition("/")[2]
        device, inode = self._identities[2 * place], self._identities[2 * place + 1]
        path = self._folders[self._folder_of[place]] / own
        return DiskFile(path, own, self._sizes[place], self._times[2 * place], (device, inode))

    def __contains__(self, name: object) -> bool:
        """Whether there is a file of a name."""
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        """The names, in the order in which they were listed."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._places)

    def stamp_of(self, name: str) -> str:
        """How a file is: another stamp means that it has to be read again."""
        place = self._places[name]
        modified, changed = self._times[2 * place], self._times[2 * place + 1]
        # The time of the last change of any kind as well: a program may set the other one back.
        return f"{self._sizes[place]}:{modified}:{changed}:{self._identities[2 * place + 1]}"

    def describe_file(self, name: str) -> tuple[int, int]:
        """Size and epoch ms of the last change of a file."""
        place = self._places[name]
        return self._sizes[place], self._times[2 * place] // 1_000_000
