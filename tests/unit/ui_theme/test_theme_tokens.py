"""The tokens: complete, well formed, alike in both themes, and readable by the formula of WCAG 2.2."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, asdict, fields
from importlib.resources import files
from itertools import pairwise
from typing import Any, get_args

import pytest
from contrast import Pair, contrast, load_pairs
from hypothesis import given
from hypothesis import strategies as st

from core.types.values import Kind
from ui.theme import tokens as module
from ui.theme.tokens import Colours, FontRole, Tokens, load_tokens

RAW: dict[str, Any] = json.loads((files("resources") / "themes" / "tokens.json").read_text("utf-8"))
THEMES = sorted(load_tokens())
PAIRS = [(use, pair) for use, pairs in load_pairs().items() for pair in pairs]
# The direction's own table: what was agreed must not drift.
AGREED = {
    "background": ("#F6F4F0", "#14161A"),
    "surface": ("#FFFFFF", "#1B1E23"),
    "raised": ("#FBFAF7", "#20242A"),
    "line": ("#E3DFD8", "#2C3138"),
    "ink": ("#20242A", "#E9E7E3"),
    "muted": ("#656B74", "#9BA2AC"),
    "faint": ("#9AA0A8", "#6C737D"),
    "accent": ("#0E6F68", "#45BBAE"),
    "accent_soft": ("#DDEFEC", "#17332F"),
    "danger": ("#B3261E", "#F2857B"),
    "danger_soft": ("#FBE9E7", "#3A1F1D"),
    "warning": ("#8F6000", "#E2B454"),
    "warning_soft": ("#FFF3D6", "#352B14"),
    "success": ("#2E7D32", "#7CC47F"),
    "kind_episode": ("#4F74AD", "#7FA3DA"),
    "kind_fact": ("#0E6F68", "#45BBAE"),
    "kind_rule": ("#B7791F", "#E2B454"),
    "kind_procedure": ("#7C5AB8", "#B398E6"),
    "kind_digest": ("#B34A66", "#E58BA2"),
}
HEX = st.from_regex(r"#[0-9A-F]{6}", fullmatch=True)


def theme(name: str) -> Tokens:
    return load_tokens()[name]


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("use", "pair"), PAIRS, ids=[f"{use}-{p.front}-{p.back}" for use, p in PAIRS])
def test_every_pair_can_be_read(name: str, use: str, pair: Pair) -> None:
    assert pair.minimum == {"text": 4.5, "marks": 3.0}[use]
    ratio = contrast(theme(name).colour(pair.front), theme(name).colour(pair.back))
    assert ratio >= pair.minimum, f"{ratio:.2f}"


def test_faint_is_never_text() -> None:
    assert not [pair for _, pair in PAIRS if "faint" in {pair.front, pair.back}]


def test_what_must_be_seen_is_in_a_pair() -> None:
    fronts = {use: {pair.front for kind, pair in PAIRS if kind == use} for use in ("text", "marks")}
    assert fronts["text"] >= {"ink", "muted", "accent", "danger", "warning", "success", "on_accent", "on_danger"}
    assert fronts["marks"] >= {
        "focus",
        "outline",
        *(f"kind_{kind}" for kind in Kind),
        *(f"trust_{n}" for n in range(5)),
    }


def test_both_themes_say_the_same_things() -> None:
    light, dark = RAW["themes"]["light"], RAW["themes"]["dark"]
    assert list(light) == list(dark)
    assert list(light["kinds"]) == list(dark["kinds"]) == list(Kind)
    assert set(theme("light").colours()) == set(theme("dark").colours())
    assert THEMES == ["dark", "light"]


@pytest.mark.parametrize("name", THEMES)
def test_every_colour_is_one(name: str) -> None:
    broken = {
        role: value
        for role, value in theme(name).colours().items()
        if not re.fullmatch(r"#([0-9A-F]{2})?[0-9A-F]{6}" if role in {"shadow", "overlay"} else r"#[0-9A-F]{6}", value)
    }
    assert not broken


@pytest.mark.parametrize(("role", "agreed"), AGREED.items())
def test_the_agreed_colours_stand(role: str, agreed: tuple[str, str]) -> None:
    assert (theme("light").colour(role), theme("dark").colour(role)) == agreed


@pytest.mark.parametrize("name", THEMES)
def test_attributes_and_names_agree(name: str) -> None:
    tokens = theme(name)
    scales = ("kind_", "trust_", "tint_")
    plain = {role: value for role, value in tokens.colours().items() if not role.startswith(scales)}
    assert plain == {role: getattr(tokens, role) for role in plain}
    assert set(plain) == {field.name for field in fields(Colours)}
    assert {f"kind_{kind}": value for kind, value in tokens.kinds.items()}.items() <= tokens.colours().items()
    assert tokens.name == name
    with pytest.raises(KeyError, match="purple"):
        tokens.colour("purple")


@pytest.mark.parametrize("name", THEMES)
def test_trust_stands_out_more_the_higher_it_is(name: str) -> None:
    tokens = theme(name)
    ratios = [contrast(step, tokens.surface) for step in tokens.trust]
    assert all(low * 1.1 < high for low, high in pairwise(ratios)), ratios


@pytest.mark.parametrize(
    ("trust", "step"), [(-0.5, 0), (0.0, 0), (0.19, 0), (0.2, 1), (0.5, 2), (0.79, 3), (0.8, 4), (1.0, 4), (7.0, 4)]
)
def test_trust_falls_on_a_step(trust: float, step: int) -> None:
    assert theme("light").trust_colour(trust) == theme("light").trust[step]


def test_type_scale_and_measures() -> None:
    tokens = theme("light")
    assert set(tokens.type) == set(get_args(FontRole))
    scale = {role: (style.size, style.weight, style.family) for role, style in tokens.type.items()}
    assert scale["body"] == (13, 400, "text")
    assert scale["label"] == (11, 600, "text")
    assert scale["section"] == (15, 600, "text")
    assert scale["title"] == (20, 600, "display")
    assert scale["quote"] == (18, 500, "display")
    assert (tokens.radii.card, tokens.radii.control) == (12, 8)
    assert (tokens.sizes.control, tokens.sizes.field) == (32, 38)
    assert (tokens.sizes.rail, tokens.sizes.list, tokens.sizes.inspector) == (72, 300, 360)
    assert all(size % 2 == 0 for size in asdict(tokens.spacing).values())
    assert list(asdict(tokens.spacing).values()) == sorted(set(asdict(tokens.spacing).values()))


def test_nobody_can_change_them() -> None:
    tokens = theme("light")
    with pytest.raises(FrozenInstanceError):
        tokens.ink = "#000000"  # type: ignore[misc]  # a default of a lambda has no type
    with pytest.raises(TypeError):
        tokens.colours()["ink"] = "#000000"  # type: ignore[index]
    assert load_tokens() is load_tokens()


SPOILT = {
    "colour": (("themes", "dark", "ink"), "ink"),
    "alpha": (("themes", "dark", "ink"), "#00E9E7E3"),
    "trust": (("themes", "dark", "trust"), ["#97764F"]),
    "kind": (("themes", "dark", "kinds"), {"fact": "#45BBAE"}),
    "type": (("type",), {}),
}


@pytest.mark.parametrize(("path", "value"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_is_refused(path: tuple[str, ...], value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads(json.dumps(RAW))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    monkeypatch.setattr(module, "_read_tokens", lambda: data)
    with pytest.raises(ValueError, match=r"token|theme dark needs|type scale"):
        load_tokens.__wrapped__()


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [
        ("#000000", "#FFFFFF", 21.0),
        ("#777777", "#FFFFFF", 4.478),
        ("#FF0000", "#FFFFFF", 3.998),
        ("#0000ff", "#000000", 2.444),
    ],
)
def test_known_contrasts(a: str, b: str, ratio: float) -> None:
    assert contrast(a, b) == pytest.approx(ratio, abs=0.001)


@given(HEX, HEX)
def test_contrast_is_a_ratio(a: str, b: str) -> None:
    assert 1.0 <= contrast(a, b) <= 21.0 + 1e-9
    assert contrast(a, b) == contrast(b, a)
    assert contrast(a, a) == 1.0


@pytest.mark.parametrize("colour", ["ink", "#FFF", "#14202429", "#GGGGGG", "#FFFFFF\n", ""])
def test_contrast_wants_solid_colours(colour: str) -> None:
    with pytest.raises(ValueError, match="solid"):
        contrast(colour, "#000000")
