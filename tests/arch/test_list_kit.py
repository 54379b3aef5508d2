"""Lists and tables of the window are drawn by the kit in `ui/lists`; few classes stand beside it."""

from __future__ import annotations

import ast
from pathlib import Path

from arch_tree import ROOT, name_of, parsed, python_files

QT = {
    "QAbstractItemModel", "QAbstractListModel", "QAbstractTableModel", "QSortFilterProxyModel", "QStandardItemModel",
    "QAbstractItemDelegate", "QItemDelegate", "QStyledItemDelegate",
    "QAbstractItemView", "QListView", "QListWidget", "QTableView", "QTableWidget", "QTreeView", "QTreeWidget",
}  # fmt: skip
MOST = 10


def item_classes(path: Path) -> list[str]:
    """The models, delegates and views of Qt's lists and tables that a file makes its own."""
    return [
        f"{name_of(path)}:{node.name}"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id in QT for base in node.bases)
    ]


def test_lists_are_drawn_by_the_kit() -> None:
    found = [one for path in python_files("ui") for one in item_classes(path)]
    assert len(found) <= MOST, f"say what a row is with a `RowSpec` and use `ui.lists.list_view.ListView`: {found}"


def test_the_count_sees_a_list_of_its_own() -> None:
    assert any("ui/lists/list_view.py:ListView" in one for one in item_classes(ROOT / "ui" / "lists" / "list_view.py"))
