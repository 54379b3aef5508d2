"""`loci mark`: how a rule served and a procedure went, and taking it back."""

from __future__ import annotations

from cli_rig import Palace

RULE = "Never deploy on a Friday afternoon."
STEPS = "1. Close the pump.\n2. Open the valve.\n3. Wait until it runs clear."


def test_a_rule_is_marked_and_a_mark_is_taken_back(palace: Palace) -> None:
    rule = palace.json("remember", RULE, "--kind", "rule")["memory_id"]
    assert palace.json("mark", rule, "helpful")["rule"]["effectiveness"] == 1.0
    told = palace.json("mark", rule, "harmful", "--note", "It broke the build.")
    assert (told["rule"]["helpful"], told["rule"]["harmful"], told["inverted"]) == (1, 1, False)
    palace.json("undo")
    words = palace.run("mark", rule, "helpful").out
    assert "On trial: helped 2 times, caused harm 0 times; effectiveness 1.00." in words
    assert "`loci undo` undoes it." in words


def test_a_rule_that_harmed_three_times_becomes_a_warning(palace: Palace) -> None:
    rule = palace.json("remember", RULE, "--kind", "rule")["memory_id"]
    for _ in range(2):
        palace.json("mark", rule, "harmful", "--note", "It broke the build.")
    words = palace.run("mark", rule, "harmful").out
    assert "A warning: " in words
    assert "became a warning" in words
    assert palace.json("show", rule)["text"].startswith("ANTI-PATTERN: Do NOT Never deploy")


def test_a_procedure_counts_and_a_wrong_word_is_refused(palace: Palace) -> None:
    steps = palace.json("remember", STEPS, "--kind", "procedure")["memory_id"]
    assert palace.json("mark", steps, "worked")["procedure"]["successes"] == 1
    assert "Worked once, failed once." in palace.run("mark", steps, "failed").out
    palace.run("mark", steps, "helpful").refused(1, "E4005")
    assert palace.run("mark", steps, "worked", "--note", "quick").code == 2
    assert palace.run("mark", steps, "splendid").code == 2
