"""Standard output and input of the command line: a full disk behind it, a reader that left, a text that comes in."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from away_rig import until
from cli_rig import MINUTE_S, Palace

TEXT = "The spare keys hang behind the tide clock."
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")


def into(palace: Palace, place: Path, *arguments: str) -> tuple[int, str]:
    """Run a command whose standard output goes to a place; its exit code and what it said on standard error."""
    with place.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "app", *palace.command(*arguments)],
            cwd=palace.folder,
            env=palace.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=2 * MINUTE_S,
            check=False,
        )
    return done.returncode, done.stderr.decode()


def left_alone(palace: Palace, *arguments: str) -> tuple[int, str]:
    """Run a command whose reader has left before it writes; its exit code and what it said."""
    with subprocess.Popen(
        [sys.executable, "-m", "app", *palace.command(*arguments)],
        cwd=palace.folder,
        env=palace.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        return process.wait(MINUTE_S), said


# ---- what cannot be written out


@needs_full
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_deed_that_cannot_be_told_is_done_all_the_same(palace: Palace, form: tuple[str, ...]) -> None:
    code, said = into(palace, FULL, *form, "remember", TEXT)
    assert code == 1
    assert said == "E5009: Done, but the result could not be written: standard output takes no more.\n"
    assert [item["text"] for item in palace.everything()] == [TEXT]


@needs_full
@pytest.mark.parametrize("arguments", [("list",), ("--json", "list"), ("remember", "--help"), ("--version",)])
def test_an_answer_that_cannot_be_written_out_changed_nothing(palace: Palace, arguments: tuple[str, ...]) -> None:
    code, said = into(palace, FULL, *arguments)
    assert code == 1
    assert said == "E5010: The answer could not be written: standard output takes no more. Nothing was changed.\n"


@needs_full
def test_a_rehearsal_that_cannot_be_told_changed_nothing(palace: Palace) -> None:
    file = palace.folder / "one.jsonl"
    file.write_text(json.dumps({"text": TEXT}) + "\n", encoding="utf-8")
    assert "Nothing was changed." in into(palace, FULL, "import", str(file), "--dry-run")[1]


@needs_full
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_pairing_whose_token_cannot_be_printed_is_taken_back(palace: Palace, form: tuple[str, ...]) -> None:
    code, said = into(palace, FULL, *form, "pair", "desk", "--grant", "read,space:boats")
    assert code == 1
    assert said == "E5010: The token could not be written, so the pairing was undone. Pair it again.\n"
    assert palace.json("clients")["clients"] == []
    assert "boats" not in palace.json("status")["spaces"]
    assert palace.json("pair", "desk")["token"]


@needs_full
def test_a_pairing_over_the_owners_channel_is_taken_back_too(palace: Palace) -> None:
    with palace.serving():
        assert "undone" in into(palace, FULL, "pair", "desk")[1]
        assert palace.json("clients")["clients"] == []


def test_a_pairing_whose_reader_left_is_taken_back(palace: Palace) -> None:
    code, said = left_alone(palace, "pair", "desk")
    assert (code, said[:6]) == (1, "E5010:")
    assert palace.json("clients")["clients"] == []


@needs_full
def test_a_recovery_code_that_cannot_be_printed_is_told_of(palace: Palace, tmp_path: Path) -> None:
    palace.home = tmp_path / "new"
    code, said = into(palace, FULL, "init")
    assert code == 1
    assert "recovery code" in said
    assert "loci passphrase --recovery-code" in said
    assert palace.json("list")["total"] == 0  # the vault is there, and its passphrase opens it


def test_a_process_without_a_standard_output_says_so(palace: Palace) -> None:
    words = " ".join(f"'{word}'" for word in [sys.executable, "-m", "app", *palace.command("pair", "desk")])
    done = subprocess.run(
        ["bash", "-c", f"exec {words} >&-"],
        cwd=palace.folder,
        env=palace.environment,
        capture_output=True,
        timeout=MINUTE_S,
        check=False,
    )
    assert (done.returncode, done.stderr[:6]) == (1, b"E5010:")
    assert palace.json("clients")["clients"] == []
    assert palace.json("verify")["status"] == "ok"


@pytest.mark.parametrize("arguments", [("list",), ("--json", "list"), ("--help",), ("remember", "Another one.")])
def test_a_reader_that_left_ends_it_as_it_ends_other_tools(palace: Palace, arguments: tuple[str, ...]) -> None:
    palace.json("remember", TEXT)
    assert left_alone(palace, *arguments) == (-signal.SIGPIPE, "")
    with palace.serving():  # and nothing was left behind by the command: the vault opens at once
        assert palace.json("verify")["status"] == "ok"


def test_the_first_line_of_a_long_list_is_enough(palace: Palace) -> None:
    rows = palace.folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": f"Row {nr} of the ledger."}) + "\n" for nr in range(1200)))
    palace.json("import", str(rows))
    words = " ".join(f"'{word}'" for word in [sys.executable, "-m", "app", *palace.command("list", "--limit", "1200")])
    done = subprocess.run(
        ["bash", "-c", f"{words} | head -1; echo ${{PIPESTATUS[0]}}"],
        cwd=palace.folder,
        env=palace.environment,
        capture_output=True,
        timeout=2 * MINUTE_S,
        check=False,
    )
    first, code = done.stdout.decode().splitlines()
    assert "Row 1199 of the ledger." in first
    assert (code, done.stderr) == ("141", b"")


# ---- what comes in


def test_a_text_comes_from_standard_input(palace: Palace) -> None:
    assert palace.run("remember", "-", typed=f"{TEXT}\n").code == 0
    assert palace.run("remember", "-", typed="One line.\n\nAnd another.\n\n").code == 0
    # Without the line end that `echo` adds, and with all others.
    assert [item["text"] for item in palace.everything()] == ["One line.\n\nAnd another.\n", TEXT]


def test_a_question_and_a_prompt_come_from_standard_input(palace: Palace) -> None:
    stored = palace.json("remember", TEXT)["memory_id"]
    found = palace.run("--json", "recall", "-", typed="Where do the spare keys hang?\n").document
    assert [item["id"] for item in found["items"]] == [stored]
    given = palace.run("--json", "context", "-", "--tokens", "400", typed="Where do the spare keys hang?\n").document
    assert TEXT in given["text"]


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("rows", json.dumps({"text": TEXT}) + "\n", "jsonl"),
        ("notes", f"# Keys\n\n{TEXT}\n", "markdown"),
        ("table", f"text,kind\n{TEXT},fact\n", "csv"),
    ],
)
def test_an_import_comes_from_standard_input(palace: Palace, name: str, content: str, form: str) -> None:
    rehearsed = palace.run("--json", "import", "-", "--dry-run", typed=content).document
    assert (rehearsed["import_id"], rehearsed["stored"]) == (None, 1), name
    done = palace.run("--json", "import", "-", "--format", form, typed=content).document
    assert (done["format"], done["stored"]) == (form, 1)
    assert any(TEXT in item["text"] for item in palace.everything())
    assert palace.run("--json", "import", "-", "--format", form, typed=content).document["stored"] == 0
    left = [path for path in palace.folder.rglob("*") if path.is_file() and path.parent != palace.home]
    assert not [path for path in left if TEXT.encode() in path.read_bytes()], "nothing of it lies about"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_import_from_standard_input_that_is_ended_leaves_no_text_behind(palace: Palace, end: signal.Signals) -> None:
    scratch = palace.folder / "scratch"
    scratch.mkdir(mode=0o700)
    environment = {**palace.environment, "XDG_RUNTIME_DIR": str(scratch), "LOCI_SOCKET": str(palace.folder / "s.sock")}
    command = [sys.executable, "-m", "app", *palace.command("import", "-")]
    with subprocess.Popen(command, cwd=palace.folder, env=environment, stdin=subprocess.PIPE) as running:
        assert running.stdin is not None
        running.stdin.write(json.dumps({"text": TEXT}).encode() + b"\n" + b" " * 100_000)
        running.stdin.flush()
        until(lambda: any(scratch.glob("loci-scratch-*/*")), "standard input is being kept")
        running.send_signal(end)
        running.wait(MINUTE_S)
    if end is signal.SIGKILL:  # nobody could clean up: the next process does
        done = subprocess.run(
            command, cwd=palace.folder, env=environment, input=b"{}", capture_output=True, check=False
        )
        assert done.returncode in {0, 1}
    assert list(scratch.glob("loci-scratch-*")) == []


def test_an_import_from_a_closed_standard_input_is_wrong_usage(palace: Palace) -> None:
    words = " ".join(f"'{word}'" for word in [sys.executable, "-m", "app", *palace.command("import", "-")])
    done = subprocess.run(
        ["bash", "-c", f"exec {words} <&-"],
        cwd=palace.folder,
        env=palace.environment,
        capture_output=True,
        timeout=MINUTE_S,
        check=False,
    )
    assert (done.returncode, done.stderr[:6]) == (2, b"E4005:")


@pytest.mark.parametrize(
    ("arguments", "typed", "word"),
    [
        (("remember", "-"), b"", "empty"),
        (("recall", "-"), b"\n", "empty"),
        (("context", "-"), b" \n\t", "empty"),
        (("import", "-"), b"", "empty"),
        (("remember", "-"), b"\xff\xfe no text", "UTF-8"),
        (("recall", "-"), b"caf\xe9", "UTF-8"),
        (("context", "-"), b"caf\xe9", "UTF-8"),
    ],
)
def test_what_cannot_be_read_from_standard_input_is_wrong_usage(
    palace: Palace, arguments: tuple[str, ...], typed: bytes, word: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", *palace.command("--json", *arguments)],
        cwd=palace.folder,
        env=palace.environment,
        input=typed,
        capture_output=True,
        timeout=MINUTE_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"E4005: ")
    assert word in done.stderr.decode()
    assert palace.everything() == []


def test_standard_input_is_read_for_one_thing_only(palace: Palace) -> None:
    palace.environment["PYTHONUNBUFFERED"] = "1"
    given = ["--home", str(palace.home), "--passphrase-file", "/dev/stdin", "remember", "-"]
    refused = palace.bare(*given, typed=palace.secret.read_text(encoding="utf-8") + TEXT)
    assert "--passphrase-file" in refused.refused(2, "E4005")


def test_standard_input_is_bounded(palace: Palace) -> None:
    assert "too long" in palace.run("recall", "-", typed="word " * 60_000).refused(2, "E4004")
