"""Erasing for good in the window: what would go is told, one question is asked, the certificate shown and saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import pytest
from engine_rig import Rig, facts
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot
from window_rig import settle

from core.config.erasure_wording import erasure_words
from core.types.entities import EntityDraft
from core.types.memory import ErasureCertificate, ErasureRequest, ErasureState, ErasureSubject
from core.types.values import OWNER_ACTOR
from ui.context import Context
from ui.erasure import CertificateDialog, CertificatesDialog, ErasureDialog, ask_erasure
from ui.inspector.panel import Inspector
from ui.registry import INSPECTOR_SECTIONS

TEXT = "Rosa Castellanos sings in Porto."
D = TypeVar("D", bound=QDialog)


@pytest.fixture
def host(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


def opened(qtbot: QtBot, host: QWidget, kind: type[D]) -> D:
    settle(qtbot, lambda: any(found.isVisible() for found in host.findChildren(kind)))
    return next(found for found in host.findChildren(kind) if found.isVisible())


def entity(rig: Rig) -> str:
    entity_id = rig.engine.entities.create(EntityDraft("Rosa Castellanos", "person")).result(10).id
    memory = rig.store(TEXT).memory_id
    row = {"memory_id": memory, "entity_id": entity_id, "start_at": 0, "end_at": 16}
    rig.write(lambda tx: tx.insert("mentions", row))
    return entity_id


def test_all_about_an_entity_is_erased_after_one_question(
    context: Context, rig: Rig, qtbot: QtBot, host: QWidget, tmp_path: Path
) -> None:
    kept = rig.store("Ada keeps bees.").memory_id
    request = ErasureRequest(ErasureSubject.ENTITY, (entity(rig),))
    rig.engine.vault.backup().result(60)
    done: list[ErasureCertificate] = []
    dialog = ask_erasure(context, request, "about", "<b>Rosa</b>", host, done.append)
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.windowTitle() == "Erase everything about <b>Rosa</b>?"
    assert dialog.summary.text() == "1 fact\n1 entity that nothing else mentions"
    assert dialog.backups.text() == "1 backup holds it; you can rewrite it afterwards."
    assert (dialog.act.text(), dialog.cancel.isDefault()) == ("Erase 1 memory", True)
    assert len(rig.rows("SELECT id FROM memories")) == 2
    dialog.act.click()
    shown = opened(qtbot, host, CertificateDialog)
    assert rig.rows("SELECT id FROM memories") == [(kept,)]
    assert shown.certificate == done[0]
    text = shown.text.toPlainText()
    assert "1 memory was erased on" in text
    assert "STILL HOLDS 1 of them" in text
    assert "Rosa" not in text
    to = tmp_path / "certificate.json"
    shown.save_to(to)
    settle(qtbot, lambda: "certificate.json" in shown.note.text())
    assert json.loads(to.read_text())["digest"] == done[0].digest
    assert to.stat().st_mode & 0o777 == 0o600
    page = tmp_path / "certificate.html"
    shown.save_to(page)
    settle(qtbot, lambda: "certificate.html" in shown.note.text())
    assert "1 memory was erased on" in page.read_text(encoding="utf-8")
    assert shown.rewrite.isVisible()
    shown.rewrite.click()
    settle(qtbot, lambda: shown.certificate.state is ErasureState.ERASED)
    assert "was rewritten without it" in shown.text.toPlainText()
    assert not shown.rewrite.isVisible()
    shown.close_button.click()


def test_no_is_the_default_and_erases_nothing(context: Context, rig: Rig, qtbot: QtBot, host: QWidget) -> None:
    brought = rig.bring(facts(3)).import_id
    assert brought is not None
    request = ErasureRequest(ErasureSubject.IMPORT, (brought,))
    dialog = ask_erasure(context, request, "import", "rows.jsonl", host, lambda _: None)
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.act.text() == "Erase 3 memories"
    dialog.cancel.click()
    assert len(rig.rows("SELECT id FROM memories")) == 3
    assert rig.engine.erasures.list_certificates().result(30) == ()


def test_what_is_not_there_is_said(context: Context, rig: Rig, qtbot: QtBot, host: QWidget) -> None:
    request = ErasureRequest(ErasureSubject.ENTITY, ("nothing",))
    dialog = ErasureDialog(context, request, "about", "Rosa", host)
    settle(qtbot, lambda: dialog.summary.text() == "There is no such entity.")
    assert not dialog.act.isEnabled()
    dialog.close()
    assert rig.rows("SELECT id FROM memories") == []


def test_all_certificates_are_listed_and_one_opens_to_be_saved(
    context: Context, rig: Rig, qtbot: QtBot, host: QWidget
) -> None:
    empty = CertificatesDialog(context, host)
    empty.open()
    settle(qtbot, lambda: empty.note.text() == erasure_words()["list"]["none"])
    assert empty.list.isHidden()
    empty.close_button.click()
    first = rig.store("The lamp is lit at dusk.").memory_id
    second = rig.store(TEXT).memory_id
    for one in (first, second):
        rig.engine.erasures.erase(ErasureRequest(ErasureSubject.MEMORY, (one,)), OWNER_ACTOR).result(60)
    dialog = CertificatesDialog(context, host)
    dialog.open()
    settle(qtbot, lambda: dialog.list.count() == 2)
    lines = [dialog.list.item(at).text() for at in range(2)]
    assert all("1 memory" in line and "nothing left" in line for line in lines)
    assert "Rosa" not in " ".join(lines)
    assert dialog.open_button.isEnabled()
    dialog.open_button.click()
    shown = opened(qtbot, dialog, CertificateDialog)
    assert shown.certificate.ids == (second,)
    assert shown.save.isVisible()
    shown.close_button.click()
    dialog.close_button.click()


def test_one_memory_is_erased_from_the_inspectors_menu_with_a_certificate(
    context: Context, rig: Rig, qtbot: QtBot
) -> None:
    memory_id = rig.store("The card ends in 4242.").memory_id
    inspector = Inspector(context, INSPECTOR_SECTIONS)
    qtbot.addWidget(inspector)
    inspector.show()
    context.selection.select(memory_id, "test")
    settle(qtbot, lambda: inspector.inspected is not None)
    action = next(one for one in inspector.actions_box.menu.actions() if one.text() == "Erase for good …")
    action.trigger()
    dialog = opened(qtbot, inspector, ErasureDialog)
    settle(qtbot, dialog.act.isEnabled)
    assert dialog.windowTitle() == "Erase “The card ends in 4242.”?"
    dialog.act.click()
    certificate = opened(qtbot, inspector, CertificateDialog)
    certificate.reject()
    assert rig.rows("SELECT id FROM memories") == []
    assert context.selection.current == ""
