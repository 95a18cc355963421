"""
Teach images
============

Teach images by example and ask for their labels; an image that cannot be read is named, and changes nothing.

``python examples/teach_images.py [ENCODER]``, with ``pip install ".[images]"`` in a clone.
"""

import sys

from sklearn.datasets import load_sample_images

from i2cansay import ImageLearner
from i2cansay.image_learner import UnreadableImages


def main(encoder: str | None = None) -> None:
    """Tell pieces of two photographs apart."""
    palace, flower = load_sample_images().images
    pieces = {
        "palace": [palace[:, left : left + 220] for left in range(0, 420, 60)],
        "flower": [flower[:, left : left + 220] for left in range(0, 420, 60)],
    }
    model = ImageLearner(encoder)
    for label, images in pieces.items():
        model.learn(images[::2], [label] * len(images[::2]))
        print(f"taught {len(images[::2])} images of {label}: {model}")

    for label, images in pieces.items():
        answers = model.predict(images[1::2])
        print(f"{label}: {(answers == label).sum()} of {len(answers)} new pieces are right")
    (guesses,) = model.top([flower], k=2)
    print("the whole flower:", ", ".join(f"{guess.label} {guess.probability:.0%}" for guess in guesses))

    try:
        model.learn([palace, b"no image at all"], ["palace", "palace"])
    except UnreadableImages as error:
        print(f"nothing was learnt: {error}")
    report = model.learn([palace, b"no image at all"], ["palace", "palace"], on_error="skip")
    print(f"learnt {report.learnt}, skipped {dict(report.skipped)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
