from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable
from dataclasses import replace

import pytest
from argon2.exceptions import HashingError
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from core.errors import BugError, Code, EnvironmentFaultError, LociError, UserError
from core.security import passphrase as passphrase_module
from core.security import slots
from core.security.keyfile import KeyFile
from core.security.keyring_client import KeyringCause, KeyringFaultError
from core.security.keys import Purpose, RootKey
from core.security.passphrase import KdfCost, normalised_passphrase, passphrase_key
from core.security.slots import (
    NewKeys,
    add_keyring,
    change_passphrase,
    create_keys,
    format_recovery_code,
    open_with_keyring,
    open_with_passphrase,
    open_with_recovery,
    open_with_secret,
    remove_slot,
    renew_recovery_code,
)
from core.types.clock import ManualClock
from tests.unit.security.conftest import MemoryKeyring

LOWEST = KdfCost.lowest()


def fingerprint(root: RootKey) -> bytes:
    return root.derive(Purpose.AUDIT)


def refusal(code: Code, call: Callable[[], object]) -> str:
    with pytest.raises(LociError) as caught:
        call()
    assert caught.value.code is code
    return caught.value.sentence


def test_every_slot_opens_the_same_root(passphrase: str, clock: ManualClock, memory_keyring: MemoryKeyring) -> None:
    new = create_keys(passphrase, clock=clock, keyring=memory_keyring, cost=LOWEST)
    expected = fingerprint(new.root)
    assert fingerprint(open_with_passphrase(new.keys, passphrase)) == expected
    assert fingerprint(open_with_recovery(new.keys, new.recovery_code)) == expected
    assert fingerprint(open_with_keyring(new.keys, memory_keyring)) == expected
    assert fingerprint(open_with_secret(new.keys, passphrase)) == expected
    assert fingerprint(open_with_secret(new.keys, new.recovery_code.lower())) == expected


def test_creation_tells_time_and_test_clock(clock: ManualClock) -> None:
    new = create_keys("p", clock=clock, cost=LOWEST, test_clock=True)
    assert (new.keys.created_ms, new.keys.test_clock) == (clock.at_ms, True)
    early = create_keys("p", clock=ManualClock(-5), cost=LOWEST)
    assert early.keys.created_ms == 0


def test_two_vaults_share_nothing(clock: ManualClock) -> None:
    one, two = (create_keys("same", clock=clock, cost=LOWEST) for _ in range(2))
    assert one.keys.vault_id != two.keys.vault_id
    assert one.recovery_code != two.recovery_code
    assert fingerprint(one.root) != fingerprint(two.root)
    sentence = refusal(Code.WRONG_SECRET, lambda: open_with_recovery(two.keys, one.recovery_code))
    assert "does not open this vault" in sentence


@pytest.mark.parametrize("wrong", ["Correct horse Bätterie", "correct horse Bätterie ", "x", "", "\ud800", "y" * 5000])
def test_wrong_passphrase_has_its_own_sentence_and_exit_code(made: NewKeys, wrong: str) -> None:
    with pytest.raises(UserError) as caught:
        open_with_passphrase(made.keys, wrong)
    assert (caught.value.code, caught.value.exit_code) == (Code.WRONG_SECRET, 4)
    assert caught.value.sentence.startswith("The passphrase is wrong")


def test_passphrase_is_the_same_in_every_unicode_form(clock: ManualClock) -> None:
    new = create_keys("Bätte ﬁ", clock=clock, cost=LOWEST)
    assert fingerprint(open_with_passphrase(new.keys, "Ba\u0308tte fi")) == fingerprint(new.root)
    assert normalised_passphrase("ﬁ") == b"fi"


