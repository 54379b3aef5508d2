"""A file is named by a noun, a public class name stands for one thing in the program, and retired words stay retired.

Remedy for a breach: name the file after what it holds (`review_decision`, not `deciding`), and the class after
what it is in its own room (`RecallAnswer`, not one more `Answer`). The lists of 24 November 2026 below hold what
broke the rules when they were written: they only ever get shorter, and an entry that is no longer needed fails.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest
from arch_tree import PRODUCT, ROOT, name_of, parsed, python_files, walk

# Words that look like a verb's form and are nouns of the domain or standard mechanisms.
NOUNS = frozenset(
    {"bed", "embed", "embedding", "feed", "meaning", "need", "pairing", "ranking", "rendering", "screening", "seed"}
    | {"setting", "speed", "string", "warning", "wording"}
)
# Participles without -ed.
IRREGULAR = frozenset(
    {"begun", "bound", "broken", "built", "chosen", "drawn", "fallen", "forgotten", "found", "given", "gone", "heard"}
    | {"held", "hidden", "kept", "known", "learnt", "left", "lent", "lost", "made", "meant", "met", "seen", "sent"}
    | {"shown", "sold", "spent", "spoken", "spoilt", "stood", "taken", "taught", "told", "woken", "worn", "written"}
)
VERB_FORMS_ALLOWED: frozenset[str] = frozenset({})
# Name to number of definitions. What a page of the window is given, and what a recall hands to a client.
TWICE_ALLOWED: dict[str, int] = {"Context": 2}
RETIRED_ALLOWED: frozenset[str] = frozenset()
# Retired functions that are plain English verbs: the list retires them for one meaning, not as names.
PLAIN_VERBS = frozenset({"plan", "release"})


def retired_words(section: str, page: str | None = None) -> frozenset[str]:
    """The words of one section of `retired_words.txt`, or of a page written like it."""
    text = (Path(__file__).parent / "retired_words.txt").read_text(encoding="utf-8") if page is None else page
    words: dict[str, set[str]] = {}
    here = ""
    for line in text.splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif line and not line.startswith("#"):
            words.setdefault(here, set()).add(line)
    return frozenset(words[section])


RETIRED = retired_words("classes")
RETIRED_FUNCTIONS = retired_words("functions")
RETIRED_PARTS = retired_words("parts")


def is_verb_form(name: str) -> bool:
    """Whether a file's or folder's name is a gerund or a participle; of several words the last one decides."""
    word = name.rsplit("_", 1)[-1]
    return word not in NOUNS and (word.endswith(("ing", "ed")) or word in IRREGULAR)


def verb_forms(root: Path = ROOT) -> set[str]:
    """Files and folders of the product whose name is a verb's form, by their path."""
    files = [path for path in python_files(*PRODUCT, root=root) if path.name != "__init__.py"]
    folders = {path.parent for path in python_files(*PRODUCT, root=root)}
    return {name_of(path, root) for path in (*files, *folders) if is_verb_form(path.stem)}


def class_names(*folders: str, root: Path = ROOT) -> Counter[str]:
    """How often each public class name is defined at the top of a module of these packages."""
    return Counter(
        node.name
        for path in python_files(*folders, root=root)
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def function_names(*folders: str, root: Path = ROOT) -> set[str]:
    """Public functions and methods of these packages."""
    return {
        node.name
        for path in python_files(*folders, root=root)
        for node in walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    }


def test_files_are_named_by_nouns() -> None:
    assert not sorted(verb_forms() - VERB_FORMS_ALLOWED)


def test_the_allowed_verb_forms_are_still_there() -> None:
    assert not sorted(VERB_FORMS_ALLOWED - verb_forms()), "take these out of VERB_FORMS_ALLOWED"


def test_a_class_name_is_defined_once_in_the_program() -> None:
    assert not {name: n for name, n in class_names(*PRODUCT).items() if n > TWICE_ALLOWED.get(name, 1)}


def test_the_allowed_doubles_are_still_there() -> None:
    defined = class_names(*PRODUCT)
    assert not {name: n for name, n in TWICE_ALLOWED.items() if defined[name] < n}, "take these out of TWICE_ALLOWED"


def test_retired_words_name_no_class_of_core() -> None:
    assert not sorted(RETIRED.intersection(class_names("core")) - RETIRED_ALLOWED)


def test_retired_words_name_no_function() -> None:
    assert len(RETIRED_FUNCTIONS) > 50
    assert not sorted((RETIRED_FUNCTIONS - PLAIN_VERBS) & function_names(*PRODUCT))
    assert not sorted(PLAIN_VERBS - (RETIRED_FUNCTIONS & function_names(*PRODUCT))), "take these out of PLAIN_VERBS"


def test_retired_words_are_no_part_of_a_function_of_core() -> None:
    assert not sorted(name for name in function_names("app", "core") if RETIRED_PARTS.intersection(name.split("_")))


def test_the_allowed_retired_words_are_still_there() -> None:
    assert not sorted(RETIRED_ALLOWED - class_names("core").keys()), "take these out of RETIRED_ALLOWED"


@pytest.mark.parametrize("name", ["deciding", "run_pairing_showing", "touched", "import_drawn", "kept"])
def test_a_verb_form_is_seen(name: str) -> None:
    assert is_verb_form(name)


@pytest.mark.parametrize("name", ["decision", "pairing", "change_feed", "returning_value", "embed", "model_ranking"])
def test_a_noun_is_left_alone(name: str) -> None:
    assert not is_verb_form(name)


def test_the_checks_see_a_planted_breach(tmp_path: Path) -> None:
    for where in ("core/saying/first.py", "core/second.py"):
        path = tmp_path / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("class Twin: ...\nclass _Own: ...\n", encoding="utf-8")
    (tmp_path / "core" / "asked.py").write_text("class Other: ...\n", encoding="utf-8")
    (tmp_path / "core" / "third.py").write_text("class Newcomer: ...\n", encoding="utf-8")
    assert RETIRED.intersection(class_names("core", root=tmp_path)) == {"Newcomer"}
    assert verb_forms(tmp_path) == {"core/saying", "core/asked.py"}
    assert class_names("core", root=tmp_path) == {"Twin": 2, "Other": 1, "Newcomer": 1}


def test_a_class_of_the_window_is_seen_under_a_name_of_core(tmp_path: Path) -> None:
    for where in ("core/types.py", "ui/pages/first.py", "app/window.py"):
        path = tmp_path / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("class Twin:\n    class Inner: ...\n", encoding="utf-8")
    assert class_names("core", root=tmp_path) == {"Twin": 1}
    assert class_names(*PRODUCT, root=tmp_path) == {"Twin": 3}


def test_a_retired_function_is_seen(tmp_path: Path) -> None:
    page = "# a list\n[classes]\nDeed\n\n[functions]\nput_aside\n"
    assert retired_words("functions", page) == {"put_aside"}
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "one.py").write_text(
        "def _own() -> None: ...\nclass Some:\n    async def put_aside(self) -> None: ...\n", encoding="utf-8"
    )
    assert function_names("core", root=tmp_path) == {"put_aside"}
