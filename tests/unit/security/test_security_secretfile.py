from __future__ import annotations

import os
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.errors import Code, UserError
from core.security.passphrase import read_secret_file


@pytest.mark.parametrize(
    ("content", "secret"),
    [
        (b"open sesame", "open sesame"),
        (b"open sesame\n", "open sesame"),
        (b"open sesame\r\nsecond line\n", "open sesame"),
        (b" spaces stay \n", " spaces stay "),
        ("Bätterie ☃\n".encode(), "Bätterie ☃"),
        (b"\xef\xbb\xbfmarked\r\n", "marked"),
        (b"a\rb\n", "a\rb"),
        (b"x" * 4096, "x" * 4096),
        (b"x" * 4096 + b"\r\n" + b"y" * 100_000, "x" * 4096),
        (b"one\n" + b"\xff" * 10, "one"),
    ],
)
def test_first_line_without_its_end(tmp_path: Path, content: bytes, secret: str) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    assert read_secret_file(path) == secret


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\r\nnot this one\n",
        b"\xef\xbb\xbf\n",
        b"x" * 4097,
        b"x" * 4097 + b"\n",
        b"x" * 100_000,
        b"marker\xff\n",
        "marker".encode("utf-16"),
        b"mar\0ker\n",
        b"\xed\xa0\x80\n",
    ],
)
def test_empty_long_or_no_text_is_refused_without_repeating_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_secret_file(path)
    assert (caught.value.code, caught.value.exit_code) == (Code.WRONG_SECRET, 4)
    assert caught.value.__context__ is None
    assert "marker" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["absent", ".", "nul\0name"])
def test_what_cannot_be_read_is_refused_without_its_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError) as caught:
        read_secret_file(tmp_path / name)
    assert (caught.value.code, caught.value.exit_code) == (Code.VAULT_LOCKED, 4)
    assert str(tmp_path) not in str(caught.value)


def test_a_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("through\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_secret_file(tmp_path / "link") == "through"


@pytest.mark.skipif(os.name != "posix", reason="descriptors under /dev/fd")
def test_a_descriptor_that_stays_open_is_not_waited_for() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"from a pipe\n")
        assert read_secret_file(Path(f"/dev/fd/{reader}")) == "from a pipe"
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
def test_a_fifo_written_in_pieces(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(read_secret_file, fifo)
        with fifo.open("wb", buffering=0) as file:
            file.write(b"half and ")
            file.write(b"half\nrest")
        assert result.result(timeout=30) == "half and half"
