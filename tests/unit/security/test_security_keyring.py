from __future__ import annotations

import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from keyring.backend import KeyringBackend
from keyring.errors import InitError, KeyringError, KeyringLocked, NoKeyringError, PasswordDeleteError, PasswordSetError

from core.errors import Code
from core.security import keyring_helper
from core.security.keyring_client import (
    TIMEOUT_S,
    HelperKeyring,
    KeyringCause,
    KeyringEntry,
    KeyringFaultError,
    helper_command,
)
from core.security.keyring_helper import ALLOWED, answer_request, backend_name, usable_backends

ID = bytes(range(16))
USER = "kek:000102030405060708090a0b0c0d0e0f"
KEK = bytes(range(32))
ROOT = str(Path(__file__).resolve().parents[3])


class Memory(KeyringBackend):
    priority = 9

    def __init__(self, failing: type[Exception] | None = None, forgets: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.calls: list[str] = []
        self.failing, self.forgets = failing, forgets

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if self.failing is not None:
            raise self.failing("test")

    def get_password(self, service: str, username: str) -> str | None:
        self._note("get")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._note("set")
        if not self.forgets:
            self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._note("delete")
        if (service, username) not in self.held:
            raise PasswordDeleteError("test")
        del self.held[service, username]


class Other(Memory):
    """Another class is another keyring."""


def ask(verb: str, *backends: KeyringBackend, **more: str) -> dict[str, Any]:
    return answer_request({"verb": verb, "service": "loci", "user": USER, **more}, backends)


def test_store_sets_reads_back_and_names_the_backend() -> None:
    memory = Memory()
    reply = ask("store", memory, secret=KEK.hex())
    assert reply == {"ok": True, "backend": backend_name(memory), "secret": KEK.hex()}
    assert memory.held == {("loci", USER): KEK.hex()}
    assert memory.calls == ["get", "set", "get"]
    assert ask("fetch", memory, backend=backend_name(memory))["secret"] == KEK.hex()


def test_store_never_overwrites_what_stands() -> None:
    memory = Memory()
    memory.held["loci", USER] = "ab" * 32
    assert ask("store", memory, secret=KEK.hex())["secret"] == "ab" * 32
    assert memory.calls == ["get"]


def test_a_counter_is_replaced_and_a_key_never() -> None:
    memory = Memory()
    counter, name = "seq:00:there", backend_name(memory)
    for told in ("1:aa", "2:bb"):
        assert ask("replace", memory, user=counter, backend=name, secret=told)["ok"]
    assert ask("fetch", memory, user=counter, backend=name)["secret"] == "2:bb"
    ask("store", memory, secret=KEK.hex())
    assert ask("replace", memory, backend=name, secret="2:bb") == {"ok": False, "cause": "refused"}
    assert ask("fetch", memory, backend=name)["secret"] == KEK.hex()


def test_a_keyring_that_forgets_is_found_out() -> None:
    assert ask("store", Memory(forgets=True), secret=KEK.hex()) == {"ok": False, "cause": "not_kept"}


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (KeyringLocked, "locked"),
        (InitError, "locked"),
        (NoKeyringError, "no_backend"),
        (PasswordSetError, "refused"),
        (KeyringError, "refused"),
    ],
)
@pytest.mark.parametrize("verb", ["store", "fetch", "remove"])
def test_an_error_is_told_by_cause_and_nothing_is_set(error: type[Exception], cause: str, verb: str) -> None:
    memory = Memory(failing=error)
    memory.held["loci", USER] = "ab" * 32
    assert ask(verb, memory, secret=KEK.hex()) == {"ok": False, "cause": cause}
    assert len(memory.calls) == 1
    assert "set" not in memory.calls
    assert memory.held == {("loci", USER): "ab" * 32}


def test_missing_entry_and_missing_backend() -> None:
    memory = Memory()
    assert ask("fetch", memory) == {"ok": False, "cause": "missing"}
    assert ask("remove", memory) == {"ok": False, "cause": "missing"}
    assert ask("fetch") == {"ok": False, "cause": "no_backend"}
    assert ask("mangle", memory) == {"ok": False, "cause": "refused"}
    assert ask("probe", memory) == {"ok": True, "backend": backend_name(memory)}


