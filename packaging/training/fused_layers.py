"""The steps of a quantised model's layers, said in fewer: the graph alone, whatever its nodes are made of.

A step has `input` and `output`, lists of names. Must not do: read or write a file, or import onnx.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MakeNode = Callable[..., Any]
"""Makes a step of its kind, inputs and outputs, as `onnx.helper.make_node` does."""
RUNTIME = "com.microsoft"
_MOST_LAYERS = 12
_OWN_STEPS = ("DynamicQuantizeMatMul", "Gelu", "SkipLayerNormalization")
"""Steps of the runtime's own that round as those do which they stand for."""
_THIRDS, _BY_HEAD, _ROOT = "fused.thirds", "fused.by_head", "fused.root"
"""Names of the sizes in which a product is split, and of what scores are divided by."""


def known_sizes(width: int, heads: int) -> dict[str, NDArray[Any]]:
    """The constants that fused steps read.

    Args:
        width: of a layer.
        heads: of its attention.
    """
    sizes = {_THIRDS: [width] * 3, _BY_HEAD: [0, 0, heads, width // heads]}
    found: dict[str, NDArray[Any]] = {name: np.array(size, np.int64) for name, size in sizes.items()}
    return found | {_ROOT: np.array(math.sqrt(width // heads), np.float32)}


def fuse_steps(steps: Sequence[Any], known: Collection[str], outputs: Sequence[str], make_node: MakeNode) -> list[Any]:
    """The steps that a graph's outputs rest on, its layers in fewer steps, in an order in which they can run.

    Args:
        steps: of the exported graph.
        known: names of its constants.
        outputs: names of what the graph gives.
        make_node: makes a step.
    """
    producers = {output: node for node in steps for output in node.output}
    layers: list[Any] = []
    seen = "/norm/LayerNormalization_output_0"
    for number in range(sum(f"layers.{at}.seen.bias" in known for at in range(_MOST_LAYERS))):
        layers += _fused_layer(make_node, producers, number, seen)
        seen = layers[-1].output[0]
    made = {output for node in layers for output in node.output}
    return _steps_in_order([*(node for node in steps if made.isdisjoint(node.output)), *layers], outputs)


def _fused_layer(make_node: MakeNode, producers: dict[str, Any], number: int, before: str) -> list[Any]:
    """One layer; its last step gives the tensor that the layer gave before."""
    prefix, layer = f"fused.{number}.", f"layers.{number}"
    after = f"/{layer}/norm2/LayerNormalization_output_0"

    def step(kind: str, inputs: list[str], *outputs: str, **settings: Any) -> Any:
        domain = RUNTIME if kind in _OWN_STEPS else ""
        return make_node(kind, inputs, list(outputs), domain=domain, **settings)

    def product(part: str, source: str, target: str) -> Any:
        whole = producers[f"/{layer}/{part}/MatMul_output_0_output_quantized"]
        scale = producers[f"/{layer}/{part}/MatMul_quant_scales_mul:0"].input[1]
        return step(
            "DynamicQuantizeMatMul", [source, whole.input[1], scale, whole.input[3], f"{layer}.{part}.bias"], target
        )

    def norm_weights(place: int) -> list[str]:
        return [f"{layer}.norm{place}.weight", f"{layer}.norm{place}.bias"]

    return [
        product("seen", before, f"{prefix}seen"),
        *_attention_steps(step, prefix, before),
        product("out", f"{prefix}attended", f"{prefix}out"),
        step("Add", [before, f"{prefix}out"], f"{prefix}sum1"),
        step("LayerNormalization", [f"{prefix}sum1", *norm_weights(1)], f"{prefix}norm1", axis=-1, epsilon=1e-12),
        product("wide", f"{prefix}norm1", f"{prefix}wide"),
        step("Gelu", [f"{prefix}wide"], f"{prefix}gelu"),
        product("back", f"{prefix}gelu", f"{prefix}back"),
        step("SkipLayerNormalization", [f"{prefix}norm1", f"{prefix}back", *norm_weights(2)], after, epsilon=1e-12),
    ]


def _attention_steps(step: Callable[..., Any], prefix: str, before: str) -> Iterator[Any]:
    """From the product of query, key and value to what is attended; the runtime's own step for it rounds otherwise."""
    parts = ("query", "key", "value")
    yield step("Split", [f"{prefix}seen", _THIRDS], *(f"{prefix}{name}" for name in parts), axis=2)
    for name in parts:
        order = [0, 2, 3, 1] if name == "key" else [0, 2, 1, 3]
        yield step("Reshape", [f"{prefix}{name}", _BY_HEAD], f"{prefix}{name}.heads")
        yield step("Transpose", [f"{prefix}{name}.heads"], f"{prefix}{name}.turned", perm=order)
    yield step("MatMul", [f"{prefix}query.turned", f"{prefix}key.turned"], f"{prefix}scores")
    yield step("Div", [f"{prefix}scores", _ROOT], f"{prefix}scaled")
    yield step("Softmax", [f"{prefix}scaled"], f"{prefix}shares", axis=-1)
    yield step("MatMul", [f"{prefix}shares", f"{prefix}value.turned"], f"{prefix}heads")
    yield step("Transpose", [f"{prefix}heads"], f"{prefix}heads.turned", perm=[0, 2, 1, 3])
    yield step("Shape", [before], f"{prefix}size")
    yield step("Reshape", [f"{prefix}heads.turned", f"{prefix}size"], f"{prefix}attended")


def _steps_in_order(steps: Sequence[Any], outputs: Sequence[str]) -> list[Any]:
    """The steps that outputs rest on, each behind those that it rests on."""
    producers = {output: node for node in steps for output in node.output}
    found: dict[str, Any] = {}
    todo = list(outputs)
    while todo:
        node = producers.get(todo[-1])
        missing = [] if node is None else [name for name in node.input if name in producers and name not in found]
        if missing:
            todo += missing
            continue
        if node is not None:
            found |= dict.fromkeys(node.output, node)
        todo.pop()
    return list({id(node): node for node in found.values()}.values())
