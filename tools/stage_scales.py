"""The scales of a recipe's stages, measured on pieces of two photographs.

    python tools/stage_scales.py efficientnet-lite0 [--stages block7.expansion block15.expansion]

A learner that compares distances sees most of the block whose values spread most, so a recipe multiplies each
stage by a constant that gives it the spread of the last layer, which is not scaled. Spread is the variance over the
pieces, mean over the columns of a block, after the square root where no value of the block is negative, as our
learners take it. The pieces are squares of all sizes and places of the photographs that come with scikit-learn, so
that the constants owe nothing to a data set that methods are compared on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.encoder import Encoder
from i2cansay.encoders.encoder_table import recipe_of
from i2cansay.encoders.preprocessing import Pixels
from i2cansay.encoders.stages import Stage

SMALLEST = 48


def pieces(n: int, *, seed: int = 0) -> list[Pixels]:
    """Return n squares of the two photographs, half of each, of sides from 48 pixels to all of their height."""
    from sklearn.datasets import load_sample_images

    photographs = load_sample_images().images
    rng = np.random.default_rng(seed)
    squares = []
    for i in range(n):
        photograph = photographs[i % len(photographs)]
        height, width, _ = photograph.shape
        side = round(np.exp(rng.uniform(np.log(SMALLEST), np.log(height))))
        top, left = rng.integers(0, height - side + 1), rng.integers(0, width - side + 1)
        squares.append(photograph[top : top + side, left : left + side])
    return squares


def scales_of(features: NDArray[np.float32], widths: list[int]) -> list[float]:
    """Return what to multiply each block by so that it spreads as the first one does.

    Examples
    --------
    >>> first = np.random.default_rng(0).uniform(size=(100, 3))
    >>> [round(scale, 9) for scale in scales_of(np.hstack([first, 4 * first, 10 - 20 * first]), [3, 3, 3])[:2]]
    [1.0, 0.25]
    """
    blocks = np.split(np.asarray(features, dtype=np.float64), np.cumsum(widths)[:-1], axis=1)
    never_negative = [block.min() >= 0 for block in blocks]
    spreads = [
        (np.sqrt(block) if positive else block).var(axis=0).mean()
        for block, positive in zip(blocks, never_negative, strict=True)
    ]
    # A variance after the square root grows as the scale itself, without it as the square of the scale.
    return [
        float(spreads[0] / spread if positive else (spreads[0] / spread) ** 0.5)
        for spread, positive in zip(spreads, never_negative, strict=True)
    ]


def unscaled(name: str, stages: list[str]) -> Encoder:
    """Open a recipe with these stages, or its own, as they are."""
    recipe = recipe_of(name)
    if recipe is None:
        raise ValueError(f"{name} is not built from a recipe")
    names = stages or [stage.name for stage in recipe.stages]
    return replace(recipe, stages=tuple(Stage(each) for each in names)).open(features="stages")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoder")
    parser.add_argument("--stages", nargs="*", default=[], help="by default those of the recipe")
    parser.add_argument("--pieces", type=int, default=400)
    arguments = parser.parse_args()
    encoder = unscaled(arguments.encoder, arguments.stages)
    scales = scales_of(encoder.encode(pieces(arguments.pieces)), [block.width for block in encoder.blocks])
    for block, scale in zip(encoder.blocks, scales, strict=True):
        print(f"{block.name:24} {block.width:6} {scale:10.3g}")


if __name__ == "__main__":
    main()