@pytest.mark.parametrize("bad", ["", "\udfff", "x" * 4097, "ä" * 2049])
def test_unusable_passphrases_are_refused_when_set(bad: str, made: NewKeys, clock: ManualClock) -> None:
    refusal(Code.INVALID_INPUT, lambda: create_keys(bad, clock=clock, cost=LOWEST))
    refusal(Code.INVALID_INPUT, lambda: change_passphrase(made.keys, made.root, bad, LOWEST))


def test_neither_passphrase_nor_keyring_makes_no_vault(clock: ManualClock) -> None:
    refusal(Code.INVALID_INPUT, lambda: create_keys(None, clock=clock))


@pytest.mark.slow
def test_argon2id_agrees_with_another_implementation() -> None:
    other = Argon2id(salt=b"somesalt" * 2, length=32, iterations=2, lanes=2, memory_cost=65536).derive(b"password")
    assert passphrase_key(b"password", b"somesalt" * 2, KdfCost(65536, 2, 2)) == other


@pytest.mark.parametrize(
    "cost",
    [KdfCost(8, 1, 1), KdfCost(4 * 1024**3, 3, 4), KdfCost(19 * 1024, 21, 1), KdfCost(19 * 1024, 1, 9)],
)
def test_cost_outside_the_range_is_never_derived_with(cost: KdfCost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passphrase_module, "hash_secret_raw", lambda *_, **__: pytest.fail("derived"))
    refusal(Code.INVALID_INPUT, lambda: passphrase_key(b"x", bytes(16), cost))
    refusal(Code.INVALID_INPUT, lambda: passphrase_key(b"x", bytes(15), LOWEST))


def test_costs_by_name() -> None:
    assert KdfCost.standard() == KdfCost(262_144, 3, 4)
    assert KdfCost.standard().accepted
    assert LOWEST.accepted
    assert KdfCost(1024 * 1024, 20, 8).accepted
    assert not KdfCost(LOWEST.memory_kib - 1, LOWEST.passes, LOWEST.lanes).accepted


def test_too_little_memory_is_an_environment_fault(made: NewKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object, **__: object) -> bytes:
        raise HashingError("Memory allocation error")

    monkeypatch.setattr(passphrase_module, "hash_secret_raw", no_memory)
    with pytest.raises(EnvironmentFaultError) as caught:
        open_with_passphrase(made.keys, "any")
    assert caught.value.code is Code.MEMORY_PRESSURE


def test_weakened_parameters_do_not_open_even_with_the_right_key(made: NewKeys, passphrase: str) -> None:
    keys, slot = made.keys, made.keys.passphrase_slot
    assert slot is not None
    assert slot.root is not None
    secret = normalised_passphrase(passphrase)
    assert secret is not None
    kek = passphrase_key(secret, slot.salt, slot.cost)
    nonce, sealed = slot.root.nonce, slot.root.sealed

    def opens(changed: KeyFile, cost: KdfCost = slot.cost) -> bool:
        aad = changed.slot_aad(replace(slot, cost=cost))
        return RootKey.unwrap(kek, nonce, sealed, aad, keys.vault_id) is not None

    assert opens(keys)
    assert not opens(keys, KdfCost(slot.cost.memory_kib + 1024, slot.cost.passes, slot.cost.lanes))
    assert not opens(keys, KdfCost(slot.cost.memory_kib, slot.cost.passes + 1, slot.cost.lanes))
    assert not opens(keys, KdfCost(slot.cost.memory_kib, slot.cost.passes, slot.cost.lanes + 1))
    assert not opens(replace(keys, test_clock=True))
    assert not opens(replace(keys, created_ms=keys.created_ms - 1))


@pytest.mark.parametrize("change", [{"test_clock": True}, {"created_ms": 1}, {"vault_id": bytes(16)}])
def test_changed_head_opens_by_no_slot(made: NewKeys, passphrase: str, change: dict[str, object]) -> None:
    forged = replace(made.keys, **change)  # type: ignore[arg-type]
    refusal(Code.WRONG_SECRET, lambda: open_with_passphrase(forged, passphrase))
    refusal(Code.WRONG_SECRET, lambda: open_with_recovery(forged, made.recovery_code))


