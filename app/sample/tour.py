"""The tour: a sample vault in a temporary home, a diary from the real importers, four recalls, a status page."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from app.cli.imports import print_import
from app.cli.memories import print_recall
from app.cli.output import Output
from app.cli.vault.administration import print_status
from app.context import AppContext
from app.engine.local_session import LocalSession, open_local_session
from app.environment import Environment
from core.engine.facade import HomeKeys, create_vault
from core.types.clock import SystemClock

_PARTS = ("diary.jsonl", "chat-export", "notes")
_SHOWN = 3


def run_tour(out: Output) -> None:
    """Give the tour.

    Args:
        out: where to print; with JSON asked for, one document with every reply.
    """
    with tempfile.TemporaryDirectory(prefix="loci-tour-") as folder, as_file(files("resources") / "demo") as diary:
        app_context = AppContext(_make_environment(Path(folder)))
        keys = HomeKeys(app_context.home)
        passphrase = secrets.token_urlsafe(16)
        create_vault(keys, passphrase, SystemClock())
        session = open_local_session(app_context, keys.open(passphrase), out.print_note)
        try:
            replies = _run_tour(session, diary, out)
        finally:
            session.close()
    if out.as_json:
        out.print_document(replies)


def _make_environment(folder: Path) -> Environment:
    return Environment(
        home=folder / "home",
        default_home=folder / "home",
        secret_file=None,
        runtime_dir=None,
        socket=None,
        now=None,
        has_display=False,
    )


def _run_tour(session: LocalSession, diary: Path, out: Output) -> dict[str, Any]:
    out.print_line("A walk through a sample palace. It lives in a temporary home and is gone at the end.")
    imports = []
    for part in _PARTS:
        out.print_line()
        out.print_line(f"── Importing {part} " + "─" * (58 - len(part)))
        reply = session.call("import", {"path": str(diary / part)})
        imports.append(reply)
        print_import(out, reply)
    recalls = [_ask_question(session, question, out) for question in _read_questions(diary)]
    out.print_line()
    out.print_line("── The palace now " + "─" * 53)
    status = session.call("status", {})
    print_status(out, status)
    out.print_line()
    out.print_line("That was the tour. Make a palace of your own with: loci init")
    return {"imports": imports, "recalls": recalls, "status": status}


def _read_questions(diary: Path) -> list[Mapping[str, Any]]:
    found = json.loads((diary / "queries.json").read_text(encoding="utf-8"))
    return list(found["tour"])


def _ask_question(session: LocalSession, question: Mapping[str, Any], out: Output) -> dict[str, Any]:
    params = {"query": question["query"], "explain": True, "limit": _SHOWN}
    when = ""
    if "as_of" in question:
        params["as_of"] = question["as_of"]
        when = f"  (as of {question['as_of']})"
    out.print_line()
    out.print_line(f"── {question['query']}{when}")
    reply = session.call("recall", params)
    print_recall(out, {**reply, "near_misses": []}, explain=True)
    return reply