def test_fetch_asks_only_the_backend_the_slot_names() -> None:
    first, second = Memory(), Other()
    second.held["loci", USER] = KEK.hex()
    assert ask("fetch", first, second, backend=backend_name(second))["secret"] == KEK.hex()
    assert first.calls == []
    assert ask("fetch", first, backend=backend_name(second)) == {"ok": False, "cause": "changed_backend"}
    assert first.calls == []


def test_remove_deletes_the_one_entry() -> None:
    memory = Memory()
    memory.held = {("loci", USER): "a", ("loci", "kek:other"): "b"}
    assert ask("remove", memory, backend=backend_name(memory))["ok"] is True
    assert memory.held == {("loci", "kek:other"): "b"}


@pytest.mark.starts_process
def test_only_native_keyrings_are_loaded_whatever_is_installed_or_configured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Plaintext(Memory):
        priority = 99

    settings = tmp_path / "python_keyring"
    settings.mkdir()
    (settings / "keyringrc.cfg").write_text("[backend]\ndefault-keyring=keyring.backends.null.Keyring\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    assert Plaintext in KeyringBackend._classes
    assert {backend_name(each) for each in usable_backends()} <= set(ALLOWED)
    if sys.platform == "linux":
        assert usable_backends() == []
        with pytest.raises(KeyringFaultError) as caught:
            HelperKeyring().store(ID, KEK)
        assert caught.value.cause is KeyringCause.NO_BACKEND
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["keyringrc.cfg", "python_keyring"]


@pytest.mark.parametrize("name", ALLOWED)
def test_each_allowed_keyring_is_taken_when_it_runs_best_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module_name = name.rpartition(".")[0]

    class Weak(Memory):
        priority = 1
        viable = True

    class Strong(Memory):
        priority = 5
        viable = True

    class Absent(Memory):
        viable = False

    class Module:
        def __init__(self, module: str) -> None:
            self._chosen = Strong if module == module_name else Weak if module == ALLOWED[0][:-8] else Absent

        def __getattr__(self, attribute: str) -> type[Memory]:
            return self._chosen

    monkeypatch.setattr(importlib, "import_module", Module)
    found = usable_backends()
    assert isinstance(found[0], Strong)
    assert len(found) == (1 if name == ALLOWED[0] else 2)


# The child process.

CHILD = f"""
import json, os, sys
sys.path.insert(0, {ROOT!r})
from keyring.backend import KeyringBackend
from core.security import keyring_helper as helper

class Disk(KeyringBackend):
    priority = 5
    def _all(self):
        return json.load(open(sys.argv[1])) if os.path.exists(sys.argv[1]) else {{}}
    def get_password(self, service, username):
        return self._all().get(service + "/" + username)
    def set_password(self, service, username, password):
        with open(sys.argv[1] + ".cmdline", "wb") as file:
            file.write(open("/proc/self/cmdline", "rb").read() + repr(dict(os.environ)).encode())
        json.dump({{**self._all(), service + "/" + username: password}}, open(sys.argv[1], "w"))
    def delete_password(self, service, username):
        rest = self._all()
        rest.pop(service + "/" + username)
        json.dump(rest, open(sys.argv[1], "w"))

helper.usable_backends = lambda: [Disk()]
helper.main()
"""


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    return tmp_path / "entries.json"


def scripted(*arguments: str, timeout_s: float = 20.0) -> HelperKeyring:
    return HelperKeyring((sys.executable, "-I", "-c", *arguments), timeout_s)


@pytest.mark.starts_process
def test_store_fetch_and_remove_through_a_child(disk: Path) -> None:
    keyring = scripted(CHILD, str(disk))
    entry = keyring.store(ID, KEK)
    assert entry.kek == KEK
    assert json.loads(disk.read_text()) == {f"loci/{USER}": KEK.hex()}
    assert disk.stat().st_mode & 0o777 == 0o600  # the child is hardened: its umask is 077
    assert keyring.store(ID, bytes(32)).kek == KEK
    assert keyring.fetch(ID, entry.backend) == entry
    assert keyring.probe() == entry.backend
    with pytest.raises(KeyringFaultError) as caught:
        keyring.fetch(bytes(16), entry.backend)
    assert caught.value.cause is KeyringCause.MISSING
    with pytest.raises(KeyringFaultError) as caught:
        keyring.fetch(ID, "keyring.backends.kwallet.DBusKeyring")
    assert caught.value.cause is KeyringCause.CHANGED_BACKEND
    keyring.remove(ID, entry.backend)
    assert json.loads(disk.read_text()) == {}


@pytest.mark.starts_process
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_secret_is_in_no_command_line_and_no_environment(disk: Path) -> None:
    scripted(CHILD, str(disk)).store(ID, KEK)
    seen = Path(f"{disk}.cmdline").read_bytes()
    assert str(disk).encode() in seen
    assert KEK.hex().encode() not in seen


def say(reply: object) -> str:
    return f"print({json.dumps(reply)!r})"


@pytest.mark.starts_process
@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("raise SystemExit(3)", KeyringCause.REFUSED),
        ("raise RuntimeError('a secret')", KeyringCause.REFUSED),
        ("import os; os.abort()", KeyringCause.REFUSED),
        ("print('rubbish')", KeyringCause.REFUSED),
        ("print('[' * 3000)", KeyringCause.REFUSED),
        ("print('x' * 100000)", KeyringCause.REFUSED),
        (say([1]), KeyringCause.REFUSED),
        (say({"ok": 1}), KeyringCause.REFUSED),
        (say({"ok": False}), KeyringCause.REFUSED),
        (say({"ok": False, "cause": "locked"}), KeyringCause.LOCKED),
        (say({"ok": False, "cause": "not_kept"}), KeyringCause.NOT_KEPT),
        (say({"ok": False, "cause": ["x"]}), KeyringCause.REFUSED),
        (say({"ok": True, "backend": "b"}), KeyringCause.UNEXPECTED_ENTRY),
        (say({"ok": True, "backend": "b", "secret": "AB" * 32}), KeyringCause.UNEXPECTED_ENTRY),
        (say({"ok": True, "backend": "b", "secret": "ab" * 31}), KeyringCause.UNEXPECTED_ENTRY),
        (say({"ok": True, "secret": "ab" * 32}), KeyringCause.REFUSED),
    ],
)
@pytest.mark.parametrize(
    "call", [lambda keyring: keyring.store(ID, KEK), lambda keyring: keyring.fetch(ID, "b")], ids=["store", "fetch"]
)
def test_a_child_that_fails_is_a_keyring_fault(
    script: str, cause: KeyringCause, call: Callable[[HelperKeyring], object]
) -> None:
    with pytest.raises(KeyringFaultError) as caught:
        call(scripted(script))
    assert caught.value.cause is cause
    assert (caught.value.code, caught.value.exit_code) == (Code.KEYRING_UNAVAILABLE, 4)


