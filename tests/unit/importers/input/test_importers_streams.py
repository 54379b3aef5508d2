"""Lines, texts and JSON elements: encodings, caps, strictness, surrogates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from importer_checks import memory_bundle

from core.errors import Code, UserError
from core.importers.input import streams, strict_json
from core.importers.input.source import SourceFile
from core.importers.input.streams import (
    BadJson,
    iter_json_array,
    key_paths,
    mended_count,
    parse_json_text,
    read_file_lines,
    read_head,
    read_head_text,
    read_json,
    read_whole_text,
    replace_surrogates,
)


def file(data: bytes | str) -> SourceFile:
    return memory_bundle({"x.json": data}).files[0]


def values(data: bytes | str, *prefixes: str) -> list[Any]:
    return [parsed.value for parsed in iter_json_array(file(data), prefixes or ("",))]


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"\n\na\r\n\rb", ["", "", "a", "\rb"]),
        (b"a\r\r\n", ["a\r"]),
        ("a\u2028b\x0bc\x85d".encode(), ["a\u2028b\x0bc\x85d"]),
        (b"\xef\xbb\xbfa\xef\xbb\xbf", ["a\ufeff"]),
        ("é\nü".encode("utf-16"), ["é", "ü"]),
        ("é\nü\n".encode("utf-16-be").join([b"\xfe\xff", b""]), ["é", "ü"]),
        (b"a\0b\n", ["a\0b"]),
    ],
)
def test_lines(data: bytes, want: list[str]) -> None:
    lines = read_file_lines(file(data))
    assert list(lines) == list(enumerate(want, 1))
    assert lines.complete_last == (not data or data.endswith((b"\n", "\n".encode("utf-16-le"))))
    assert lines.flags == set()


def test_lines_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = "één\nzwei\r\n\nd🌊rei".encode()
    for size in range(1, 12):
        monkeypatch.setattr(strict_json, "CHUNK", size + 2)
        assert [text for _, text in read_file_lines(file(data))] == ["één", "zwei", "", "d🌊rei"]


def test_the_ladder_of_encodings() -> None:
    lines = read_file_lines(file(b"caf\xe9 \x80\nplain\n\x81\xe9\n"))
    seen = [(text, set(lines.line_flags)) for _, text in lines]
    assert seen == [("café €", {"encoding_guessed"}), ("plain", set()), ("\ufffd\ufffd", {"encoding_replaced"})]
    assert lines.flags == {"encoding_guessed", "encoding_replaced"}


def test_one_damaged_byte_in_utf8_does_not_spoil_the_rest() -> None:
    lines = read_file_lines(file("é\n".encode() + b"a\xffb\n"))
    assert [text for _, text in lines] == ["é", "a\ufffdb"]
    assert read_whole_text(file("é ".encode() + b"\xff")) == ("é \ufffd", frozenset({"encoding_replaced"}))


def test_half_a_unit_of_utf16_and_a_lone_half_character() -> None:
    lines = read_file_lines(file("ab".encode("utf-16") + b"c"))
    assert [text for _, text in lines] == ["ab\ufffd"]
    assert lines.flags == {"encoding_replaced"}
    lone = b"\xff\xfe" + "a\ud83d".encode("utf-16-le", "surrogatepass")
    assert read_whole_text(file(lone)) == ("a\ufffd", frozenset({"surrogates_replaced"}))


def test_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LINE_CAP", 10)
    monkeypatch.setattr(strict_json, "CHUNK", 4)
    assert [text for _, text in read_file_lines(file("0123456789\nab"))] == ["0123456789", "ab"]
    for call in (
        lambda: list(read_file_lines(file("a\n" + "b" * 20))),
        lambda: read_whole_text(file("b" * 20), cap=10),
        lambda: read_json(file("[1,2,3,4,5,6]"), cap=10),
    ):
        with pytest.raises(UserError, match=r"x\.json") as error:
            call()
        assert error.value.code is Code.IMPORT_REFUSED
    monkeypatch.setattr(strict_json, "ELEMENT_CAP", 10)
    with pytest.raises(UserError, match="longer than"):
        values('["' + "b" * 20 + '"]')


def test_whole_text_keeps_line_ends_and_nul() -> None:
    assert read_whole_text(file(b"\xef\xbb\xbfa\r\nb\0\r")) == ("a\r\nb\0\r", frozenset())


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a\ud83d", ("a\ufffd", 1)),
        ("\udf0a\ud83c", ("\ufffd\ufffd", 2)),
        ("\ud83c\udf0a", ("🌊", 0)),
        ("\ud83c\ud83c\udf0a\udf0a", ("\ufffd🌊\ufffd", 2)),
        ("plain é 🌊 \ufffd", ("plain é 🌊 \ufffd", 0)),
    ],
)
def test_replace_surrogates(text: str, want: tuple[str, int]) -> None:
    assert replace_surrogates(text) == want


def test_strict_json_mends_and_counts_every_string() -> None:
    parsed = parse_json_text(r'{"k\ud800": ["a\udc00\ud83d", {"b": "🌊"}, "\\ud83d"], "u": "\ud83d\u0041"}')
    assert parsed.value == {"k\ufffd": ["a\ufffd\ufffd", {"b": "🌊"}, "\\ud83d"], "u": "\ufffdA"}
    assert parsed.surrogates == 4
    assert mended_count(parsed.value["k\ufffd"][0]) == 2
    assert mended_count(parsed.value["k\ufffd"][1]["b"]) == 0
    assert parse_json_text(r'"\ud83d"').value == "\ufffd"


@pytest.mark.parametrize(
    "text",
    [
        "NaN", "[Infinity]", "[-Infinity]", "1e999", "-1e999", "", " ", "{", "[1,]", "{'a': 1}",
        "[1] 2", '"a', '"\n"', '"\\x"',
        "[" * 513 + "]" * 513, "[" * 100_000, '{"a":' * 600 + "1" + "}" * 600, "1" * 5000,
        "nul", "\ufeff1", "[01]", "// x\n1",
    ],
)  # fmt: skip
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(BadJson) as error:
        parse_json_text(text)
    assert error.value.__cause__ is None
    assert len(error.value.reason) < 100
    with pytest.raises(UserError):
        values("[" + text) if text else values("")


def test_depth_counts_nesting_not_brackets() -> None:
    assert parse_json_text("[" * 512 + "]" * 512).surrogates == 0
    assert len(parse_json_text("[" + "[]," * 600 + '"' + "[" * 600 + '\\""]').value) == 601


def test_duplicate_keys_the_last_wins() -> None:
    assert parse_json_text('{"a": 1, "a": 2}').value == {"a": 2}


@pytest.mark.parametrize(
    ("text", "prefixes", "want"),
    [
        ("[1, null, [2], {}]", ("",), [1, None, [2], {}]),
        (" \n[ ] ", ("",), []),
        ('{"results": [], "memories": [1]}', ("", "results", "memories"), [1]),
        ('{"n": {"results": [9]}, "results": [1]}', ("results",), [1]),
        ('{"a": [1]}', ("b",), []),
        ("[1]", ("a",), []),
        ("7", ("",), []),
        ('{"": [1]}', ("",), []),
        ('{"results": {"a": 1}}', ("results",), []),
        ('["\\"]", "a\\\\"]', ("",), ['"]', "a\\"]),
    ],
)
def test_array_elements(text: str, prefixes: tuple[str, ...], want: list[Any]) -> None:
    assert values(text, *prefixes) == want


@pytest.mark.parametrize(
    "text",
    ["", "[1 2]", "[1,]", "[,1]", "[1", '["a', "[1]]", "[1] x", '{"a" 1}', '{"a":}', '{"a":1', "{1:2}", '{"a":1,}',
     '[{"a": NaN}]', '{"a": [1], "b": NaN}', "[}", "[1}", '[{"a":1]}', "{]", '["a" "b"]', "[\x00]"],
)  # fmt: skip
def test_arrays_that_are_no_json_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="not valid JSON") as error:
        values(text, "", "a")
    assert error.value.code is Code.IMPORT_REFUSED


def test_elements_before_the_damage_are_given_first() -> None:
    elements = iter_json_array(file('[{"a": 1}, {"b": }]'), ("",))
    assert next(elements).value == {"a": 1}
    with pytest.raises(UserError):
        next(elements)


def test_json_in_other_encodings() -> None:
    assert values('["é"]'.encode("utf-16")) == ["é"]
    assert values(b"\xef\xbb\xbf[1]") == [1]
    (parsed,) = iter_json_array(file('["é"]'.encode("cp1252")), ("",))
    assert (parsed.value, parsed.flags) == ("é", frozenset({"encoding_guessed"}))
    (parsed,) = iter_json_array(file(b'["\xed\xa0\xbd"]'), ("",))
    assert (parsed.value, parsed.surrogates) == ("\ufffd", 1)
    assert read_json(file(b"\xef\xbb\xbf{}")).value == {}


def test_heads() -> None:
    assert read_head(file(b"abcdef"), 3) == b"abc"
    assert read_head_text(file("é".encode("utf-16"))) == "é"
    assert read_head_text(file(b"\xef\xbb\xbfa\xc3")) == "a\ufffd"


def test_key_paths_of_a_cut_document() -> None:
    whole = json.dumps({"n": 1, "list": [{"a": {"b": [{"c": "x,{"}]}}, {"d": 1}]})
    assert key_paths(whole) == {
        "": {"n", "list"},
        "list[]": {"a", "d"},
        "list[].a": {"b"},
        "list[].a.b[]": {"c"},
    }
    for end in range(len(whole)):
        cut = key_paths(whole[:end])
        assert all(keys <= key_paths(whole)[path] for path, keys in cut.items())
    assert key_paths("words {") == {}
    assert key_paths("[" * 100_000) == {}
    assert key_paths("}") == key_paths("") == {}
