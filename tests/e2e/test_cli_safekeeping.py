"""Making, backing up, restoring, locking: what keeps a person from losing a vault."""

from __future__ import annotations

import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cli_rig import PASSPHRASE, Palace, files_below

FIRST = "The brass plate is under the third stair."
SECOND = "The sea keeps its own minutes."


def test_init_makes_a_vault_once_and_shows_the_code_once(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    made = palace.run("init", "--json", fresh=True)  # at the cost of a person's key
    reply = made.document
    assert reply["home"] == str(palace.home)
    assert len(reply["recovery_code"].replace("-", "")) == 36
    assert made.err.count("\n") == 1
    assert reply["recovery_code"] not in made.err
    found = files_below(palace.home)
    assert {"vault.db", "vault.keys", "vault.keys.bak", "vault.head", "vault.lock", "reserve.bin"} <= set(found)
    assert stat.S_IMODE(palace.home.stat().st_mode) == 0o700
    for name, (mode, _) in found.items():
        assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), name
    for name, (_, content) in found.items():
        assert reply["recovery_code"].encode() not in (content or b""), name
    # It never overwrites, whatever is asked.
    for arguments in (("init",), ("init", "--json"), ("init", "--test-clock"), ("init", "--keyring")):
        palace.run(*arguments).refused(1, "E1011")
    assert files_below(palace.home) == found
    # The code opens the vault; so does the passphrase, and only they.
    code = palace.folder / "code"
    for typed in (reply["recovery_code"], reply["recovery_code"].replace("-", "").lower()):
        code.write_text(typed + "\n", encoding="utf-8")
        assert palace.run("--json", "list", secret=code).document == {"items": [], "total": 0, "memories": 0}
    assert palace.run("list").code == 0


