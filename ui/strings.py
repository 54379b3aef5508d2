"""The sentences of the window: each file of `resources/help` is read here, once, and nowhere else.

Must not do: choose a sentence, or fill one in but with a count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

from core.config.help_strings import format_count as format_count
from core.config.help_strings import read_help_strings

Strings = Callable[[], Mapping[str, Any]]
ask_strings: Strings = partial(read_help_strings, "ask")
attach_strings: Strings = partial(read_help_strings, "attach")
assistants_strings: Strings = partial(read_help_strings, "assistants")
belief_strings: Strings = partial(read_help_strings, "belief")
check_strings: Strings = partial(read_help_strings, "check")
clients_strings: Strings = partial(read_help_strings, "clients_page")
command_strings: Strings = partial(read_help_strings, "commands")
device_strings: Strings = partial(read_help_strings, "devices")
embedder_strings: Strings = partial(read_help_strings, "embedders")
entities_strings: Strings = partial(read_help_strings, "entities_page")
file_strings: Strings = partial(read_help_strings, "files")
gate_strings: Strings = partial(read_help_strings, "gate")
glossary_strings: Strings = partial(read_help_strings, "glossary")
graph_strings: Strings = partial(read_help_strings, "graph_page")
import_strings: Strings = partial(read_help_strings, "import")
injection_strings: Strings = partial(read_help_strings, "injection")
inspector_strings: Strings = partial(read_help_strings, "inspector")
journal_strings: Strings = partial(read_help_strings, "journal_page")
label_strings: Strings = partial(read_help_strings, "labels")
library_strings: Strings = partial(read_help_strings, "library")
lifecycle_strings: Strings = partial(read_help_strings, "lifecycle")
new_memory_strings: Strings = partial(read_help_strings, "new_memory")
order_strings: Strings = partial(read_help_strings, "order")
palace_strings: Strings = partial(read_help_strings, "palace_page")
plot_strings: Strings = partial(read_help_strings, "plots")
practice_strings: Strings = partial(read_help_strings, "practice")
recall_strings: Strings = partial(read_help_strings, "recall_page")
review_strings: Strings = partial(read_help_strings, "review_page")
seal_strings: Strings = partial(read_help_strings, "seal")
search_strings: Strings = partial(read_help_strings, "search")
secret_strings: Strings = partial(read_help_strings, "secret")
settings_strings: Strings = partial(read_help_strings, "settings")
skip_strings: Strings = partial(read_help_strings, "skips")
timeline_strings: Strings = partial(read_help_strings, "timeline")
undo_strings: Strings = partial(read_help_strings, "undo")
walk_strings: Strings = partial(read_help_strings, "palace_walk")
watched_strings: Strings = partial(read_help_strings, "watched")
window_strings: Strings = partial(read_help_strings, "window")

T = TypeVar("T")


class Labels(Mapping[T, str]):
    """The words for the values of an enum, in its order of the file; read as the first of them is asked for."""

    def __init__(self, name: str, value: Callable[[str], T]) -> None:
        """Make it.

        Args:
            name: of the words in `labels.json`.
            value: makes a value of its code.
        """
        self._name, self._value = name, value

    @cached_property
    def _words(self) -> Mapping[T, str]:
        return {self._value(code): words for code, words in label_strings()[self._name].items()}

    def __getitem__(self, value: T) -> str:
        """The words for a value."""
        return self._words[value]

    def __iter__(self) -> Iterator[T]:
        """The values in the order of the file."""
        return iter(self._words)

    def __len__(self) -> int:
        """How many values have words."""
        return len(self._words)
