"""A model's layers in fewer steps: the graph keeps its outputs and runs in order; nothing of the old layers is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from encoder_net import RUNTIME, fuse_steps, known_sizes

FIRST, LAST = "/norm/LayerNormalization_output_0", "marks"
PARTS = ("seen", "out", "wide", "back")


@dataclass
class Step:
    """What stands for a node of onnx."""

    op_type: str
    input: list[str]
    output: list[str]
    domain: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


def make_node(kind: str, inputs: list[str], outputs: list[str], *, domain: str = "", **settings: Any) -> Step:
    return Step(kind, inputs, outputs, domain, settings)


def exported(layers: int) -> tuple[list[Step], set[str]]:
    """The steps of a model of some layers, as an export names them, in some order, and its constants."""
    steps, known, seen = [Step("Embed", ["words"], [FIRST])], {"head.weight"}, FIRST
    for number in range(layers):
        at = f"layers.{number}"
        for part in PARTS:
            steps += [
                Step("MatMulInteger", [seen, f"{at}.{part}.w", "zero", f"{at}.{part}.z"], [quantized(at, part)]),
                Step("Mul", ["in.scale", f"{at}.{part}.s"], [f"/{at}/{part}/MatMul_quant_scales_mul:0"]),
            ]
            known |= {f"{at}.{part}.{one}" for one in ("w", "z", "s", "bias")}
        after = f"/{at}/norm2/LayerNormalization_output_0"
        steps.append(Step("Norm", [quantized(at, part) for part in PARTS], [after]))
        known |= {f"{at}.norm{place}.{one}" for place in (1, 2) for one in ("weight", "bias")}
        seen = after
    return [Step("Gemm", [seen, "head.weight"], [LAST]), *steps], known


def quantized(at: str, part: str) -> str:
    return f"/{at}/{part}/MatMul_output_0_output_quantized"


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_every_step_runs_behind_those_it_rests_on(layers: int) -> None:
    steps, known = exported(layers)
    given = known | {"words"} | set(known_sizes(12, 3))
    for step in (found := fuse_steps(steps, known, [LAST], make_node)):
        assert set(step.input) <= given, step
        assert given.isdisjoint(step.output), step
        given |= set(step.output)
    assert found[-1].output == [LAST]


def test_the_old_steps_of_a_layer_go_and_its_result_keeps_its_name() -> None:
    steps, known = exported(2)
    found = fuse_steps(steps, known, [LAST], make_node)
    assert not {"MatMulInteger", "Mul", "Norm"} & {step.op_type for step in found}
    after = [step for step in found if step.output == ["/layers.1/norm2/LayerNormalization_output_0"]]
    assert [(step.op_type, step.domain) for step in after] == [("SkipLayerNormalization", RUNTIME)]
    products = [step for step in found if step.op_type == "DynamicQuantizeMatMul"]
    assert [step.input[1:] for step in products[:4]] == [
        [f"layers.0.{part}.w", f"layers.0.{part}.s", f"layers.0.{part}.z", f"layers.0.{part}.bias"] for part in PARTS
    ]
    assert products[0].input[0] == FIRST
    assert products[4].input[0] == "/layers.0/norm2/LayerNormalization_output_0"


def test_steps_that_no_output_rests_on_go() -> None:
    steps, known = exported(1)
    found = fuse_steps([*steps, Step("Cast", ["words"], ["unused"])], known, [LAST], make_node)
    assert all(step.op_type != "Cast" for step in found)


def test_sizes_divide_the_width_by_the_heads() -> None:
    sizes = known_sizes(12, 3)
    assert [sizes[name].tolist() for name in sorted(sizes)] == [[0, 0, 3, 4], 2.0, [4 * 3] * 3]
