"""Layers of the published encoder as torch modules, for the project's own models. Needs the `model` extra.

Must not do: know what a model reads or says.
"""

from __future__ import annotations

import copy
import importlib
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from build_model import find_source, sha256_of

WIDTH = 384
HEADS = 12
OPSET = 17
ENCODER = Path(__file__).resolve().parents[2] / "resources" / "model" / "minilm"
WORDS = "encoder.embeddings.word_embeddings.weight"
_SMALL = "_quantized"
_SEEN = ("query", "key", "value")
_RUNTIME, _MOST_LAYERS = "com.microsoft", 12
_PRODUCT = "DynamicQuantizeMatMul"
_OWN_STEPS = (_PRODUCT, "Gelu", "SkipLayerNormalization", "MultiHeadAttention")
"""Steps of the runtime's own."""
_THIRDS, _HALVES = "fused.thirds", "fused.halves"
"""Names of the sizes in which a product is split."""
_FIRST_TOKENS = "/Slice_2_output_0"
"""What the heads of a reader look at: the tokens that its last layer renewed."""
_NAMES = {
    "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "wide": "intermediate.dense",
    "back": "output.dense", "norm2": "output.LayerNorm",
}  # fmt: skip


@dataclass(frozen=True)
class Shared:
    """What the relation model takes from the embedder.

    Attributes:
        weights: the published float weights the layers start from.
        table: the word vectors as the shipped int8 file holds them, in float.
        place: where they lie in that file, for the manifest.
        tokenizer: the embedder's.
    """

    weights: dict[str, Any]
    table: NDArray[np.float32]
    place: dict[str, Any]
    tokenizer: Any


