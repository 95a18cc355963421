"""A small vocabulary for writing ONNX graphs: layers in, a model out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError
from i2cansay.encoders.graph_nodes import Array, GraphNodes
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.stages import LAST, Block, Stage, StageError, as_stages, blocks_to_text


class Graph(GraphNodes):
    """An ONNX graph under construction; every method adds a layer and returns the name of its output.

    The input is called `pixels`: uint8, (n, height, width, 3), as an image lies in memory. Normalisation is
    the graph's first layer, so that no other code can get it wrong.

    Parameters
    ----------
    preprocessing : Preprocessing
    fixed_size : bool
        Whether the graph takes images of this size only.
    stages : sequence of Stage or str
        The maps to read besides the last layer, in the order in which their blocks follow it.

    Examples
    --------
    >>> graph = Graph(Preprocessing(size=8, resize=8), stages=["colour"])
    >>> pixels = graph.pixels()
    >>> graph.stage("colour", pixels)
    >>> features = graph.add("GlobalMaxPool", pixels)
    >>> model = graph.model({"features": graph.flatten(features)}, dim=3)
    >>> [(each.key, each.value) for each in model.metadata_props]
    [('blocks', '[["last", 3], ["colour", 3]]')]
    """

    def __init__(
        self, preprocessing: Preprocessing, *, fixed_size: bool = False, stages: Sequence[Stage | str] = ()
    ) -> None:
        super().__init__()
        self._preprocessing = preprocessing
        self._fixed_size = fixed_size
        self._stages = as_stages(stages)
        self._offered: list[str] = []
        self._pooled: dict[str, str] = {}

    def pixels(self) -> str:
        """Add the input: uint8 pixels cast, put channels first, and normalised."""
        channels_first = self.add("Transpose", "pixels", perm=[0, 3, 1, 2])
        numbers = self.add("Cast", channels_first, to=self.onnx.TensorProto.FLOAT)
        scale, shift = self._preprocessing.scale_and_shift()
        scaled = self.add("Mul", numbers, self.constant(scale.reshape(1, 3, 1, 1)))
        return self.add("Add", scaled, self.constant(shift.reshape(1, 3, 1, 1)))

    def convolution(self, x: str, weight: Array, bias: Array | None = None, **attributes: Any) -> str:
        """Add a convolution with weight (out, in / groups, height, width)."""
        inputs = [x, self.constant(weight)] + ([] if bias is None else [self.constant(bias)])
        return self.add("Conv", *inputs, kernel_shape=list(weight.shape[2:]), **attributes)

    def linear(self, x: str, weight: Array, bias: Array | None = None) -> str:
        """Add x @ weight.T + bias over the last axis, weight (out, in) as torch keeps it."""
        product = self.add("MatMul", x, self.constant(weight.T))
        return product if bias is None else self.add("Add", product, self.constant(bias))

    def layer_norm(self, x: str, weight: Array, bias: Array, epsilon: float) -> str:
        """Add a layer norm over the last axis."""
        return self.add(
            "LayerNormalization", x, self.constant(weight), self.constant(bias), axis=-1, epsilon=epsilon
        )

    def flatten(self, x: str) -> str:
        """Add a flattening to (n, everything else)."""
        return self.add("Flatten", x, axis=1)

    def stage(self, name: str, layer: str | Callable[[], str], *, pool: str = "mean") -> None:
        """Offer a layer as a stage; where it is not among the wanted ones, nothing is added.

        Parameters
        ----------
        name : str
            Unique in the network, as "block7.expansion".
        layer : str or callable
            A map (n, d, height, width), tokens (n, tokens, d), or (n, d), as `pool` says; or what adds it to the
            graph, called only where the stage is wanted.
        pool : {"mean", "mean-tokens", "first-token", "none"}
            How it becomes (n, d): the mean over all places of a map; the mean over, or the first of, the tokens; as
            it is.
        """
        if name in self._offered:
            raise StageError(f"a stage {name!r} is there already; give each a name of its own")
        self._offered.append(name)
        if name in {stage.name for stage in self._stages}:
            self._pooled[name] = self._pool(layer if isinstance(layer, str) else layer(), pool)

    def _pool(self, layer: str, pool: str) -> str:
        match pool:
            case "mean":
                return self.flatten(self.add("GlobalAveragePool", layer))
            case "mean-tokens":
                return self.add("ReduceMean", layer, axes=[1], keepdims=0)
            case "first-token":
                return self.add("Gather", layer, self.constant(np.array(0)), axis=1)
            case "none":
                return layer
        raise StageError(f'pool is one of "mean", "mean-tokens", "first-token", "none", got {pool!r}')

    def model(self, outputs: Mapping[str, str], *, dim: int) -> Any:
        """Close the graph and return a checked ModelProto.

        Parameters
        ----------
        outputs : mapping of str to str
            The wanted names to layers, `features` first. The wanted stages are put beside the features, and the
            metadata `blocks` says which columns are whose.
        dim : int
            Width of the last layer's features.
        """
        if missing := [stage.name for stage in self._stages if stage.name not in self._pooled]:
            raise StageError(
                f"the network has no stage {missing[0]!r}; it has {', '.join(self._offered) or 'none'}"
            )
        layers, blocks = dict(outputs), [Block(LAST, dim)]
        if self._stages:
            blocks += self._stage_blocks()
            layers["features"] = self.add(
                "Concat", outputs["features"], *(self._scaled(stage) for stage in self._stages), axis=1
            )
        for wanted, layer in layers.items():
            self.nodes.append(self.onnx.helper.make_node("Identity", [layer], [wanted], name=wanted))
        width = sum(block.width for block in blocks)
        model = self._closed({name: ["n", width if name == "features" else None] for name in layers})
        if self._stages:
            entry = model.metadata_props.add()
            entry.key, entry.value = "blocks", blocks_to_text(blocks)
        self.onnx.checker.check_model(model)
        return model

    def _scaled(self, stage: Stage) -> str:
        pooled = self._pooled[stage.name]
        return pooled if stage.scale == 1 else self.add("Mul", pooled, self.constant(np.array(stage.scale)))

    def _stage_blocks(self) -> list[Block]:
        """The wanted stages with their widths, which ONNX works out from the layers."""
        unfinished = self._closed(dict.fromkeys(self._pooled.values()))
        shapes = self.onnx.shape_inference.infer_shapes(unfinished, strict_mode=True)
        sides = {each.name: each.type.tensor_type.shape.dim for each in shapes.graph.output}
        blocks = []
        for stage in self._stages:
            side = sides[self._pooled[stage.name]]
            if len(side) != 2 or not side[1].dim_value:
                raise StageError(
                    f"expected the stage {stage.name!r} as (n, d) after pooling, got {list(side)}"
                )
            blocks.append(Block(stage.name, side[1].dim_value))
        return blocks

    def _closed(self, outputs: Mapping[str, list[Any] | None]) -> Any:
        """Return the nodes so far as a model with outputs of these names and shapes; None is unknown."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        size: int | str = self._preprocessing.size if self._fixed_size else "size"
        inputs = [helper.make_tensor_value_info("pixels", types.UINT8, ["n", size, size, 3])]
        infos = [helper.make_tensor_value_info(name, types.FLOAT, shape) for name, shape in outputs.items()]
        return self.finished(inputs, infos, name="encoder")


def fold_batch_norm(
    weight: Array, weights: Mapping[str, Array], norm: str, *, epsilon: float
) -> tuple[Array, Array]:
    """Merge a batch norm into the convolution before it.

    Parameters
    ----------
    weight : ndarray of shape (out, in, height, width)
    weights : mapping that holds `norm`.weight, .bias, .running_mean and .running_var, each of shape (out,)

    Returns
    -------
    weight, bias : ndarrays of shapes (out, in, height, width) and (out,), float32
    """
    gamma, beta, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    if variance.min(initial=0) < 0:
        raise CheckpointError(f"the variances '{norm}.running_var' are negative")
    gain = gamma / np.sqrt(variance + epsilon)
    folded = weight.astype(np.float64) * gain[:, None, None, None]
    return folded.astype(np.float32), (beta - mean * gain).astype(np.float32)
