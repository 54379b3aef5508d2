"""`resources/protocol.json` as it stands, read once: the methods and what they do, without any checking of calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def protocol_document() -> Mapping[str, Any]:
    """The document; shared, so nobody changes it."""
    document: Mapping[str, Any] = json.loads(files("resources").joinpath("protocol.json").read_text("utf-8"))
    return document