def test_changed_passphrase_replaces_only_its_slot(made: NewKeys, passphrase: str) -> None:
    changed = change_passphrase(made.keys, made.root, "another one", LOWEST)
    assert fingerprint(open_with_passphrase(changed, "another one")) == fingerprint(made.root)
    assert fingerprint(open_with_recovery(changed, made.recovery_code)) == fingerprint(made.root)
    refusal(Code.WRONG_SECRET, lambda: open_with_passphrase(changed, passphrase))
    assert changed.keyring_slot == made.keys.keyring_slot
    assert sorted(slot.kind for slot in changed.slots) == ["keyring", "passphrase", "recovery"]


def test_renewed_recovery_code_replaces_the_old_one(made: NewKeys, passphrase: str) -> None:
    changed, code = renew_recovery_code(made.keys, made.root)
    assert fingerprint(open_with_recovery(changed, code)) == fingerprint(made.root)
    refusal(Code.WRONG_SECRET, lambda: open_with_recovery(changed, made.recovery_code))
    assert fingerprint(open_with_passphrase(changed, passphrase)) == fingerprint(made.root)


def test_removed_slots_open_nothing_and_say_so(made: NewKeys, passphrase: str, memory_keyring: MemoryKeyring) -> None:
    no_passphrase, no_code, no_keyring = (
        remove_slot(made.keys, "passphrase"),
        remove_slot(made.keys, "recovery"),
        remove_slot(made.keys, "keyring"),
    )
    sentences = {
        refusal(Code.WRONG_SECRET, lambda: open_with_passphrase(no_passphrase, passphrase)),
        refusal(Code.WRONG_SECRET, lambda: open_with_recovery(no_code, made.recovery_code)),
        refusal(Code.WRONG_SECRET, lambda: open_with_keyring(no_keyring, memory_keyring)),
    }
    assert len(sentences) == 3
    assert "no key slot" in refusal(Code.INVALID_INPUT, lambda: remove_slot(no_keyring, "keyring"))


def test_a_keyring_is_never_the_only_slot(made: NewKeys, memory_keyring: MemoryKeyring) -> None:
    without = remove_slot(made.keys, "passphrase")
    refusal(Code.INVALID_INPUT, lambda: remove_slot(without, "recovery"))
    only = remove_slot(without, "keyring")
    refusal(Code.INVALID_INPUT, lambda: remove_slot(only, "recovery"))
    assert made.keys.keyring_slot is not None
    bare = replace(made.keys, slots=(made.keys.keyring_slot,))
    refusal(Code.INVALID_INPUT, lambda: add_keyring(bare, made.root, memory_keyring))
    assert memory_keyring.entries == {}


def test_a_vault_with_a_keyring_and_no_passphrase_has_a_recovery_code(
    clock: ManualClock, memory_keyring: MemoryKeyring
) -> None:
    new = create_keys(None, clock=clock, keyring=memory_keyring)
    assert new.keys.passphrase_slot is None
    assert fingerprint(open_with_keyring(new.keys, memory_keyring)) == fingerprint(new.root)
    assert fingerprint(open_with_secret(new.keys, new.recovery_code)) == fingerprint(new.root)
    code = new.recovery_code
    mistyped = ("A" if code[0] == "B" else "B") + code[1:]
    assert "mistyped" in refusal(Code.WRONG_SECRET, lambda: open_with_secret(new.keys, mistyped))


