"""Which addresses may be called: this machine, or what the person confirmed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.errors import Code, LociError
from core.llm.server_address import parse_address

NAMES = {
    "localhost": ("::1", "127.0.0.1"),
    "mixed": ("127.0.0.1", "192.0.2.7"),
    "away": ("192.0.2.7",),
    "nonsense": ("what",),
}


def resolve(name: str) -> Sequence[str]:
    return NAMES.get(name, ())


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("127.8.8.8", "http://127.8.8.8:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]:99", "http://[::1]:99"),
        ("https://[::1]", "https://[::1]:11434"),
        (" localhost ", "http://127.0.0.1:11434"),
    ],
)
def test_this_machine_is_called_by_its_address(host: str, url: str) -> None:
    place = parse_address(host, resolve=resolve)
    assert (place.url, place.loopback) == (url, True)


@pytest.mark.parametrize(
    "host",
    ["192.0.2.7", "0.0.0.0", "::", "away:80", "mixed", "unknown", "nonsense", "169.254.169.254", "2130706433"],  # noqa: S104
)
def test_another_machine_needs_the_persons_word(host: str) -> None:
    with pytest.raises(LociError) as caught:
        parse_address(host, resolve=resolve)
    assert caught.value.code is Code.ACCESS_DENIED
    assert not parse_address(host, beyond=True, resolve=resolve).loopback


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1:0",
        "127.0.0.1:70000",
        "ftp://127.0.0.1",
        "http://127.0.0.1@192.0.2.7",
        "127.0.0.1/api",
        "127.0.0.1#x",
        "127.0.0.1\n192.0.2.7",
        "user:pass@127.0.0.1",
        "a b",
        "127.0.0.1:port",
        "http://",
    ],
)
def test_what_is_no_address_is_refused_though_confirmed(host: str) -> None:
    with pytest.raises(LociError) as caught:
        parse_address(host, beyond=True, resolve=resolve)
    assert caught.value.code is Code.CONFIG_INVALID
    assert host == "" or host not in caught.value.sentence
