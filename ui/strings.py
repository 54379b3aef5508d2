"""The sentences of the window: each file of `resources/help` is read here, once, and nowhere else.

Must not do: choose a sentence, or fill one in but with a count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any


@cache
def read_strings(name: str) -> Any:
    """The sentences of a file of `resources/help`.

    Args:
        name: without its ending.
    """
    return json.loads((files("resources") / "help" / f"{name}.json").read_text(encoding="utf-8"))


Strings = Callable[[], Mapping[str, Any]]
ask_strings: Strings = partial(read_strings, "ask")
assistants_strings: Strings = partial(read_strings, "assistants")
belief_strings: Strings = partial(read_strings, "belief")
check_strings: Strings = partial(read_strings, "check")
clients_strings: Strings = partial(read_strings, "clients_page")
command_strings: Strings = partial(read_strings, "commands")
embedder_strings: Strings = partial(read_strings, "embedders")
entities_strings: Strings = partial(read_strings, "entities_page")
gate_strings: Strings = partial(read_strings, "gate")
glossary_strings: Strings = partial(read_strings, "glossary")
graph_strings: Strings = partial(read_strings, "graph_page")
import_strings: Strings = partial(read_strings, "import")
injection_strings: Strings = partial(read_strings, "injection")
inspector_strings: Strings = partial(read_strings, "inspector")
journal_strings: Strings = partial(read_strings, "journal_page")
label_strings: Strings = partial(read_strings, "labels")
library_strings: Strings = partial(read_strings, "library")
lifecycle_strings: Strings = partial(read_strings, "lifecycle")
new_memory_strings: Strings = partial(read_strings, "new_memory")
order_strings: Strings = partial(read_strings, "order")
palace_strings: Strings = partial(read_strings, "palace_page")
plot_strings: Strings = partial(read_strings, "plots")
practice_strings: Strings = partial(read_strings, "practice")
recall_strings: Strings = partial(read_strings, "recall_page")
review_strings: Strings = partial(read_strings, "review_page")
seal_strings: Strings = partial(read_strings, "seal")
search_strings: Strings = partial(read_strings, "search")
secret_strings: Strings = partial(read_strings, "secret")
settings_strings: Strings = partial(read_strings, "settings")
skip_strings: Strings = partial(read_strings, "skips")
timeline_strings: Strings = partial(read_strings, "timeline")
undo_strings: Strings = partial(read_strings, "undo")
walk_strings: Strings = partial(read_strings, "palace_walk")
window_strings: Strings = partial(read_strings, "window")


def format_count(forms: Mapping[str, str], count: int, **more: object) -> str:
    """A count in the right number: `1 memory`, `1,204 memories`.

    Args:
        forms: `one` and `many`, with `{count}` in them.
        **more: what else the form names.
    """
    return forms["one" if count == 1 else "many"].format(count=f"{count:,}", **more)
