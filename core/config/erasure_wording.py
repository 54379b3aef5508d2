"""What an erasure certificate says, in lines: the same on the command line and in the window.

Must not do: decide how an erasure ended; say more than the certificate holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from core.config.help_strings import format_count, read_help_strings

_INDENT = "  "
_SHOWN_HOLDERS = 10
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; }}
h1 {{ font-size: 1.5em; }} h2 {{ font-size: 1.1em; margin-top: 1.5em; }} p {{ margin: .3em 0; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8em; background: #f4f4f4; padding: 1em; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<h2>{json_title}</h2>
<pre>{json}</pre>
</body>
</html>
"""


def erasure_words() -> Mapping[str, Any]:
    """The sentences of `resources/help/erasure.json`."""
    found: Mapping[str, Any] = read_help_strings("erasure")
    return found


def certificate_lines(certificate: Mapping[str, Any], when: str) -> list[str]:
    """A certificate in plain lines.

    Args:
        certificate: as JSON tells it.
        when: its time, in words.
    """
    words = erasure_words()
    head = words["erased"] if certificate["memories"] else words["nothing"]
    reasons = [format_count(words["reasons"][why], count) for why, count in sorted(certificate["reasons"].items())]
    first = (
        format_count(head, certificate["memories"], when=when) if certificate["memories"] else head.format(when=when)
    )
    return [
        words["id"].format(id=certificate["id"]),
        first,
        *([f"{', '.join(reasons)}."] if len(reasons) > 1 else []),
        " ".join([words["state"][certificate["state"]], *_held_lines(certificate)]),
        "",
        words["done"],
        *_done_lines(certificate["places"]),
        "",
        words["searched"],
        *(f"{_INDENT}{line}" for line in _searched_lines(certificate)),
        "",
        words["copies"],
        *(f"{_INDENT}{line}" for line in _copy_lines(certificate)),
        "",
        words["not_checked"],
        *(f"{_INDENT}{words['unchecked'][code]}" for code in certificate["not_checked"]),
        "",
        words["seal"][json.dumps(certificate["is_authentic"])].format(digest=certificate["digest"]),
    ]


def certificate_text(certificate: Mapping[str, Any], when: str) -> str:
    """A certificate to be read and handed on: its lines, and behind them the JSON that programs check.

    Args:
        certificate: as JSON tells it, with `is_authentic`.
        when: its time, in words.
    """
    words = erasure_words()
    head = (words["title"], "=" * len(words["title"]), "", *_readable_lines(certificate, when))
    return "\n".join([*head, "", words["json"], "", _as_json(certificate), ""])


def certificate_page(certificate: Mapping[str, Any], when: str) -> str:
    """As `certificate_text`, as a page for a browser that loads nothing and runs nothing.

    Args:
        certificate: as JSON tells it, with `is_authentic`.
        when: its time, in words.
    """
    words, lines = erasure_words(), _readable_lines(certificate, when)
    body = [_as_html(line) for line in lines]
    return _PAGE.format(
        title=escape(words["title"]),
        body="\n".join(body),
        json_title=escape(words["json"]),
        json=escape(_as_json(certificate)),
    )


def _readable_lines(certificate: Mapping[str, Any], when: str) -> list[str]:
    """Names of files come from elsewhere: nothing in them that does not print is written."""
    lines = certificate_lines(certificate, when)
    return ["".join(sign if sign.isprintable() else "?" for sign in line) for line in lines]


def _as_html(line: str) -> str:
    if not line:
        return ""
    is_heading = line in {erasure_words()[name] for name in ("done", "searched", "copies", "not_checked")}
    tag = "h2" if is_heading else "p"
    return f"<{tag}>{escape(line.strip())}</{tag}>"


def _as_json(certificate: Mapping[str, Any]) -> str:
    """The certificate itself, as its digest was made of; in ASCII."""
    return json.dumps({name: value for name, value in certificate.items() if name != "is_authentic"}, indent=1)


def preview_lines(preview: Mapping[str, Any]) -> list[str]:
    """What an erasure would take along, by kind.

    Args:
        preview: as JSON tells it.
    """
    words = erasure_words()["preview"]
    kinds = [format_count(words["kinds"][kind], count) for kind, count in sorted(preview["kinds"].items())]
    more = [format_count(words[name], preview[name]) for name in ("statements", "claims", "entities") if preview[name]]
    return [*kinds, *more]


def name_place(place: str) -> str:
    """A place that held something, as a person calls it."""
    return str(erasure_words()["place"].get(place, place.replace("_", " ")))


def _held_lines(certificate: Mapping[str, Any]) -> Iterator[str]:
    """Which copies keep it from being gone: those that hold it, and those of which nobody can tell."""
    if certificate["state"] != "held_by_backups":
        return
    states = [copy["state"] for copy in certificate["copies"]]
    holding = states.count("holds")
    unknown = sum(state not in ("holds", "clean", "rewritten") for state in states)
    for name, count in (("copies_hold", holding), ("copies_unknown", unknown)):
        if count:
            yield format_count(erasure_words()[name], count)


def _list_places(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name_place(place)} ({count:,})" for place, count in counts)


def _done_lines(places: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    words = erasure_words()
    for place in places:
        told = [format_count(words[name], place[name]) for name in ("removed", "changed", "left") if place[name]]
        if told:
            yield f"{_INDENT}{name_place(place['place'])}: {', '.join(told)}"


def _searched_lines(certificate: Mapping[str, Any]) -> Iterator[str]:
    words = erasure_words()
    if "interrupted" not in certificate["not_checked"]:
        yield words["tables"]
    pages = f"{certificate['pages']:,}"
    if not certificate["pages"]:
        yield words["pages_none"]
    elif certificate["pages_left"]:
        yield format_count(words["pages_left"], certificate["pages_left"], pages=pages)
    else:
        yield words["pages"].format(
            pages=pages, free=f"{certificate['free_pages']:,}", pieces=f"{certificate['fragments']:,}"
        )
    if certificate["same_words"]:
        yield format_count(words["same_words"], certificate["same_words"])
    if certificate.get("holders"):
        shown = [one[-8:] for one in certificate["holder_ids"][:_SHOWN_HOLDERS]]
        yield format_count(words["holders"], certificate["holders"], list=", ".join(shown))
    if certificate["named"]:
        yield words["named"].format(list=_list_places(sorted(certificate["named"].items())))
    shared = [(place["place"], place["words"]) for place in certificate["places"] if place["words"]]
    if shared:
        yield words["words"].format(list=_list_places(shared))


def _copy_lines(certificate: Mapping[str, Any]) -> Iterator[str]:
    words = erasure_words()
    if not certificate["copies"]:
        yield words["no_copies"]
    for copy in certificate["copies"]:
        form = words["copy"][copy["state"]]
        yield f"{copy['name']}  {form if isinstance(form, str) else format_count(form, copy['memories'])}"
    if any(copy["state"] == "other_keys" for copy in certificate["copies"]):
        yield words["other_keys"]
    if any(copy["state"] == "holds" for copy in certificate["copies"]):
        yield words["rewrite"].format(id=certificate["id"][-8:])
