"""What a client calls a turn is a word that an audit row can bear, or it is refused by name."""

from __future__ import annotations

import pytest

from core.errors import UserError
from core.ipc.protocol.contract import load_registry


@pytest.mark.parametrize("turn", ["旅 garden garden", "a b", "", "-x", "x" * 65, "a\nb", "a\n"])
def test_a_turn_of_another_form_is_refused_by_name(turn: str) -> None:
    method = load_registry().methods["turn_end"]
    with pytest.raises(UserError, match="turn"):
        method.check_params({"session": "s", "turn": turn})


def test_a_turn_as_turn_begin_gives_it_is_taken() -> None:
    given = {"session": "s", "turn": "019ab3c4-0000-7000-8000-000000000001"}
    assert load_registry().methods["turn_end"].check_params(given)["turn"] == given["turn"]
