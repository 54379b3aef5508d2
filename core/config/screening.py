"""The options of the injection scan: from which score on what happens to a text that reads like an instruction.

The defaults are those of E10.14.1 and E10.14.3; `core.text.screening.injection` reads them here. Must not do: decide
anything.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.config.option_rows import conflicting_options, field_extra

FLAG_ABOVE, BLOCK_ABOVE, HARD_ABOVE = 0.5, 0.7, 0.9
_GROUP = "Hidden instructions"
_ORDER = (
    "Of “Hidden instructions”, “Keep out of contexts above” may not be greater than “Do not show to assistants above”, "
    "and that not greater than “Ask you first above”: what is not shown must not be given unasked."
)


class ScreeningOptions(BaseModel):
    """Options of the scan; part of `Options`. Each is crossed by a score above it, the weaker one first."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    screen_flag: float = Field(
        default=FLAG_ABOVE,
        ge=0.2,
        le=0.95,
        title="Keep out of contexts above",
        description="How much a text must read like an instruction before assistants are not given it by themselves.",
        json_schema_extra=field_extra(_GROUP),
    )
    screen_block: float = Field(
        default=BLOCK_ABOVE,
        ge=0.2,
        le=0.95,
        title="Do not show to assistants above",
        description="How much a text must read like an instruction before an assistant that asks for it gets no word.",
        json_schema_extra=field_extra(_GROUP),
    )
    screen_hard: float = Field(
        default=HARD_ABOVE,
        ge=0.2,
        le=0.95,
        title="Ask you first above",
        description="How much a text from outside must read like an instruction before it waits for you.",
        json_schema_extra=field_extra(_GROUP),
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.screen_flag <= self.screen_block <= self.screen_hard:
            raise conflicting_options(_ORDER, "screen_flag", "screen_block", "screen_hard")
        return self