def find_shared() -> Shared:
    """Open the embedder that ships and the float weights it was made from.

    Returns:
        Both, and where the word vectors lie.

    Raises:
        SystemExit: the word vectors are not there exactly once.
    """
    onnx = importlib.import_module("onnx")
    weights = importlib.import_module("safetensors.torch").load_file(str(find_source().folder / "model.safetensors"))
    path = ENCODER / "model.onnx"
    parts = {p.name: p for p in onnx.load(str(path)).graph.initializer if p.name.startswith(WORDS)}
    values = {name: onnx.numpy_helper.to_array(part) for name, part in parts.items()}
    words = values[f"{WORDS}_quantized"]
    scale, zero = float(values[f"{WORDS}_scale"]), int(values[f"{WORDS}_zero_point"])
    whole, raw = path.read_bytes(), words.tobytes()
    offset = whole.find(raw)
    if offset < 0 or whole.find(raw, offset + 1) >= 0 or words.dtype != np.uint8:
        sys.exit("The word vectors are not in the embedder's file exactly once.")
    place = {
        "model.onnx": sha256_of(path),
        "tokenizer.json": sha256_of(ENCODER / "tokenizer.json"),
        "offset": offset,
        "words": words.shape[0],
        "width": words.shape[1],
        "scale": scale,
        "zero": zero,
    }
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(ENCODER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = (words.astype(np.float32) - np.float32(zero)) * np.float32(scale)
    return Shared(weights, table, place, tokenizer)


def layer_class(dropout: float) -> Any:
    """The class of one transformer layer: (x, mask) -> x, with the mask added to the scores.

    With a third argument, a number of tokens, only that many from the start are renewed and given; they see all.

    Args:
        dropout: of attention's and the feed-forward's results.
    """
    torch = importlib.import_module("torch")
    nn = torch.nn

    class Layer(nn.Module):  # type: ignore[name-defined, misc, unused-ignore]  # torch is loaded when it runs
        def __init__(self) -> None:
            super().__init__()
            self.seen = nn.Linear(WIDTH, 3 * WIDTH)  # query, key and value in one product: a tenth faster
            self.out, self.wide, self.back = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1536), nn.Linear(1536, WIDTH)
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
            self.drop = nn.Dropout(dropout)

        def forward(self, x: Any, mask: Any, first: Any = None) -> Any:
            rows, own = x.shape[0], x if first is None else x[:, :first]

            def split(y: Any) -> Any:
                return y.reshape(rows, -1, HEADS, WIDTH // HEADS).transpose(1, 2)

            if first is None:
                query, key, value = (split(part) for part in self.seen(x).chunk(3, -1))
            else:
                weights, bias = self.seen.weight, self.seen.bias
                query = split(nn.functional.linear(own, weights[:WIDTH], bias[:WIDTH]))
                others = nn.functional.linear(x, weights[WIDTH:], bias[WIDTH:])
                key, value = (split(part) for part in others.chunk(2, -1))
            scores = query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + mask
            seen = self.drop(torch.softmax(scores, -1)) @ value
            own = self.norm1(own + self.drop(self.out(seen.transpose(1, 2).reshape(rows, -1, WIDTH))))
            return self.norm2(own + self.drop(self.back(nn.functional.gelu(self.wide(own)))))

    return Layer


def fill_layers(layers: Any, source_layers: Sequence[int], weights: dict[str, Any]) -> None:
    """Copy layers of the published encoder.

    Args:
        layers: modules of `layer_class`.
        source_layers: which of the encoder's six each is.
        weights: the encoder's state.
    """
    torch = importlib.import_module("torch")
    for layer, source in zip(layers, source_layers, strict=True):
        for ours, theirs in _NAMES.items():
            for part in ("weight", "bias"):
                getattr(getattr(layer, ours), part).copy_(weights[f"encoder.layer.{source}.{theirs}.{part}"])
        for part in ("weight", "bias"):
            three = [weights[f"encoder.layer.{source}.attention.self.{name}.{part}"] for name in _SEEN]
            getattr(layer.seen, part).copy_(torch.cat(three))


def read_trained(path: Path) -> dict[str, Any]:
    """The state of a model that `quantise` made small, as near as its int8 weights tell it.

    Args:
        path: the int8 ONNX, with the layers as exported or as `fuse_layers` says them.

    Returns:
        A tensor by the name of its parameter. What stands in two products of the file (`fuse_own_layers`) is left out.
    """
    onnx, torch = importlib.import_module("onnx"), importlib.import_module("torch")
    graph = onnx.load(str(path)).graph
    parts = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}

    def whole(name: str) -> Any:
        zero, scale = parts[f"{name}_zero_point"].astype(np.float32), parts[f"{name}_scale"]
        return torch.from_numpy((parts[f"{name}{_SMALL}"].astype(np.float32) - zero) * scale)

    found = {name: torch.from_numpy(part.copy()) for name, part in parts.items() if name.endswith((".weight", ".bias"))}
    for name in parts:
        if name.endswith(f".weight{_SMALL}"):
            found[name.removesuffix(_SMALL)] = whole(name.removesuffix(_SMALL))
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            module = node.name.strip("/").rpartition("/")[0].replace("/", ".")
            found[f"{module}.weight"] = whole(node.input[1].removesuffix(_SMALL)).T.contiguous()
        elif node.op_type == _PRODUCT:
            module = node.input[4].removesuffix(".bias")
            found[f"{module}.weight"] = whole(node.input[1].removesuffix(_SMALL)).T.contiguous()
    return found


def take_over(net: Any, path: Path, layers: Sequence[int], but: Sequence[str] = ()) -> None:
    """Begin where another model ended: with its weights, and some of its layers.

    Args:
        net: a module with `layers`, otherwise of the same parts.
        path: the other's int8 ONNX.
        layers: which of its layers each of the net's is.
        but: parts that stay as they are, as the other has none.
    """
    torch = importlib.import_module("torch")
    known = read_trained(path)
    state = {}
    for name, weight in net.state_dict().items():
        part, nr, rest = (*name.split(".", 2), "")[:3]
        theirs = f"layers.{layers[int(nr)]}.{rest}" if part == "layers" else name
        state[name] = weight if part in but else known[theirs]
    with torch.no_grad():
        net.load_state_dict(state)


