from __future__ import annotations

import numpy as np
import stage_scales


def test_scaled_blocks_spread_alike() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.gamma(2.0, size=(400, 30)), 50 * rng.gamma(1.0, size=(400, 20))
    signed = rng.normal(scale=7.0, size=(400, 10))
    blocks = [first, second, signed]
    scales = stage_scales.scales_of(np.hstack(blocks).astype(np.float32), [30, 20, 10])
    assert scales[0] == 1
    spreads = [
        np.sqrt(scale * block).var(axis=0).mean() for scale, block in zip(scales, blocks[:2], strict=False)
    ]
    spreads.append((scales[2] * signed).var(axis=0).mean())
    assert np.allclose(spreads, spreads[0], rtol=1e-4)


def test_pieces_are_squares_of_both_photographs() -> None:
    pieces = stage_scales.pieces(20)
    sides = {piece.shape[0] for piece in pieces}
    assert len(pieces) == 20
    assert all(piece.shape == (piece.shape[0], piece.shape[0], 3) for piece in pieces)
    assert stage_scales.SMALLEST <= min(sides) < max(sides) <= 427
    again = stage_scales.pieces(20)
    assert all(np.array_equal(one, two) for one, two in zip(pieces, again, strict=True))


def test_the_scales_of_the_default_encoder_are_those_measured() -> None:
    encoder = stage_scales.unscaled("efficientnet-lite0", [])
    widths = [block.width for block in encoder.blocks]
    measured = stage_scales.scales_of(encoder.encode(stage_scales.pieces(60)), widths)
    from i2cansay.encoders.efficientnet import EFFICIENTNET_LITE0

    written = [1.0, *(stage.scale for stage in EFFICIENTNET_LITE0.stages)]
    # Few pieces, for speed: 400 are what the constants were measured on.
    assert np.allclose(measured, written, rtol=0.3)
