"""Checks of the blocks of a transformer that a method puts its prefixes in."""

from __future__ import annotations

from i2cansay.learners.prompts.transformer_weights import TransformerWeights


def check_blocks(network: TransformerWeights | None, **parameters: tuple[int, ...]) -> None:
    """Raise unless every parameter names different blocks, from 0, that the network has.

    Examples
    --------
    >>> check_blocks(None, prefix_blocks=(0, 0))
    Traceback (most recent call last):
    ...
    ValueError: prefix_blocks must be different whole numbers from 0, got (0, 0)
    """
    for name, blocks in parameters.items():
        whole = all(isinstance(block, int) and block >= 0 for block in blocks)
        if not blocks or not whole or len(set(blocks)) < len(blocks):
            raise ValueError(f"{name} must be different whole numbers from 0, got {blocks!r}")
        if network is not None and max(blocks) >= network.depth:
            raise ValueError(
                f"{name} must be below {network.depth}, the blocks of the network, got {blocks!r}"
            )
