"""An importer of another maker, kept to the rules that Loci's own keep.

What it raises is told and ends that import alone; what it yields is checked; its records cannot be taken for another
format's, nor for the person's own explicit word. Must not do: hide what failed, or change a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.errors import Code, LociError, UserError
from core.importers.input.source import Bundle
from core.importers.records import Importer, Item, Record, SkippedPart, UnreadablePart
from core.types.values import Source

_PREFIX = "x-"


class GuardedImporter:
    """Wraps one importer.

    Args:
        inner: of another maker.
        name: of its format, as it was checked.
    """

    def __init__(self, inner: Importer, name: str) -> None:
        self._inner = inner
        self._name = name

    @property
    def format(self) -> str:
        """Its name."""
        return self._name

    def detects(self, bundle: Bundle) -> bool:
        """Whether it says that a bundle is its own; one that fails at it says no."""
        try:
            return self._inner.detects(bundle) is True
        except LociError:
            raise
        except Exception:  # noqa: BLE001 - a stranger's code: others are asked in its place
            return False

    def read(self, bundle: Bundle) -> Iterator[Item]:
        """Yield what it yields.

        Raises:
            UserError: IMPORT_REFUSED where it fails, or yields what is no item.
        """
        items = self._read_inner(bundle)
        while True:
            try:
                item = next(items, None)
            except LociError:
                raise
            except Exception as error:  # noqa: BLE001 - a stranger's code
                raise self._failed(f"failed ({type(error).__name__})") from None
            if item is None:
                return
            yield self._check_item(item)

    def _read_inner(self, bundle: Bundle) -> Iterator[Item]:
        yield from self._inner.read(bundle)

    def _check_item(self, item: Item) -> Item:
        if isinstance(item, Record):
            if not isinstance(item.text, str) or not isinstance(item.identity, str):
                raise self._failed("yields a record without a text or an identity")
            source = Source.USER_IMPLICIT if item.source is Source.USER_EXPLICIT else item.source
            return replace(item, identity=f"{_PREFIX}{self._name}:{item.identity}", source=source)
        if isinstance(item, SkippedPart | UnreadablePart):
            return item
        raise self._failed("yields something that is no item")

    def _failed(self, what: str) -> UserError:
        return UserError(Code.IMPORT_REFUSED, f"The importer “{self._name}” {what}; nothing was imported.")
