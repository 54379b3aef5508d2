"""Every way the command line says no: exit codes 1 to 8, one sentence with a code, nothing harmed."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

from cli_rig import FIXTURES, PASSPHRASE, Palace, files_below, in_background
from vault_damage import KEY_FILES, PAGE, flip, page_of, rewrite_keys, set_schema_version

from core.engine.facade import Home, HomeKeys, create_vault
from core.security.keyring_client import KeyringEntry
from core.security.passphrase import KdfCost
from core.types.clock import SystemClock
from core.vault.files.lockfile import VaultLock

TEXT = "The spare keys hang behind the tide clock."


def vault_files(palace: Palace) -> dict[str, bytes | None]:
    """What must not change: the vault and its keys."""
    found = files_below(palace.home)
    return {name: found[name][1] for name in ("vault.db", "vault.keys", "vault.keys.bak") if name in found}


# --- 2: wrong usage


def test_wrong_usage_is_2(palace: Palace) -> None:
    before = vault_files(palace)
    with palace.shell() as shell:
        for arguments in (
            ("frobnicate",),
            ("remember",),
            ("remember", "one", "two"),
            ("recall", "x", "--limit", "many"),
            ("list", "--limit", "0"),
            ("list", "--kind", "thought"),
            ("remember", "x", "--source", "hearsay"),
            ("remember", "x", "--importance", "high"),
            ("import", "x", "--format", "wordstar"),
            ("show",),
            ("list", "--nonsense"),
            ("list", "--home", "elsewhere"),  # global options stand before the verb
        ):
            wrong = shell.run(*arguments)
            assert (wrong.code, wrong.out) == (2, ""), arguments
            assert wrong.err.startswith("Usage: loci ")
    assert vault_files(palace) == before
    assert palace.run("frobnicate").code == palace.run().code == 2


def test_a_file_that_is_not_there_and_a_missing_display_open_no_window(palace: Palace) -> None:
    with palace.shell() as shell:
        assert "no such file" in shell.run("open", "nowhere.loci").refused(2, "E4005")
        assert "loci import" in shell.run("open", str(palace.secret)).refused(1, "E4005")
        assert "loci import" in shell.run("open").refused(1, "E4005")


# --- 1 and 4: no vault, no secret, the wrong one


def test_without_a_vault_every_verb_says_so(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    with palace.shell() as shell:
        for arguments in (("list",), ("remember", "x"), ("status",), ("verify",), ("lock",), ("serve",), ("backup",)):
            sentence = shell.run(*arguments).refused(1, "E1010")
            assert "loci init" in sentence
    assert not palace.home.exists()


def test_a_wrong_passphrase_is_told_before_the_vault_is_touched(palace: Palace) -> None:
    before = files_below(palace.home)
    wrong = palace.folder / "wrong"
    wrong.write_text("something else\n", encoding="utf-8")
    for arguments in (("list",), ("remember", TEXT), ("lock",), ("serve",)):
        sentence = palace.run(*arguments, secret=wrong).refused(4, "E1006")
        assert "passphrase" in sentence
    after = files_below(palace.home)
    assert after.pop("guesses.json")
    assert after == before
    # The first line counts, without its end and with its blanks.
    wrong.write_bytes(PASSPHRASE.encode() + b"\r\nand more lines\n")
    assert palace.run("list", secret=wrong).code == 0
    wrong.write_bytes(PASSPHRASE.encode() + b" \n")
    palace.run("list", secret=wrong).refused(4, "E1006")


def test_without_a_secret_and_without_anybody_to_ask(palace: Palace) -> None:
    locked = palace.bare("--home", str(palace.home), "list")
    sentence = locked.refused(4, "E1001")
    assert "--passphrase-file" in sentence
    assert "locked" not in sentence  # it may be open: nobody looked
    with palace.shell() as shell:
        for content in (b"", b"\n", b"\xff\xfe\n"):
            palace.secret.write_bytes(content)
            shell.run("list").refused(4, "E1006")
        palace.secret.unlink()
        shell.run("list").refused(4, "E1001")


def test_home_and_secret_may_come_from_the_environment(palace: Palace) -> None:
    named = {"LOCI_HOME": str(palace.home), "LOCI_PASSPHRASE_FILE": str(palace.secret)}
    assert palace.bare("--json", "list", variables=named).document["total"] == 0
    # What is typed wins.
    elsewhere = {**named, "LOCI_HOME": str(palace.folder / "elsewhere")}
    assert palace.bare("--home", str(palace.home), "list", variables=elsewhere).code == 0
    palace.bare("list", variables=elsewhere).refused(1, "E1010")


def test_a_mistyped_recovery_code_is_told_as_such(palace: Palace) -> None:
    typed = palace.folder / "code"
    typed.write_text("AAAA-BBBB-CCCC-DDDD-EEEE-FFFF-GGGG-HHHH-IIII\n", encoding="utf-8")
    palace.run("list", secret=typed).refused(4, "E1006")


class _Keyring:
    """A keyring that works while a vault is made."""

    def __init__(self) -> None:
        self._keys: dict[bytes, bytes] = {}

    def probe(self) -> str:
        return "keyring.backends.SecretService.Keyring"

    def store(self, vault_id: bytes, kek: bytes) -> KeyringEntry:
        return KeyringEntry(self.probe(), self._keys.setdefault(vault_id, kek))

    def fetch(self, vault_id: bytes, backend: str) -> KeyringEntry:
        return KeyringEntry(backend, self._keys[vault_id])

    def fetch_counter(self, vault_id: bytes, place: str, backend: str) -> str:
        raise AssertionError("nothing is opened through it")

    def store_counter(self, vault_id: bytes, place: str, backend: str, sealed: str) -> None:
        raise AssertionError("nothing is opened through it")

    def remove_counter(self, vault_id: bytes, place: str, backend: str) -> None:
        raise AssertionError("nothing is opened through it")

    def remove(self, vault_id: bytes, backend: str) -> None:
        assert backend == self.probe()
        del self._keys[vault_id]


def test_a_missing_keyring_has_its_own_sentence(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    keys = HomeKeys(Home(palace.home), keyring=_Keyring())
    create_vault(keys, PASSPHRASE, SystemClock(), use_keyring=True, cost=KdfCost.lowest())
    before = vault_files(palace)
    missing = palace.bare("--home", str(palace.home), "list")
    assert "keyring" in missing.refused(4, "E1012").lower()
    assert palace.run("list").code == 0  # the passphrase opens it still
    assert vault_files(palace)["vault.keys"] == before["vault.keys"]


def test_init_with_a_keyring_that_is_missing_makes_nothing(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    palace.bare("--home", str(palace.home), "init", "--keyring").refused(4, "E1012")
    palace.run("init", "--keyring").refused(4, "E1012")
    assert not (palace.home / "vault.keys").exists()
    assert not (palace.home / "vault.db").exists()


# --- 3: somebody else has the vault


def test_a_vault_that_another_process_holds_is_3(palace: Palace) -> None:
    before = vault_files(palace)
    with VaultLock(palace.home / "vault.lock"):
        for arguments in (("list",), ("remember", TEXT), ("serve",), ("restore", str(_backup_of(palace)))):
            palace.run(*arguments).refused(3, "E1009")
    assert vault_files(palace) == before
    assert palace.run("list").code == 0


def _backup_of(palace: Palace) -> Path:
    """Something that is named like a backup; it is not looked at while the vault is held."""
    path = palace.folder / "some.tar"
    path.write_bytes(bytes(1024))
    return path


# --- 5: the key file


def test_one_damaged_key_file_is_mended_from_its_copy(palace: Palace) -> None:
    whole = (palace.home / KEY_FILES[0]).read_bytes()
    for name in KEY_FILES:
        flip(palace.home / name, 200)
        assert palace.run("list").code == 0
        assert [(palace.home / other).read_bytes() for other in KEY_FILES] == [whole, whole]


def test_damaged_key_files_are_5(palace: Palace) -> None:
    for at in (0, 30, 200, -3):
        for name in KEY_FILES:
            flip(palace.home / name, at)
        before = vault_files(palace)
        assert "key file" in palace.run("list").refused(5, "E1007")
        assert vault_files(palace) == before
        for name in KEY_FILES:
            flip(palace.home / name, at)  # back again
    assert palace.run("list").code == 0


def test_init_never_writes_over_damaged_keys(palace: Palace) -> None:
    (palace.home / "vault.db").unlink()
    for name in KEY_FILES:
        (palace.home / name).write_bytes(b"")
    palace.run("init").refused(1, "E1011")
    (palace.home / KEY_FILES[0]).unlink()
    palace.run("init").refused(1, "E1011")


# --- 6: the vault


def test_a_damaged_vault_is_6_and_each_damage_has_its_sentence(palace: Palace) -> None:
    palace.json("remember", TEXT)
    vault = palace.home / "vault.db"
    whole = vault.read_bytes()
    damages = {
        "header": bytes(PAGE) + whole[PAGE:],
        "cut": whole[:-100],
        "empty": b"",
        "plain": b"SQLite format 3\0" + whole[16:],
        "other key": whole[:20] + bytes([whole[20] ^ 1]) + whole[21:],
    }
    sentences = {}
    with palace.shell() as shell:
        for name, content in damages.items():
            vault.write_bytes(content)
            sentences[name] = shell.run("list").refused(6, "E1002")
            assert vault.read_bytes() == content
        vault.unlink()
        sentences["missing"] = shell.run("list").refused(6, "E1002")
        assert not vault.exists()
    assert len(set(sentences.values())) >= 5
    assert "unencrypted" in sentences["plain"]
    assert "empty" in sentences["empty"]
    assert "missing" in sentences["missing"]
    vault.write_bytes(whole)
    assert palace.json("list", "--text", TEXT)["total"] == 1


def test_verify_finds_a_flipped_byte_and_ends_with_6(palace: Palace) -> None:
    palace.json("import", str(FIXTURES / "generic" / "lighthouse-notes.jsonl"))
    flip(palace.home / "vault.db", page_of(palace.home, PASSPHRASE, "memories") + 4000)
    found = palace.run("--json", "verify")
    assert found.code == 6
    if found.out:  # the vault opened, and what is damaged is told check by check
        import json

        report = json.loads(found.out)
        assert report["status"] == "damaged"
        assert "failed" in {check["status"] for check in report["checks"].values()}
    else:
        found.refused(6, "E1002")


# --- 7: a newer version


def test_a_newer_key_file_is_7(palace: Palace) -> None:
    rewrite_keys(palace.home, {"v": 2})
    before = vault_files(palace)
    assert "newer" in palace.run("list").refused(7, "E1008")
    assert vault_files(palace) == before


def test_a_newer_vault_is_7(palace: Palace) -> None:
    set_schema_version(palace.home, PASSPHRASE, 999)
    before = vault_files(palace)
    assert "newer" in palace.run("list").refused(7, "E1008")
    palace.run("serve").refused(7, "E1008")
    assert vault_files(palace) == before


# --- 8: the disk


def test_a_full_disk_is_8_and_costs_nothing_that_was_saved(palace: Palace) -> None:
    first = palace.json("remember", TEXT)["memory_id"]
    size = (palace.home / "vault.db").stat().st_size
    notes, count = palace.folder / "notes.jsonl", 1000
    rows = (f'{{"text": "Note {number} of the long winter on the quay."}}\n' for number in range(count))
    notes.write_text("".join(rows), encoding="utf-8")
    full = palace.run("--json", "import", str(notes), file_bytes=size + PAGE)
    full.refused(8, "E1003")
    # With room again the import is finished or gone, as a whole, and what was saved is there.
    left = palace.everything()
    assert first in {item["id"] for item in left}
    assert len(left) in (1, 1 + count)
    status = palace.json("status")
    assert status["imports"].get("running", 0) == 0
    assert palace.json("verify")["status"] == "ok"
    again = palace.json("import", str(notes))
    assert again["stored"] + again["skipped"].get("known", 0) == count
    assert palace.json("list", "--limit", "1")["total"] == 1 + count


# --- 1: what is no file, and no place to be


def test_a_home_that_is_a_file_is_refused(palace: Palace) -> None:
    blocked = palace.folder / "file"
    blocked.write_text("mine", encoding="utf-8")
    refused = palace.bare("--home", str(blocked), "--passphrase-file", str(palace.secret), "init")
    assert refused.code == 1
    assert blocked.read_text(encoding="utf-8") == "mine"


def test_no_message_holds_what_was_typed(palace: Palace) -> None:
    """Sentences never repeat texts, queries or secrets."""
    secret = "quinquagesima-Marzipanturm"
    with palace.shell() as shell:
        for code, *arguments in (
            (2, "remember", f"{secret} \udcff"),
            (2, "recall", f"{secret} \udcff"),
            (2, "remember", secret, "--time", secret),
            (2, "remember", secret, "--claim", secret),
            (2, "list", "--status", secret),
            (1, "show", secret),
            (1, "undo", secret),
        ):
            refused = shell.run("--json", *arguments)
            assert refused.code == code
            assert secret not in refused.err + refused.out


# --- found in review


def test_a_vault_without_key_files_is_5_and_no_circle(palace: Palace) -> None:
    for name in KEY_FILES:
        (palace.home / name).unlink()
    for verb in ("status", "list", "verify", "serve"):
        assert (
            palace.run(verb).refused(5, "E1007") == "The key file is missing; restore a backup or put vault.keys back."
        )
    palace.run("init").refused(1, "E1011")


def test_a_damaged_vault_has_a_document_for_verify(palace: Palace) -> None:
    flip(palace.home / "vault.db", 40)
    told = palace.run("--json", "verify")
    assert (told.code, told.err.split(":")[0]) == (6, "E1002")
    assert json.loads(told.out) == {
        "status": "damaged",
        "checks": {"open": {"status": "failed", "note": "E1002"}},
    }


def test_a_home_too_long_for_a_socket_only_cannot_serve(palace: Palace) -> None:
    long = palace.folder / ("x" * 100)
    palace.home.rename(long)
    palace.home = long
    del palace.environment["XDG_RUNTIME_DIR"]
    assert palace.run("remember", TEXT).code == 0
    assert "LOCI_SOCKET" in palace.run("serve").refused(1, "E5003")


def test_an_output_of_another_encoding_ends_no_command(palace: Palace) -> None:
    variables = {"PYTHONIOENCODING": "latin-1"}
    assert palace.run("remember", "The kite is 凧 …", variables=variables).code == 0
    assert "凧" in palace.run("list", variables=variables).out


def test_a_command_waits_for_one_that_is_about_to_end(palace: Palace) -> None:
    with VaultLock(palace.home / "vault.lock"):
        waiting = in_background(lambda: palace.run("remember", TEXT))
        threading.Event().wait(1.5)
    assert waiting().code == 0