def fill_places(net: Any, weights: dict[str, Any], places: int) -> None:
    """Copy the encoder's positions and its first norm into `net.place` and `net.norm`.

    Args:
        net: a module with both.
        weights: the encoder's state.
        places: how many positions are kept.
    """
    net.place.weight.copy_(weights["embeddings.position_embeddings.weight"][:places])
    for part in ("weight", "bias"):
        getattr(net.norm, part).copy_(weights[f"embeddings.LayerNorm.{part}"])


def mean_of(nets: Sequence[Any]) -> Any:
    """A model whose weights are the mean of several that began alike.

    It is surer than any of them: of the relation model, more SUPERSEDE can be acted on at the same precision on
    held-back pairs.
    """
    torch = importlib.import_module("torch")
    states = [net.state_dict() for net in nets]
    whole = copy.deepcopy(nets[0])
    with torch.no_grad():
        whole.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    return whole.eval()


def batches_of(rows: Sequence[Any], size: int, rng: random.Random) -> list[list[Any]]:
    """Batches of rows of like length, in random order.

    Args:
        rows: each with `features.ids`, the tokens that are read.
        size: rows a batch.
    """
    order = sorted(rows, key=lambda row: len(row.features.ids) + rng.uniform(-6, 6))
    batches = [order[i : i + size] for i in range(0, len(order), size)]
    rng.shuffle(batches)
    return batches


def layer_groups(net: Any, heads: Sequence[Any], recipe: Any) -> list[dict[str, Any]]:
    """Parameters with their learning rates: the heads' own, less for each lower layer, least for place and norm.

    Args:
        net: a module with `layers`, `place`, `norm` and `kind`.
        heads: modules that begin with random weights.
        recipe: with `head_rate`, `rate` and `decay`.
    """
    top = len(net.layers)
    groups = [{"params": [one for head in heads for one in head.parameters()], "lr": recipe.head_rate}]
    for i, layer in enumerate(net.layers):
        groups.append({"params": list(layer.parameters()), "lr": recipe.rate * recipe.decay ** (top - 1 - i)})
    groups.append({"params": [*net.place.parameters(), *net.norm.parameters()], "lr": recipe.rate * recipe.decay**top})
    return groups


def fit(
    net: Any,
    groups: list[dict[str, Any]],
    epoch_rows: Callable[[int], list[Any]],
    loss_of: Callable[[list[Any], random.Random], Any],
    recipe: Any,
) -> None:
    """Fit a model in place: AdamW with a warm-up and a linear fall, gradients cut at 1.

    Args:
        net: a module.
        groups: its parameters with their rates.
        epoch_rows: the rows of an epoch; they may differ from epoch to epoch.
        loss_of: the mean loss of a batch.
        recipe: with `seed`, `epochs` and `batch`.
    """
    torch = importlib.import_module("torch")
    rng = random.Random(recipe.seed)  # noqa: S311 - repeatable, not secret
    torch.manual_seed(recipe.seed)
    best = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    steps = recipe.epochs * math.ceil(len(epoch_rows(0)) / recipe.batch)
    plan = torch.optim.lr_scheduler.LambdaLR(
        best, lambda s: min((s + 1) / (0.08 * steps), max(0.01, (steps - s) / (0.92 * steps)))
    )
    net.train()
    for epoch in range(recipe.epochs):
        start, total = time.time(), 0.0
        rows = epoch_rows(epoch)
        for chunk in batches_of(rows, recipe.batch, rng):
            loss = loss_of(chunk, rng)
            best.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            best.step()
            plan.step()
            total += float(loss.detach()) * len(chunk)
        print(f"  epoch {epoch + 1}: loss {total / len(rows):.3f}, {time.time() - start:.0f} s", flush=True)
    net.eval()


