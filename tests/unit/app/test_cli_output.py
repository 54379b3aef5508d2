"""Nothing a vault holds steers the terminal it is printed on."""

from __future__ import annotations

import io
import json

from app.cli.output import Output

HOSTILE = "a\x1b[2J\x9b1m\u202e\u200b\u2028\ud800\nb"


def test_every_line_is_one_line_without_controls() -> None:
    out, err = io.StringIO(), io.StringIO()
    output = Output(as_json=False, out=out, err=err)
    output.print_line(HOSTILE)
    output.print_table([("space", HOSTILE)])
    output.print_note(HOSTILE)
    shown = "a<U+001B>[2J<U+009B>1m<U+202E><U+200B><U+2028><U+D800><U+000A>b"
    assert out.getvalue() == f"{shown}\nspace  {shown}\n"
    assert err.getvalue() == f"{shown}\n"


def test_a_document_holds_escapes_and_says_the_same() -> None:
    out = io.StringIO()
    Output(as_json=True, out=out).print_document({HOSTILE: [HOSTILE, "Tórshavn\U000e0041"]})
    assert json.loads(out.getvalue()) == {HOSTILE: [HOSTILE, "Tórshavn\U000e0041"]}
    assert "Tórshavn" in out.getvalue()
    assert not set("\x1b\x9b\u202e\u200b\u2028\ud800\U000e0041") & set(out.getvalue())