def test_init_in_words_shows_the_code(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    made = palace.run("init")
    assert made.code == 0
    (line,) = [line for line in made.out.splitlines() if "Recovery code" in line]
    assert len(line.split()[-1]) == 44


def test_init_asks_nobody_and_makes_nothing_without_a_passphrase(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    palace.bare("--home", str(palace.home), "init").refused(1, "E4005")
    empty = palace.folder / "empty"
    empty.write_text("\n", encoding="utf-8")
    palace.run("init", secret=empty).refused(4, "E1006")
    assert not palace.home.exists()


def test_init_leaves_strange_files_alone(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    palace.home.mkdir()
    (palace.home / "vault.db").write_text("my own notes", encoding="utf-8")
    palace.run("init").refused(1, "E1011")
    assert (palace.home / "vault.db").read_text(encoding="utf-8") == "my own notes"
    (palace.home / "vault.db").unlink()
    (palace.home / "vault.db").symlink_to(palace.folder / "nowhere")
    palace.run("init").refused(1, "E1011")
    assert not (palace.folder / "nowhere").exists()


def test_lock_leaves_a_locked_engine_locked(palace: Palace) -> None:
    with palace.serving(unlocked=False):
        head = (palace.home / "vault.head").stat().st_mtime_ns
        assert palace.json("lock") == {"state": "locked"}
        assert (palace.home / "vault.head").stat().st_mtime_ns == head


def test_init_says_that_it_ignores_a_moved_clock(palace: Palace) -> None:
    shutil.rmtree(palace.home)
    made = palace.run("init", variables={"LOCI_NOW": "+90d"})
    assert (made.code, "LOCI_NOW is ignored" in made.err) == (0, True)


def test_lock_without_an_engine(palace: Palace) -> None:
    assert palace.json("lock") == {"state": "locked"}
    assert palace.run("lock").code == 0


def test_a_backup_comes_back_and_the_old_vault_is_kept(palace: Palace) -> None:
    target = palace.folder / "kept.tar"
    with palace.shell() as shell:
        first = shell.json("remember", FIRST)["memory_id"]
        shell.json("pair", "notes-plugin")
        made = shell.json("backup", "--to", str(target))
        assert made["path"] == str(target)
        assert made["bytes"] == target.stat().st_size
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert FIRST.encode() not in target.read_bytes()
        second = shell.json("remember", SECOND)["memory_id"]
        restored = shell.run("--json", "restore", str(target))
        assert "before-restore" in restored.err
        reply = restored.document
        assert (reply["kept_old"], reply["dropped_clients"]) == (True, 1)
        assert abs(datetime.fromisoformat(reply["made_at"]) - datetime.now(UTC)) < timedelta(days=1)
        assert {item["id"] for item in shell.json("list")["items"]} == {first}
        assert shell.json("verify")["status"] == "ok"
        # A token that was known to the old vault is worth nothing.
        assert [row["state"] for row in shell.json("clients")["clients"]] == ["revoked"]
    # The vault that was here is whole, with everything in it.
    aside = palace.folder / "aside"
    aside.mkdir(mode=0o700)
    for name in ("vault.db", "vault.keys", "vault.head"):
        shutil.copy(palace.home / f"{name}.before-restore", aside / name)
    given = ["--home", str(aside), "--passphrase-file", str(palace.secret), "--json", "list"]
    assert {item["id"] for item in palace.bare(*given).document["items"]} == {first, second}


def test_a_backup_comes_back_into_an_empty_home(palace: Palace) -> None:
    palace.json("remember", FIRST)
    made = palace.json("backup")
    path = Path(made["path"])
    assert path.parent == palace.home / "backups"
    fresh = palace.folder / "fresh"
    given = ["--home", str(fresh), "--passphrase-file", str(palace.secret), "--json"]
    assert palace.bare(*given, "restore", str(path)).document["kept_old"] is False
    assert [item["text"] for item in palace.bare(*given, "list").document["items"]] == [FIRST]


def test_three_backups_are_kept_and_nothing_else_is_written_over(palace: Palace) -> None:
    with palace.shell() as shell:
        made = []
        for number in range(5):
            shell.json("remember", f"Change {number}.")
            made.append(Path(shell.json("backup")["path"]).name)
        kept = sorted(path.name for path in (palace.home / "backups").iterdir())
        assert kept == sorted(made[-3:])
        mine = palace.folder / "thesis.tar"
        mine.write_text("three years of work", encoding="utf-8")
        assert shell.run("backup", "--to", str(mine)).code == 1
        assert mine.read_text(encoding="utf-8") == "three years of work"
        shell.run("backup", "--to", str(palace.folder / "no" / "such" / "x.tar")).refused(1, "E4005")


def test_a_backup_that_is_not_whole_is_refused_and_the_vault_stays(palace: Palace) -> None:
    target = palace.folder / "kept.tar"
    with palace.shell() as shell:
        first = shell.json("remember", FIRST)["memory_id"]
        shell.json("backup", "--to", str(target))
        second = shell.json("remember", SECOND)["memory_id"]
        whole = target.read_bytes()
        written = len(whole.rstrip(b"\0"))  # behind it a tar has blocks of zeros
        half, middle = len(whole) // 2, bytearray(whole)
        middle[half] ^= 1
        damages = {
            "cut": whole[: written - 1],
            "half": whole[:half],
            "flipped": bytes(middle),
            "empty": b"",
            "other file": b"notes" * 400,
        }
        for name, content in damages.items():
            target.write_bytes(content)
            shell.run("--json", "restore", str(target)).refused(1, "E1014")
            assert {item["id"] for item in shell.json("list")["items"]} == {first, second}, name
            assert not list(palace.home.glob("*.before-restore"))
            assert not list(palace.home.glob(".restore-*"))
        target.unlink()
        shell.run("--json", "restore", str(target)).refused(1, "E2005")
        target.mkdir()
        shell.run("--json", "restore", str(target)).refused(1, "E1014")
        assert shell.json("verify")["status"] == "ok"


def test_a_backup_opens_with_its_own_secret_only(palace: Palace) -> None:
    palace.json("remember", FIRST)
    target = palace.folder / "kept.tar"
    palace.json("backup", "--to", str(target))
    wrong = palace.folder / "wrong"
    wrong.write_text("something else\n", encoding="utf-8")
    palace.run("restore", str(target), secret=wrong).refused(4, "E1006")
    assert palace.json("list")["total"] == 1


def test_nothing_is_readable_on_the_disk(palace: Palace) -> None:
    """A planted word is found in no file below the home once the vault is closed (and in none of the messages)."""
    planted = "quinquagesima-Marzipanturm"
    said = [
        palace.run("--json", "remember", f"The {planted} stands in the harbour."),
        palace.run("--json", "remember", "Another one.", "--category", planted, "--space", planted),
        palace.run("recall", planted),
        palace.run("backup"),
        palace.run("verify"),
    ]
    assert [one.code for one in said] == [0] * 5
    assert all(planted not in one.err for one in said)
    for name, (_, content) in files_below(palace.folder).items():
        assert planted.encode() not in (content or b""), name
        assert planted.encode("utf-16-le") not in (content or b""), name
        if name.startswith(palace.home.name):
            assert PASSPHRASE.encode() not in (content or b""), name
