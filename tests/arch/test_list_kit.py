"""Lists and tables of the window are drawn by the kit in `ui/lists`; few classes stand beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from arch_tree import ROOT, dotted, imported_names, name_of, parsed, python_files, walk

QT = {
    "QAbstractItemModel", "QAbstractListModel", "QAbstractTableModel", "QSortFilterProxyModel", "QStandardItemModel",
    "QAbstractItemDelegate", "QItemDelegate", "QStyledItemDelegate",
    "QAbstractItemView", "QListView", "QListWidget", "QTableView", "QTableWidget", "QTreeView", "QTreeWidget",
}  # fmt: skip
MODEL = {
    "canFetchMore", "columnCount", "data", "fetchMore", "flags", "headerData", "index", "parent", "roleNames",
    "rowCount", "setData", "sort",
}  # fmt: skip
DELEGATE = {
    "createEditor", "displayText", "editorEvent", "helpEvent", "initStyleOption", "paint", "setEditorData",
    "setModelData", "sizeHint", "updateEditorGeometry",
}  # fmt: skip
VIEW = {
    "drawBranches", "drawRow", "indexAt", "initViewItemOption", "moveCursor", "paintEvent", "scrollTo", "setModel",
    "setSelection", "visualRect", "visualRegionForSelection",
}  # fmt: skip
PUT_IN = {"setItemDelegate", "setItemDelegateForColumn", "setItemDelegateForRow", "setModel"}
MOST = 11
ROOM = """
from PySide6 import QtWidgets
from PySide6.QtCore import QAbstractListModel as Model

class Kit(QtWidgets.QListView): ...
class Rows(Model, Generic[R]): ...

class Plain(Kit):
    def act(self): self.update()

class Told(Rows[int]):
    def show(self): ...

class Drawn(Plain):
    def paintEvent(self, event): ...

class Filled(Kit):
    def __init__(self): self.setItemDelegate(Painter())

class Other(Room):
    def paintEvent(self, event): ...
"""


def base_names(node: ast.ClassDef, names: dict[str, str]) -> Iterator[str]:
    """The bases of a class by the names they were given where they are made, without type arguments."""
    for base in node.bases:
        whole = dotted(base.value if isinstance(base, ast.Subscript) else base)
        first, *rest = whole.split(".")
        yield [*names.get(first, first).split("."), *rest][-1]


def adds_its_own(node: ast.ClassDef) -> bool:
    """Whether a class says itself what a model, a delegate or a view does, or puts another one in."""
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    calls = {
        one.func.attr
        for one in walk(node)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and isinstance(one.func.value, ast.Name)
        and one.func.value.id == "self"
    }
    return bool(methods & (MODEL | DELEGATE | VIEW) or calls & PUT_IN)


def item_classes(paths: Iterable[Path], root: Path = ROOT) -> list[str]:
    """The models, delegates and views of Qt's lists and tables that files make their own: see the test."""
    found = [
        (path, node, set(base_names(node, imported_names(parsed(path)))))
        for path in paths
        for node in walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    ]
    kin = set(QT)
    while more := {node.name for _, node, bases in found if bases & kin} - kin:
        kin |= more
    return [
        f"{name_of(path, root)}:{node.name}"
        for path, node, bases in found
        if bases & QT or (bases & kin and adds_its_own(node))
    ]


def test_lists_are_drawn_by_the_kit() -> None:
    """Classes of `ui` that are made of one of Qt's models, delegates or views are counted.

    Counted is every class with one of Qt's among its bases, the kit's own too. A class made of such a class (of
    `ListView` or `TableModel`, say, however far down) is counted only where it adds a model, a delegate or a view of
    its own: where it overrides a method by which Qt asks one of them, or puts another model or delegate into itself.
    `TickModel` does and is counted; `AnswerList` and `StepList` say with a `RowSpec` what a row is, and are not.
    """
    found = item_classes(python_files("ui"))
    assert len(found) <= MOST, f"say what a row is with a `RowSpec` and use `ui.lists.list_view.ListView`: {found}"


def test_the_count_sees_a_list_of_its_own() -> None:
    found = {one.partition(":")[2] for one in item_classes(python_files("ui"))}
    assert {"ListView", "TableModel", "TickModel"} <= found
    assert not {"AnswerList", "StepList"} & found


def test_the_count_sees_a_subclass_where_it_adds_its_own(tmp_path: Path) -> None:
    room = tmp_path / "room.py"
    room.write_text(ROOM, encoding="utf-8")
    found = {one.partition(":")[2] for one in item_classes([room], tmp_path)}
    assert found == {"Kit", "Rows", "Drawn", "Filled"}
