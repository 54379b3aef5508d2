"""Technologies, paths, addresses, dates, topics and languages read off texts (E35.5, X7)."""

from __future__ import annotations

import pytest

from core.text.metadata import (
    MOST,
    blank_code_and_paths,
    detect_topics,
    extract_metadata,
    find_dates,
    find_technologies,
    technology_spellings,
    topic_taxonomy,
)


def tools(text: str) -> list[str]:
    return [one.name for one in extract_metadata(text).technologies]


def paths(text: str) -> list[str]:
    return [one.name for one in extract_metadata(text).paths]


def test_the_example_of_the_plan() -> None:
    found = extract_metadata("We moved auth from src/auth.ts to Rust, see https://ex.org/a")
    assert ([one.name for one in found.technologies], found.urls) == (["Rust"], ("https://ex.org/a",))
    assert [(one.name, one.start, one.end) for one in found.paths] == [("src/auth.ts", 19, 30)]
    assert tools("I trust the digit") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JavaScript is not that other one", ["JavaScript"]),
        ("good digits in a trusty old garage", []),
        ("Go home and react to this", []),
        ("React to that, will you", []),
        ("Rust is on the gate", []),
        ("Rust is a language to write code in", ["Rust"]),
        ("The service is written in Go, with Redis", ["Go", "Redis"]),
        ("We have Go services", ["Go"]),
        ("The Go services are fast", ["Go"]),
        ("I saw Taylor Swift on stage", []),
        ("Learning Rust is fun", ["Rust"]),
        ("Rust Avenue is closed", []),
        ("we like postgres and k8s", ["PostgreSQL", "Kubernetes"]),
        ("React, Vue and Svelte", ["React", "Vue", "Svelte"]),
        ("C++ and C# and F#", ["C++", "C#", "F#"]),
        ("next.js is not node.js", ["Next.js", "Node.js"]),
        ("see docker.example and @docker", []),
        ("Docker's image", ["Docker"]),
    ],
)
def test_technologies_are_whole_words_meant_as_such(text: str, expected: list[str]) -> None:
    assert tools(text) == expected


def test_every_place_of_a_technology_is_told() -> None:
    text = "Docker or docker, that is the question"
    assert [text[one.start : one.end] for one in find_technologies(text)] == ["Docker", "docker"]
    assert {"postgres", "postgresql"} <= set(technology_spellings("PostgreSQL"))
    assert technology_spellings("nothing such") == ("nothing such",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see ./config.json, ~/x/y and ../a/b", ["./config.json", "~/x/y", "../a/b"]),
        ("/foo/bar.ts and src/main.rs", ["/foo/bar.ts", "src/main.rs"]),
        (r"C:\Users\Ida\My Notes\a.txt is gone", [r"C:\Users\Ida\My Notes\a.txt"]),
        (r"on \\nas\films now", [r"\\nas\films"]),
        ("and/or he/she on 2024/01/02, 24/7, km/h, 3/4", []),
        ("GET /api/users and /help", []),
        ("in /etc/hosts, /etc and /dev/null.", ["/etc/hosts", "/etc", "/dev/null"]),
        ("config.json:42 (see README.md)", ["config.json", "README.md"]),
        ("Node.js, next.js/vue.js and 2.4.1, e.g. 5 p.m.", []),
        ("https://a.example/b/c.html and me@b.example/c.py", []),
        ("https://a.example/b.py then b.py", ["b.py"]),
        ("a.py a.py a.py", ["a.py"]),
    ],
)
def test_paths_are_paths(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


def test_addresses_end_where_the_plan_says() -> None:
    text = "(http://a.example/x), <https://b.example/y>, https://c.example/z. http:// `https://d.example`"
    assert extract_metadata(text).urls == (
        "http://a.example/x", "https://b.example/y", "https://c.example/z", "https://d.example"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-03T10:00Z and 2024/05/04", ("2024-05-03", "2024-05-04")),
        ("3 May 2024, May 4, 2024, the 5th of May 2024", ("2024-05-03", "2024-05-04", "2024-05-05")),
        ("in May 2024, 2024-06", ("2024-05", "2024-06")),
        ("12/05/2023, 25.12.2023, 12/25/2022", ("2023-05-12", "2023-12-25", "2022-12-25")),
        ("2024-13-01, 2024-02-30, 31 April 2024, 3 May, version 2.4.2024.1", ()),
        ("no date", ()),
    ],
)
def test_dates_are_those_of_a_calendar_with_their_year(text: str, expected: tuple[str, ...]) -> None:
    assert find_dates(text) == expected


def test_a_topic_needs_two_different_words() -> None:
    assert detect_topics("The doctor gave me a prescription.") == ("health",)
    assert detect_topics("The doctor, the doctors, a doctor.") == ()
    assert detect_topics("The flight to the airport and the hotel; my doctor gave me pills.") == ("travel", "health")
    assert set(detect_topics("The doctor gave me a prescription.")) <= set(topic_taxonomy())


def test_the_language_comes_from_fences_before_endings() -> None:
    assert extract_metadata("```rust\nfn main() {}\n```").language == "Rust"
    assert extract_metadata("```\nplain\n```").language == ""
    assert extract_metadata("look at a.py, b.py and c.ts").language == "Python"
    assert extract_metadata("look at a.py\n```ts\nlet a\n```").language == "TypeScript"
    assert extract_metadata("look at notes.md").language == ""


def test_code_tells_no_technology_and_no_name() -> None:
    text = "Before\n```python\nimport docker  # Docker\n```\nand `Redis` https://docker.example a/docker.py"
    blank = blank_code_and_paths(text)
    assert len(blank) == len(text)
    assert "ocker" not in blank
    assert blank.split() == ["Before", "and"]
    assert tools("```\nDocker\n```") == []


def test_so_many_of_a_kind_at_most() -> None:
    text = " ".join(f"src/file{n}.py https://a.example/{n}" for n in range(2 * MOST))
    found = extract_metadata(text)
    assert (len(found.paths), len(found.urls)) == (MOST, MOST)
    assert found.paths[0].name == "src/file0.py"