@pytest.mark.starts_process
def test_a_child_that_cannot_start_is_a_keyring_fault(tmp_path: Path) -> None:
    with pytest.raises(KeyringFaultError) as caught:
        HelperKeyring([str(tmp_path / "none")]).probe()
    assert caught.value.cause is KeyringCause.REFUSED
    assert "none" not in str(caught.value)


@pytest.mark.starts_process
def test_a_child_that_hangs_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    hang = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(KeyringFaultError) as caught:
        scripted(hang, str(note), timeout_s=3).fetch(ID, "b")
    assert caught.value.cause is KeyringCause.TIMEOUT
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)
    assert TIMEOUT_S == 5.0


def test_every_cause_has_its_own_sentence() -> None:
    sentences = [KeyringFaultError(cause, "x").sentence for cause in KeyringCause]
    assert len(set(sentences)) == len(list(KeyringCause)) == 8


@pytest.mark.starts_process
def test_the_secret_is_in_no_repr_and_no_traceback() -> None:
    leaky = f"print({KEK.hex()!r})\nimport time\nif len(sys.argv) > 1: time.sleep(600)".replace(
        "import time", "import time, sys"
    )
    shown = [repr(KeyringEntry("b", KEK)), repr(scripted("")), repr(helper_command())]
    for keyring in (scripted(leaky), scripted(leaky, "hang", timeout_s=0.5)):
        with pytest.raises(KeyringFaultError) as caught:
            keyring.store(ID, KEK)
        shown.append("".join(traceback.format_exception(caught.value)))
        assert caught.value.__context__ is None
    text = "\n".join(shown)
    assert KEK.hex() not in text
    assert repr(KEK) not in text


def test_main_answers_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring_helper, "harden_process", lambda: None)
    monkeypatch.setattr(keyring_helper, "usable_backends", lambda: [Memory()])
    out = io.StringIO()
    request = json.dumps({"verb": "fetch", "service": "loci", "user": USER})
    assert keyring_helper.main(io.StringIO(request + "\nmore"), out) == 0
    assert out.getvalue() == '{"ok": false, "cause": "missing"}\n'