def test_a_keyring_that_fails_makes_no_vault_and_wipes_the_root(
    clock: ManualClock, memory_keyring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    born: list[RootKey] = []

    class Watched(RootKey):
        def __init__(self, root: bytes | bytearray, vault_id: bytes) -> None:
            super().__init__(root, vault_id)
            born.append(self)

    monkeypatch.setattr(slots, "RootKey", Watched)
    memory_keyring.broken = KeyringCause.LOCKED
    with pytest.raises(KeyringFaultError):
        create_keys("p", clock=clock, keyring=memory_keyring, cost=LOWEST)
    assert [repr(root) for root in born] == ["RootKey(wiped)"]


@pytest.mark.parametrize("cause", list(KeyringCause))
def test_keyring_faults_leave_the_other_slots_and_the_entry_alone(
    cause: KeyringCause, made: NewKeys, clock: ManualClock, passphrase: str
) -> None:
    keyring = _stocked(made)
    before = dict(keyring.entries)
    keyring.broken = cause
    with pytest.raises(KeyringFaultError) as caught:
        open_with_keyring(made.keys, keyring)
    assert caught.value.cause is cause
    assert (caught.value.code, caught.value.exit_code) == (Code.KEYRING_UNAVAILABLE, 4)
    assert keyring.entries == before
    assert open_with_passphrase(made.keys, passphrase).vault_id == made.keys.vault_id


def _stocked(made: NewKeys) -> MemoryKeyring:
    keyring = MemoryKeyring()
    keyring.entries[made.keys.vault_id] = b"some other key of 32 bytes......"
    return keyring


def test_a_foreign_entry_is_a_wrong_secret_not_damage(made: NewKeys) -> None:
    sentence = refusal(Code.WRONG_SECRET, lambda: open_with_keyring(made.keys, _stocked(made)))
    assert "keyring's entry" in sentence


def test_an_entry_that_stands_is_used_and_not_overwritten(made: NewKeys) -> None:
    keyring = _stocked(made)
    again = add_keyring(made.keys, made.root, keyring)
    assert keyring.entries[made.keys.vault_id] == b"some other key of 32 bytes......"
    assert fingerprint(open_with_keyring(again, keyring)) == fingerprint(made.root)


def test_a_root_of_another_vault_wraps_nothing(made: NewKeys) -> None:
    with pytest.raises(BugError):
        change_passphrase(made.keys, RootKey.generate(bytes(16)), "x", LOWEST)


def test_an_unfinished_slot_is_damage(made: NewKeys, passphrase: str) -> None:
    slot = made.keys.passphrase_slot
    assert slot is not None
    broken = replace(made.keys, slots=(replace(slot, root=None),))
    refusal(Code.KEY_FILE_DAMAGED, lambda: open_with_passphrase(broken, passphrase))


def test_no_secret_in_repr_errors_or_tracebacks(made: NewKeys, clock: ManualClock) -> None:
    marker = "zanzibar-marker"
    root = made.root.derive(Purpose.AUDIT).hex()
    shown = [repr(made), str(made), repr(made.keys), repr(made.root)]
    foreign = format_recovery_code(b"f" * 20)
    calls: list[Callable[[], object]] = [
        lambda: open_with_passphrase(made.keys, marker),
        lambda: open_with_passphrase(made.keys, marker + "\ud800"),
        lambda: open_with_recovery(made.keys, foreign),
        lambda: open_with_recovery(made.keys, foreign[:-1] + "B"),
        lambda: open_with_recovery(made.keys, marker),
        lambda: open_with_secret(made.keys, marker),
        lambda: create_keys(marker + "\ud800", clock=clock, cost=LOWEST),
        lambda: change_passphrase(made.keys, made.root, marker, KdfCost(8, 1, 1)),
    ]
    for call in calls:
        with contextlib.suppress(LociError):
            call()
            pytest.fail("opened")
        try:
            call()
        except LociError as error:
            shown += [repr(error), str(error), error.sentence, "".join(traceback.format_exception(error))]
            chain = error.__context__
            while chain is not None:
                shown += [repr(chain), repr(vars(chain)), repr(chain.args)]
                chain = chain.__context__
    text = "\n".join(shown)
    for secret in (marker, made.recovery_code, foreign, root):
        assert secret not in text
