"""Where the socket lies and how it gets there."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import stat
from contextlib import closing, suppress
from pathlib import Path

import pytest
from ipc_peers import code_of

from core.errors import Code, LociError
from core.ipc.client.connection import connect_to
from core.ipc.protocol.transport import Place, check_directory, is_alive, peer_of, socket_place
from core.ipc.socket.listener import Listener


@pytest.fixture
def short(empty_home: Path) -> Path:
    """A directory whose socket paths fit."""
    return empty_home


async def nobody(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


def test_the_place_of_a_socket(short: Path) -> None:
    runtime, home = short / "run", short / "home"
    assert socket_place(home, home, runtime) == Place(runtime / "loci" / "loci.sock")
    assert socket_place(short / "other", home, runtime) == Place(short / "other" / "run" / "loci.sock")
    assert socket_place(home, home, None) == Place(home / "run" / "loci.sock")
    assert socket_place(home, home, short / "missing") == Place(home / "run" / "loci.sock")
    assert socket_place(home, home, runtime, short / "x.sock") == Place(short / "x.sock", chosen=True)


def test_a_long_home_gets_a_short_place(short: Path) -> None:
    runtime, deep = short / "run", short / ("d" * 120)
    found = socket_place(deep, short / "home", runtime)
    assert found.path.parent == runtime / "loci"
    assert found == socket_place(deep, short / "home", runtime)
    assert found != socket_place(deep / "e", short / "home", runtime)
    nowhere = socket_place(deep, short / "home", None)
    assert code_of(lambda: connect_to(nowhere, 1)) is Code.NOT_HERE
    assert code_of(lambda: Listener.bind_to(nowhere)) is Code.CONFIG_INVALID
    assert code_of(lambda: socket_place(deep, deep, runtime, deep / "s")) is Code.CONFIG_INVALID


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o177])
async def test_bound_aside_then_renamed(short: Path, umask: int) -> None:
    place = Place(short / "run" / "loci" / "loci.sock")
    before = os.umask(umask)
    try:
        listener = Listener.bind_to(place)
    finally:
        os.umask(before)
    (aside,) = place.path.parent.iterdir()
    assert stat.S_IMODE(aside.lstat().st_mode) == 0o600
    assert stat.S_IMODE(place.path.parent.lstat().st_mode) == 0o700
    await listener.serve(nobody)
    assert not place.path.exists()
    listener.publish_socket()
    assert [place.path] == list(place.path.parent.iterdir())
    assert listener.in_place()
    assert is_alive(place.path)
    await listener.close()
    assert not place.path.exists()
    assert not is_alive(place.path)


@pytest.mark.parametrize("turns", range(5))
async def test_who_is_accepted_while_the_listener_closes_is_ended_as_well(short: Path, turns: int) -> None:
    """No transport is left open until it is collected, at whichever turn of the loop the connection comes."""
    place = Place(short / "run" / "loci" / "loci.sock")
    listener = Listener.bind_to(place)
    await listener.serve(nobody)
    listener.publish_socket()
    with closing(connect_to(place, 5)) as peer:
        for _ in range(turns):
            await asyncio.sleep(0)
        await listener.close()
        for _ in range(5):
            await asyncio.sleep(0)
        gc.collect()  # a transport left open warns here, and a warning fails the test
        with suppress(ConnectionResetError):
            assert peer.recv(1) == b""


async def test_a_dead_socket_is_replaced(short: Path) -> None:
    place = Place(short / "run" / "loci" / "loci.sock")
    place.path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(os.fspath(place.path))
    listener = Listener.bind_to(place)
    await listener.serve(nobody)
    listener.publish_socket()
    assert is_alive(place.path)
    await listener.close()


async def test_somebody_else_at_a_chosen_path_is_left_alone(short: Path) -> None:
    place = Place(short / "run" / "mine.sock", chosen=True)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(os.fspath(place.path))
        other.listen()
        listener = Listener.bind_to(place)
        await listener.serve(nobody)
        assert code_of(listener.publish_socket) is Code.VAULT_BUSY
        await listener.close()
        assert is_alive(place.path)


async def test_what_is_no_socket_is_left_alone(short: Path) -> None:
    place = Place(short / "run" / "loci" / "loci.sock")
    place.path.parent.mkdir(mode=0o700)
    place.path.write_text("mine")
    listener = Listener.bind_to(place)
    await listener.serve(nobody)
    assert code_of(listener.publish_socket) is Code.CONFIG_INVALID
    await listener.close()
    assert place.path.read_text() == "mine"


async def test_another_ones_file_is_not_taken_away(short: Path) -> None:
    place = Place(short / "run" / "loci" / "loci.sock")
    listener = Listener.bind_to(place)
    await listener.serve(nobody)
    listener.publish_socket()
    place.path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(os.fspath(place.path))
        assert not listener.in_place()
        await listener.close()
        assert place.path.exists()


def test_directories_that_are_not_fit(short: Path) -> None:
    real = short / "real"
    real.mkdir(mode=0o700)
    link = short / "link"
    link.symlink_to(real)
    assert code_of(lambda: check_directory(Place(link / "s"))) is Code.CONFIG_INVALID
    assert code_of(lambda: Listener.bind_to(Place(link / "s"))) is Code.CONFIG_INVALID
    assert code_of(lambda: check_directory(Place(short / "missing" / "s"))) is Code.CONFIG_INVALID
    file = short / "file"
    file.write_text("")
    assert code_of(lambda: Listener.bind_to(Place(file / "s"))) is Code.CONFIG_INVALID


def test_own_directories_are_closed_and_chosen_ones_only_checked(short: Path) -> None:
    folder = short / "open"
    folder.mkdir()
    folder.chmod(0o777)
    assert code_of(lambda: check_directory(Place(folder / "s"))) is Code.CONFIG_INVALID
    assert code_of(lambda: Listener.bind_to(Place(folder / "s", chosen=True))) is Code.CONFIG_INVALID
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777
    folder.chmod(0o755)
    check_directory(Place(folder / "s", chosen=True))
    assert code_of(lambda: check_directory(Place(folder / "s"))) is Code.CONFIG_INVALID


def test_the_kernel_says_who_is_there() -> None:
    one, other = socket.socketpair()
    with one, other:
        found = peer_of(one)
    assert (found.uid, found.pid) == (os.geteuid(), os.getpid())
    assert found.program


def test_connecting_to_nobody(short: Path) -> None:
    place = Place(short / "run" / "loci" / "loci.sock")
    assert code_of(lambda: connect_to(place, 1)) is Code.NOT_HERE
    place.path.parent.mkdir(mode=0o700)
    assert code_of(lambda: connect_to(place, 1)) is Code.NOT_HERE


def test_where_no_socket_lies_loci_does_not_run_whatever_the_directory(short: Path) -> None:
    """A plugin that was given a path in a shared directory is told what is so, not that its directory is unfit."""
    (short / "open").mkdir(mode=0o777)
    (short / "open").chmod(0o777)
    path = short / "open" / "x.sock"
    assert code_of(lambda: connect_to(Place(path), 1)) is Code.NOT_HERE
    assert code_of(lambda: connect_to(Place(path, chosen=True), 1)) is Code.NOT_HERE


def test_errors_hold_no_path(short: Path) -> None:
    with pytest.raises(LociError) as caught:
        Listener.bind_to(Place(short / "planted-name" / "deeper" / "s"))
    assert "planted-name" not in caught.value.sentence
