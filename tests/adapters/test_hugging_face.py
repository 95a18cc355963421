"""Images of the library `datasets`."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_sample_images

from i2cansay import ImageLearner
from i2cansay.adapters.hugging_face import lessons

datasets: Any = pytest.importorskip("datasets")
pillow: Any = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.adapters
PHOTOGRAPHS = load_sample_images().images
CROPS = [PHOTOGRAPHS[row % 2][10 * row : 10 * row + 100, :100] for row in range(20)]
NAMES = ["palace", "flower"]
FEATURES = {"image": datasets.Image(), "label": datasets.ClassLabel(names=NAMES)}


def made(**columns: Any) -> Any:
    rows = {"image": CROPS, "label": [row % 2 for row in range(20)], "note": ["x"] * 20, **columns}
    features = datasets.Features({**FEATURES, "note": datasets.Value("string")})
    return datasets.Dataset.from_dict(rows, features=features)


def test_lessons_are_learnt_by_the_names_of_their_classes() -> None:
    model, reference = ImageLearner("pixels", "ncm"), ImageLearner("pixels", "ncm")
    for images, labels in lessons(made(), size=8):
        assert len(images) == len(labels) <= 8
        assert model.learn(images, labels).learnt == len(images)
    reference.learn(CROPS, [NAMES[row % 2] for row in range(20)])
    assert model.classes_.tolist() == ["flower", "palace"]
    assert model.predict(CROPS).tolist() == reference.predict(CROPS).tolist()


def test_a_streaming_data_set_gives_the_same_lessons() -> None:
    whole = [labels for _, labels in lessons(made(), size=8)]
    streamed = list(lessons(made().to_iterable_dataset(), size=8))
    assert [labels for _, labels in streamed] == whole
    assert all(isinstance(image, bytes) for image in streamed[0][0])


def test_other_columns_and_plain_labels() -> None:
    dataset = made().rename_columns({"image": "photo", "note": "kind"})
    ((images, labels),) = lessons(dataset, image="photo", label="kind")
    assert labels == ["x"] * 20
    assert len(images) == 20


def test_files_are_opened_by_the_model_the_right_side_up(tmp_path: Path) -> None:
    upright = pillow.fromarray(PHOTOGRAPHS[0][:100, :60])
    exif = pillow.Exif()
    exif[0x0112] = 6  # the camera was turned
    turned = io.BytesIO()
    upright.transpose(pillow.Transpose.ROTATE_90).save(turned, "PNG", exif=exif)
    (tmp_path / "turned.png").write_bytes(turned.getvalue())
    for image in ({"bytes": turned.getvalue(), "path": None}, str(tmp_path / "turned.png")):
        dataset = datasets.Dataset.from_dict(
            {"image": [image], "label": [0]}, features=datasets.Features(FEATURES)
        )
        ((images, _),) = lessons(dataset)
        encoder = ImageLearner("pixels").encoder
        np.testing.assert_allclose(encoder.encode(images), encoder.encode([upright]), atol=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image": "img"}, "expected a column 'img', the data set has image, label, note"),
        ({"label": "fine_label"}, "expected a column 'fine_label'"),
        ({"image": "note"}, r"expected images in the column 'note', got Value\('string'\)"),
    ],
)
def test_a_wrong_column_is_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        next(lessons(made(), **options))


def test_rows_without_image_or_label_are_told() -> None:
    with pytest.raises(ValueError, match="got one without"):
        next(lessons(made(label=[-1] * 20)))
    with pytest.raises(ValueError, match="got a row without one"):
        next(lessons(made(image=[None, *CROPS[1:]])))
    with pytest.raises(ValueError, match="knows its features"):
        next(lessons(datasets.IterableDataset.from_generator(lambda: iter([{"image": b"", "label": 0}]))))
