"""Which importer a bundle is for: asked in a fixed order, the most telling formats first.

Must not do: go by a name's ending alone, read more than heads unless nobody knows the format.
"""

from __future__ import annotations

from core.errors import Code, UserError
from core.importers.collection import CollectionImporter
from core.importers.formats.assistants.chatgpt import ChatGptImporter
from core.importers.formats.assistants.claude import ClaudeImporter
from core.importers.formats.assistants.copilot import CopilotImporter
from core.importers.formats.assistants.gemini import GeminiImporter
from core.importers.formats.assistants.grok import GrokImporter
from core.importers.formats.assistants.perplexity import PerplexityImporter
from core.importers.formats.calendars.calendar import CalendarImporter
from core.importers.formats.calendars.contacts import ContactsImporter
from core.importers.formats.chats.discord import DiscordImporter
from core.importers.formats.chats.imessage import IMessageImporter
from core.importers.formats.chats.signal import SignalImporter
from core.importers.formats.chats.slack import SlackImporter
from core.importers.formats.chats.telegram import TelegramImporter
from core.importers.formats.chats.whatsapp import WhatsAppImporter
from core.importers.formats.documents.bookmarks import BookmarksImporter
from core.importers.formats.documents.kindle import KindleImporter
from core.importers.formats.documents.pdf import PdfImporter
from core.importers.formats.documents.web_page import WebPageImporter
from core.importers.formats.documents.word import WordImporter
from core.importers.formats.mail.mail import MailImporter
from core.importers.formats.memories.mcp_memory import McpMemoryImporter
from core.importers.formats.memories.mem0 import Mem0Importer
from core.importers.formats.memories.openmemory import OpenMemoryImporter
from core.importers.formats.notes.day_one import DayOneImporter
from core.importers.formats.notes.evernote import EvernoteImporter
from core.importers.formats.notes.joplin import JoplinImporter
from core.importers.formats.notes.keep import KeepImporter
from core.importers.formats.notes.markdown import LinesImporter, MarkdownImporter, ObsidianImporter, TextImporter
from core.importers.formats.notes.notion import NotionImporter
from core.importers.formats.notes.org import OrgImporter
from core.importers.formats.notes.roam import RoamImporter
from core.importers.formats.pictures.pictures import PicturesImporter
from core.importers.formats.sessions.aider import AiderImporter
from core.importers.formats.sessions.claude_code import ClaudeCodeImporter
from core.importers.formats.sessions.codex import CodexImporter
from core.importers.formats.sessions.continue_sessions import ContinueImporter
from core.importers.formats.sessions.cursor import CursorImporter
from core.importers.formats.sessions.gemini_cli import GeminiCliImporter
from core.importers.formats.sessions.opencode import OpenCodeImporter
from core.importers.formats.tables.csv_rows import CsvImporter
from core.importers.formats.tables.jsonl import JsonlImporter
from core.importers.input.files import printable_name
from core.importers.input.source import Bundle
from core.importers.input.streams import read_head, read_json
from core.importers.records import Importer

_EXPLAINED_UP_TO = 16 << 20
_DOCUMENTS = (WordImporter, PdfImporter, WebPageImporter, MarkdownImporter, TextImporter, OrgImporter, PicturesImporter)
"""Importers of what a person keeps as a file, and no program exported."""


def list_importers(extensions: tuple[Importer, ...] = ()) -> tuple[Importer, ...]:
    """Every importer, in the order in which they are asked.

    Args:
        extensions: of other makers; they are asked after all that show themselves, before rows and texts.

    What several programs wrote goes to all of theirs. A vault of notes shows itself by its own folder and may hold any
    other format as an attachment, so it is the first of these; rows and plain text come late, because almost anything
    could be taken for them, and pictures last, because they lie beside everything.
    """
    each = _list_formats(extensions)
    return (CollectionImporter(each), *each)


def _list_formats(extensions: tuple[Importer, ...]) -> tuple[Importer, ...]:
    return (
        ObsidianImporter(),
        ChatGptImporter(),
        ClaudeImporter(),
        ClaudeCodeImporter(),
        CodexImporter(),
        GeminiCliImporter(),
        GeminiImporter(),
        GrokImporter(),
        CopilotImporter(),
        PerplexityImporter(),
        AiderImporter(),
        OpenCodeImporter(),
        ContinueImporter(),
        CursorImporter(),
        TelegramImporter(),
        DiscordImporter(),
        SlackImporter(),
        SignalImporter(),
        WhatsAppImporter(),
        IMessageImporter(),
        MailImporter(),
        KeepImporter(),
        DayOneImporter(),
        EvernoteImporter(),
        RoamImporter(),
        JoplinImporter(),
        NotionImporter(),
        CalendarImporter(),
        ContactsImporter(),
        KindleImporter(),
        BookmarksImporter(),
        WordImporter(),
        PdfImporter(),
        WebPageImporter(),
        OrgImporter(),
        McpMemoryImporter(),
        OpenMemoryImporter(),
        Mem0Importer(),
        *extensions,
        JsonlImporter(),
        CsvImporter(),
        MarkdownImporter(),
        TextImporter(),
        LinesImporter(),
        PicturesImporter(),
    )


def detect_format(bundle: Bundle, forced: str | None = None, extensions: tuple[Importer, ...] = ()) -> Importer:
    """Find the importer for a bundle.

    Args:
        forced: a format's name when the person chose it; then nothing is detected.
        extensions: importers of other makers, where they are allowed.

    Raises:
        UserError: IMPORT_UNKNOWN_FORMAT for a name or content that no importer knows; IMPORT_REFUSED for a file that
            poses as JSON and is none.
    """
    every = list_importers(extensions)
    if forced is not None:
        for importer in every:
            if importer.format == forced:
                return importer
        names = ", ".join(importer.format for importer in every)
        raise UserError(Code.IMPORT_UNKNOWN_FORMAT, f"There is no import format of that name; there are: {names}.")
    for importer in every:
        if importer.detects(bundle):
            return importer
    _explain_broken_json(bundle)
    label = printable_name(bundle.label)
    raise UserError(
        Code.IMPORT_UNKNOWN_FORMAT,
        f"“{label}” is in no format Loci knows; name one with --format if you know better. Nothing was imported.",
    )


def is_export(bundle: Bundle, extensions: tuple[Importer, ...] = ()) -> bool:
    """Whether a program exported what a bundle holds: a chat, a list of highlights, a table, by its content.

    Args:
        bundle: one file; only its head is read.
        extensions: importers of other makers, where they are allowed.

    Returns:
        False for a picture, a document, a page or a text, which are a file of the person's like any other.
    """
    found = next((importer for importer in list_importers(extensions) if importer.detects(bundle)), None)
    return found is not None and not isinstance(found, _DOCUMENTS)


def _explain_broken_json(bundle: Bundle) -> None:
    """Say what is wrong with a single file that begins like JSON but cannot be read as such."""
    file = bundle.files[0]
    if bundle.kind == "file" and file.size <= _EXPLAINED_UP_TO and read_head(file, 64).lstrip()[:1] in (b"{", b"["):
        read_json(file)