def export_reader(net: Any, target: Path, outputs: dict[str, dict[int, str]]) -> None:
    """Write a model of words and kinds as float32 ONNX with a free length; one sentence a run.

    Args:
        net: a trained model.
        target: the file.
        outputs: names of what it gives, each with its free axes.
    """
    torch = importlib.import_module("torch")
    net.eval()
    axes = {1: "length"}
    torch.onnx.export(
        net,
        (torch.randn(1, 8, WIDTH), torch.tensor([[0, 1, 2, 1, 0, 4, 3, 0]])),
        str(target),
        input_names=["words", "kinds"],
        output_names=list(outputs),
        dynamic_axes={"words": axes, "kinds": axes, **outputs},
        opset_version=OPSET,
        dynamo=False,
    )


def fuse_layers(path: Path) -> None:
    """Say a quantised model's layers in fewer steps, in place: a fifth less time a row.

    An exported layer works out sizes that are known, cuts one product by three slices and adds a mask of padding,
    though it reads one row at a time (`core.belief.relate.relation_model`). Attention is the runtime's own step, which
    rounds otherwise in the last place; now and then a value of int8 falls to the other side then.

    Args:
        path: an int8 model of `layer_class` layers as `quantise` writes it.
    """
    onnx = importlib.import_module("onnx")
    model = onnx.load(str(path))
    graph = model.graph
    producers = {output: node for node in graph.node for output in node.output}
    known = {part.name for part in graph.initializer}
    layers: list[Any] = []
    seen = "/norm/LayerNormalization_output_0"
    for number in range(sum(f"layers.{at}.seen.bias" in known for at in range(_MOST_LAYERS))):
        layers += _fused_steps(onnx, producers, number, seen)
        seen = layers[-1].output[0]
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([WIDTH] * 3, np.int64), _THIRDS))
    _replace_steps(onnx, model, layers)
    onnx.save(model, str(path))


def fuse_own_layers(path: Path) -> None:
    """As `fuse_layers`, for layers that renew the first tokens of a row alone (`reader_net`).

    Of what is said of a talk at most one sentence in a thousand is read otherwise by it.

    Args:
        path: an int8 model of such layers as `quantise` writes it, of one row without padding.
    """
    onnx = importlib.import_module("onnx")
    model = onnx.load(str(path))
    producers = {output: node for node in model.graph.node for output in node.output}
    layers: list[Any] = []
    own, whole, rest = "/layers.0/Slice_output_0", "/norm/LayerNormalization_output_0", "/Slice_output_0"
    count = sum(f"/layers.{at}/MatMul_1_output_0_output_quantized" in producers for at in range(_MOST_LAYERS))
    for number in range(count):
        after = _FIRST_TOKENS if number == count - 1 else f"/layers.{number}/norm2/LayerNormalization_output_0"
        if number:
            whole = f"fused.{number}.whole"
            layers.append(onnx.helper.make_node("Concat", [own, rest], [whole], axis=1))
        layers += _fused_own_steps(onnx, producers, number, (own, whole), after)
        own = after
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([WIDTH] * 2, np.int64), _HALVES))
    _replace_steps(onnx, model, layers)
    onnx.save(model, str(path))


