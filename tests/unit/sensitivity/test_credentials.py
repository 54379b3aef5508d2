"""Secrets with their value, and masks, placeholders, variables and talk about secrets, which are none."""

from __future__ import annotations

import pytest

from core.sensitivity.detector import find_sensitive

# In pieces, so that no key stands in the tree.
PEM = "-----BEGIN OPENSSH PRIVATE" + " KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE" + " KEY-----"
FOUND = [
    "OPENAI_API_KEY=|sk-fake-0000EXAMPLEonly1111notreal2222|",
    "Put |ghp_FAKEexample0000NotARealToken| in CI",
    "the password is |Gooseberry!Lamp77|",
    "whats the pw? its |BananaGoat42|",
    "network 'Burrow', passphrase |four-otters-in-a-teapot|",
    "passphrase for the backup drive: |seven grey herons at dusk|",
    "The alarm PIN at the cabin: |8306|. Twice.",
    "garage code |0925| and turn left",
    "|3391| is the alarm code",
    "safe combination: |18-34-07|",
    "postgres://ledger:|Marmalade-77-kiosk|@db.example:5432/books",
    "PGPASSWORD=|walnut_Barge_19| psql",
    "mysql -u root -p'|Clavicle#42|' backups",
    "Authorization: Basic |YWRtaW46bm90cmVhbA==|",
    "JWT |eyJhbGciOiJIUzI1NiJ9.eyJpZCI6ImZha2UifQ.c2lnbmF0dXJl|",
    "login ro@pensio.example / |Teal+Walrus_1958|",
    "seed: |ladder orbit velvet captain mirror onion desert puzzle cabin lemon rocket swing|",
    "Passwort ist |Sommerwind-44|",
    "mot de passe: |Brioche*1789|",
    "license key |FAKE1-2222X-NOTRL-44YY4|",
    f"|{PEM}|",
]
CLEAN = [
    "secret = os.environ['APP_SECRET'] is how the worker reads it",
    "password = getpass.getpass()",
    'token = config.get("gitlab_token")',
    "DB_PASSWORD=${DB_PASSWORD:-}",
    'password: "{{ vault_db_password }}"',
    "API_KEY=<your-key-here>",
    "password: ********",
    "set API_TOKEN=xxxxxxxxxxxx",
    "PASSWORD=changeme",
    "if password is None: raise",
    "The secret is patience, and butter.",
    "The token limit of that model is 32000",
    "New password policy: at least fourteen characters",
    "password must contain a digit",
    "error code 4011 means no paper",
    "dress code: black tie",
    "discount code SPRING20",
    "pin lodash@4.17.21 or the build fails",
    "pin 13 is the LED",
    "code review at 4",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
]


@pytest.mark.parametrize("marked", FOUND)
def test_a_secret_is_found_at_its_place(marked: str) -> None:
    before, value, _ = marked.split("|")
    found = {span.type.value: (span.start, span.end) for span in find_sensitive(marked.replace("|", ""))}
    assert found["credential"] == (len(before), len(before) + len(value))


@pytest.mark.parametrize("text", CLEAN)
def test_what_holds_no_secret_is_left(text: str) -> None:
    assert find_sensitive(text) == ()
