"""The fonts: the vendored faces are what is drawn, in every weight and script, and figures line up."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from typing import get_args

import pytest
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetricsF, QRawFont
from PySide6.QtWidgets import QApplication

from ui.theme.theme import DISPLAY_FAMILY, TEXT_FAMILY, Families, load_fonts, make_font, make_tabular, scale_length
from ui.theme.tokens import FontRole

FONTS = files("resources") / "fonts"
TAGS = re.compile(r"- `([\w-]+\.ttf)` ([0-9a-f]{64})")


@pytest.fixture(autouse=True)
def families(qapp: QApplication) -> Families:
    return load_fonts()


def test_the_families(families: Families) -> None:
    assert families == Families("Inter", "Inter Display")


def test_a_second_call_registers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: object) -> int:
        raise AssertionError(data)

    monkeypatch.setattr(QFontDatabase, "addApplicationFontFromData", fail)
    assert load_fonts() == Families(TEXT_FAMILY, DISPLAY_FAMILY)


def test_provenance_names_every_face() -> None:
    told = dict(TAGS.findall((FONTS / "PROVENANCE.md").read_text("utf-8")))
    lying = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in FONTS.iterdir() if f.name.endswith(".ttf")}
    assert told == lying
    assert "SIL OPEN FONT LICENSE Version 1.1" in (FONTS / "LICENSE").read_text("utf-8")


ROLES = [
    ("body", "Inter", 13, 400, "Regular"),
    ("strong", "Inter", 13, 600, "SemiBold"),
    ("small", "Inter", 12, 400, "Regular"),
    ("caption", "Inter", 11, 400, "Regular"),
    ("label", "Inter", 11, 600, "SemiBold"),
    ("section", "Inter", 15, 600, "SemiBold"),
    ("title", "Inter Display", 20, 600, "SemiBold"),
    ("quote", "Inter Display", 18, 500, "Medium"),
    ("number", "Inter", 13, 400, "Regular"),
]


@pytest.mark.parametrize(("role", "family", "size", "weight", "face"), ROLES)
def test_the_face_that_is_drawn(role: str, family: str, size: int, weight: int, face: str) -> None:
    made = make_font(role)
    info, drawn = QFontInfo(made), QRawFont.fromFont(made)
    assert (info.family(), made.pixelSize(), info.weight()) == (family, size, weight)
    assert (drawn.familyName(), drawn.styleName()) == (family, face)


def test_every_role_is_told() -> None:
    assert {role for role, *_ in ROLES} | {"mono"} == set(get_args(FontRole))
    with pytest.raises(KeyError, match="headline"):
        make_font("headline")


def test_weights_have_outlines_of_their_own() -> None:
    widths = []
    for weight in (400, 500, 600, 700):
        made = QFont(TEXT_FAMILY)
        made.setPixelSize(40)
        made.setWeight(QFont.Weight(weight))
        widths.append(QFontMetricsF(made).horizontalAdvance("Hamburgefonstiv"))
    assert widths == sorted(set(widths))


@pytest.mark.parametrize("role", ["body", "strong", "title", "quote"])
def test_every_promised_script_is_in_one_face(role: str) -> None:
    drawn = QRawFont.fromFont(make_font(role))
    letters = "Aéßőşž Ωώέ Жїґџ ệưđ €−–—…“”‘’·×→←↑↓⌘ 0123456789"
    assert [letter for letter in letters if not drawn.supportsCharacter(ord(letter))] == []


def test_kerning_works() -> None:
    made = QFont(TEXT_FAMILY)
    made.setPixelSize(100)
    apart = sum(QFontMetricsF(made).horizontalAdvance(letter) for letter in "AVATo")
    assert QFontMetricsF(made).horizontalAdvance("AVATo") < apart - 5


def test_figures_line_up() -> None:
    number, body = QFontMetricsF(make_font("number", 200)), QFontMetricsF(make_font("body", 200))
    assert len({number.horizontalAdvance(digit * 8) for digit in "0123456789"}) == 1
    assert body.horizontalAdvance("11111111") < body.horizontalAdvance("00000000")


def test_tabular_leaves_the_given_font_alone() -> None:
    given = make_font("small")
    assert make_tabular(given).isFeatureSet(QFont.Tag("tnum"))
    assert not given.isFeatureSet(QFont.Tag("tnum"))


def test_labels_are_spaced_capitals() -> None:
    made = make_font("label", 200)
    assert made.capitalization() == QFont.Capitalization.AllUppercase
    assert made.letterSpacing() == pytest.approx(0.06 * 22, abs=1 / 64)  # Qt keeps sixty-fourths
    assert make_font("body").capitalization() == QFont.Capitalization.MixedCase


def test_ids_are_set_in_the_systems_fixed_font() -> None:
    system = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    assert make_font("mono").family() == system.family()
    assert make_font("mono", 150).pixelSize() == 18


@pytest.mark.parametrize(("scale", "size"), [(100, 13), (110, 14), (125, 16), (150, 20), (200, 26)])
def test_text_grows(scale: int, size: int) -> None:
    assert make_font("body", scale).pixelSize() == size == scale_length(13, scale)


@pytest.mark.parametrize("scale", [0, 99, 201, -100])
def test_text_neither_shrinks_nor_bursts(scale: int) -> None:
    with pytest.raises(ValueError, match="100 to 200"):
        make_font("body", scale)