def _replace_steps(onnx: Any, model: Any, layers: Sequence[Any]) -> None:
    """Put layers in the place of the steps that gave what they give, and drop what nothing rests on any more."""
    graph = model.graph
    made = {output for node in layers for output in node.output}
    steps = [*(node for node in graph.node if made.isdisjoint(node.output)), *layers]
    wanted = _steps_in_order(steps, [output.name for output in graph.output])
    used = {name for node in wanted for name in node.input}
    parts = [part for part in graph.initializer if part.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(wanted)
    graph.initializer.extend(parts)
    model.opset_import.append(onnx.helper.make_opsetid(_RUNTIME, 1))


class _LayerSteps:
    """Makes the steps of one layer out of what it was before."""

    def __init__(self, onnx: Any, producers: dict[str, Any], number: int) -> None:
        self._onnx, self._producers = onnx, producers
        self.layer, self.prefix = f"layers.{number}", f"fused.{number}."

    def step(self, kind: str, inputs: list[str], *outputs: str, **settings: Any) -> Any:
        """One step; those of the runtime's own are of its domain."""
        domain = _RUNTIME if kind in _OWN_STEPS else ""
        return self._onnx.helper.make_node(kind, inputs, list(outputs), domain=domain, **settings)

    def product(self, source: str, target: str, part: str, bias: str | None = None) -> Any:
        """The quantised product of a module, or of a step by its name where the module has several."""
        whole = self._producers[f"/{self.layer}/{part}_output_0_output_quantized"]
        scale = self._producers[f"/{self.layer}/{part}_quant_scales_mul:0"].input[1]
        added = bias or f"{self.layer}.{part.partition('/')[0]}.bias"
        return self.step(_PRODUCT, [source, whole.input[1], scale, whole.input[3], added], target)

    def bias_of(self, name: str) -> str:
        """What a sum adds to a product."""
        return str(self._producers[f"/{self.layer}/{name}_output_0"].input[0])

    def list_ends(self, before: str, after: str) -> list[Any]:
        """From what is attended to what the layer gives."""
        prefix, layer = self.prefix, self.layer
        norms = [[f"{layer}.norm{place}.weight", f"{layer}.norm{place}.bias"] for place in (1, 2)]
        return [
            self.product(f"{prefix}attended", f"{prefix}out", "out/MatMul"),
            self.step("Add", [before, f"{prefix}out"], f"{prefix}sum1"),
            self.step("LayerNormalization", [f"{prefix}sum1", *norms[0]], f"{prefix}norm1", axis=-1, epsilon=1e-12),
            self.product(f"{prefix}norm1", f"{prefix}wide", "wide/MatMul"),
            self.step("Gelu", [f"{prefix}wide"], f"{prefix}gelu"),
            self.product(f"{prefix}gelu", f"{prefix}back", "back/MatMul"),
            self.step("SkipLayerNormalization", [f"{prefix}norm1", f"{prefix}back", *norms[1]], after, epsilon=1e-12),
        ]


def _fused_steps(onnx: Any, producers: dict[str, Any], number: int, before: str) -> list[Any]:
    """One layer; its last step gives the tensor that the layer gave before."""
    made = _LayerSteps(onnx, producers, number)
    seen = [f"{made.prefix}{name}" for name in _SEEN]
    return [
        made.product(before, f"{made.prefix}seen", "seen/MatMul"),
        made.step("Split", [f"{made.prefix}seen", _THIRDS], *seen, axis=2),
        made.step("MultiHeadAttention", [*seen], f"{made.prefix}attended", num_heads=HEADS),
        *made.list_ends(before, f"/{made.layer}/norm2/LayerNormalization_output_0"),
    ]


def _fused_own_steps(
    onnx: Any, producers: dict[str, Any], number: int, before: tuple[str, str], after: str
) -> list[Any]:
    """One layer that renews the first tokens (the former of `before`), which see all (the latter)."""
    own, whole = before
    made = _LayerSteps(onnx, producers, number)
    query, others, key, value, attended = (
        f"{made.prefix}{name}" for name in ("query", "others", "key", "value", "attended")
    )
    return [
        made.product(own, query, "MatMul", made.bias_of("Add")),
        made.product(whole, others, "MatMul_1", made.bias_of("Add_1")),
        made.step("Split", [others, _HALVES], key, value, axis=2),
        made.step("MultiHeadAttention", [query, key, value], attended, num_heads=HEADS),
        *made.list_ends(own, after),
    ]


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
