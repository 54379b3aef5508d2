"""How the window looks and behaves: options that live outside the vault, because the unlock page needs them too.

Must not do: touch the disk (`core.engine.home.window_file` does), hold anything of the vault.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.config.option_rows import field_extra

_THEMES = {"system": "Match system", "light": "Light", "dark": "Dark"}
_SIZES = {"100": "100 %", "110": "110 %", "125": "125 %", "150": "150 %"}
_PAGES = {
    "last": "The one shown last",
    "palace": "Palace",
    "graph": "Graph",
    "library": "Library",
    "review": "Review",
    "recall": "Recall",
    "timeline": "Timeline",
    "journal": "Journal",
    "settings": "Settings",
}


class WindowOptions(BaseModel):
    """All options of the window with their defaults; frozen, replaced as a whole when one changes."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    theme: Literal["system", "light", "dark"] = Field(
        default="system",
        title="Theme",
        description="Light or dark, or the same as your system.",
        json_schema_extra=field_extra("Appearance", choices=_THEMES),
    )
    text_size: int = Field(
        default=100,
        ge=100,
        le=150,
        title="Text size",
        description="Size of all text and controls.",
        json_schema_extra=field_extra("Appearance", unit="%", choices=_SIZES),
    )
    reduced_motion: bool = Field(
        default=False,
        title="Reduced motion",
        description="No animation.",
        json_schema_extra=field_extra("Appearance"),
    )
    first_page: Literal["last", "palace", "graph", "library", "review", "recall", "timeline", "journal", "settings"] = (
        Field(
            default="last",
            title="First page",
            description="The page that is shown after unlocking.",
            json_schema_extra=field_extra("Window", choices=_PAGES),
        )
    )
    close_to_tray: bool = Field(
        default=False,
        title="Close to the tray",
        description="Closing the window keeps Loci running in the tray, so that assistants can still reach it.",
        json_schema_extra=field_extra("Window"),
    )
    idle_lock_minutes: int = Field(
        default=15,
        ge=0,
        le=240,
        title="Lock when idle",
        description="Minutes without keyboard or mouse until the vault is locked. 0 never locks it.",
        json_schema_extra=field_extra("Window", unit="minutes"),
    )
    lock_with_system: bool = Field(
        default=True,
        title="Lock with the computer",
        description="Lock the vault when the screen is locked and before the computer sleeps, where the "
        "desktop allows it.",
        json_schema_extra=field_extra("Window"),
    )
    clipboard_s: int = Field(
        default=60,
        ge=0,
        le=3600,
        title="Clear the clipboard",
        description="Seconds until what you copied from Loci is removed from the clipboard. 0 leaves it there until "
        "the vault is locked.",
        json_schema_extra=field_extra("Window", unit="seconds"),
    )
