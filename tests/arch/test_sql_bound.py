"""No text is ever put into SQL: values are bound, and only fixed words make a statement (see sql_flow.HELPERS)."""

from __future__ import annotations

import pytest
from arch_tree import PRODUCT, name_of, python_files
from sql_flow import Flow

# `file:function` to reason.
_LOOKED_UP = (
    "table and columns were looked up in what the vault itself lists before (Schema.get_table, "
    "SchemaTable.require_columns)"
)
_QUOTING = ("_find_row", "_select_rows", "_insert_sql", "_where_clause", "delete", "update", "update_many")
_PREDICATE = "a ScopePredicate is put together in core/recall/predicate.py from fixed conditions with named values"
ALLOWED = {f"core/vault/database/tx.py:{function}": _LOOKED_UP for function in _QUOTING} | {
    "core/vault/database/migrations.py:_run_migration": "the version is a whole number of our own list of migrations",
    "core/vault/database/inspection.py:_count_table": "the name is one of those the vault itself lists",
    "core/intake/seal/sealed_body.py:read_body": "tables and columns are the fixed list of what is kept of a memory",
    "core/intake/seal/sealed_body.py:_columns_of": "the columns are those that the vault itself lists",
    "core/intake/seal/sealed_body.py:_fit_references": "the table is one that the vault itself lists as referred to",
    "core/intake/erase/leftovers.py:search_table": "table and columns are those the vault itself lists",
    "core/vault/memory_sql.py:tier_by_sql": "the alias is a fixed word of the statement that asks",
    "core/vault/memory_sql.py:given_sql": "the client is a parameter's name",
    "core/memory/read.py:time_of_memory_sql": "the alias is a fixed word of the statement that asks",
    "core/recall/context.py:_read_speaking": _PREDICATE,
    "core/recall/pipeline.py:_count_wanted_by_client": _PREDICATE,
    "core/recall/predicate.py:wanted_labels": _PREDICATE,
    "core/recall/scope.py:join_conditions": "joins conditions that this room made from fixed words",
    "core/recall/vectors.py:read_neighbours": _PREDICATE,
    "core/recall/candidates.py:_read_candidate_rows": _PREDICATE,
    "core/recall/candidates.py:find_claimed": _PREDICATE,
}


def complaints(source: str) -> list[str]:
    return Flow({"planted.py": source}).complaints()


def test_nothing_unknown_is_put_into_sql() -> None:
    found = Flow(
        {name_of(path): path.read_text(encoding="utf-8") for path in python_files(*PRODUCT)}, ALLOWED
    ).complaints()
    where = {line: line.partition(": ")[0] for line in found}
    assert not [line for line, key in where.items() if key not in ALLOWED]
    assert set(ALLOWED) <= set(where.values()), "no longer needed"


@pytest.mark.parametrize(
    "source",
    [
        "def f(c, name): c.execute(f'SELECT * FROM memories WHERE text = \"{name}\"')",
        "def f(c, name): c.execute('SELECT %s' % name)",
        "def f(c, name): c.execute('SELECT ' + name)",
        "def f(c, name): c.execute('SELECT {}'.format(name))",
        "def f(c, name): c.execute(' '.join(['SELECT', name]))",
        "def f(c, name):\n    sql = f'SELECT {name}'\n    c.executemany(sql, [])",
        "def f(c, name):\n    sql = 'SELECT 1'\n    sql += name\n    c.execute(sql)",
        "def f(c, row): c.execute(f'SELECT {row.name}')",
        "def f(c, row): c.execute(f'SELECT {clean(row)}')",
        "def f(c, names):\n    for name in names:\n        c.execute(f'DROP TABLE {name}')",
        "def run(self, sql): self.c.execute(sql)\ndef f(tx, name): tx.run(f'SELECT {name}')",
        "def run(self, sql): self.c.execute(sql)\ndef outer(x, q): x.run(q)\ndef f(x, name): outer(x, 'a' + name)",
        "def run(self, sql): self.c.execute(sql)\ndef f(tx, name): tx.run(sql='SELECT ' + name)",
        "def f(c, name, b): c.execute('SELECT 1' if b else f'SELECT {name}')",
        "def f(c, name):\n    parts = []\n    parts.append(name)\n    c.execute(' AND '.join(parts))",
        "def w(a): return f'a = {a}', [a]\ndef f(c, x):\n    where, v = w(x)\n    c.execute(f'SELECT {where}', v)",
        "def _part(c, more): c.execute(f'SELECT 1{more}')\ndef f(c, name): _part(c, ' AND ' + name)",
        "def _all(c, words):\n    for w in words:\n        c.execute(f'PRAGMA {w}')\ndef f(c, x): _all(c, [x])",
        "def w(name): return 'SELECT ' + name\ndef f(c, x): c.execute(w(x))",
        "async def f(c, name): await c.execute(f'SELECT {name}')",
    ],
)
def test_the_check_sees(source: str) -> None:
    assert complaints(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(c, name): c.execute('SELECT * FROM memories WHERE text = ?', (name,))",
        'def f(c, n): c.execute(f\'SELECT * FROM a WHERE id IN ({",".join("?" * len(n))})\', n)',
        "def f(c, n):\n    marks = ','.join('?' for _ in n)\n    c.execute(f'SELECT 1 WHERE id IN ({marks})', n)",
        "TABLES = ('a', 'b')\ndef f(c):\n    for table in TABLES:\n        c.execute(f'DELETE FROM {table}')",
        "def f(c):\n    for table in ('a', 'b'):\n        c.execute('DELETE FROM ' + table)",
        "COLUMNS = 'a, b'\ndef f(c): c.execute(f'SELECT {COLUMNS} FROM a')",
        "def f(c, n): c.execute(f'PRAGMA user_version = {int(n)}')",
        "def f(c, kind): c.execute(f'SELECT * FROM {TABLES[kind]}')",
        "def f(c, b):\n    where = ' WHERE a = ?' if b else ''\n    c.execute('SELECT 1' + where)",
        "def f(c, a, b):\n    parts = ['a = ?', 'b = ?']\n    c.execute('SELECT 1 WHERE ' + ' AND '.join(parts))",
        "def w(name): return 'a = ?', [name]\ndef f(c, x):\n    where, v = w(x)\n    c.execute(f'SELECT {where}', v)",
        "def f(c, n):\n    parts = []\n    parts.append('a = ?')\n    c.execute(' AND '.join(parts))",
        "def run(self, sql, values): self.c.execute(sql, values)",
        "def _part(c, more): c.execute(f'SELECT 1{more}')\ndef f(c, b): _part(c, ' AND a = ?' if b else '')",
        "def f(c):\n    x = {n for n in names()}\n    return [c.execute(f'DROP {n}') for n in ('a', 'b')]",
        "def f(pool): pool.run(print)",
    ],
)
def test_the_check_leaves_bound_sql_alone(source: str) -> None:
    assert complaints(source) == []
