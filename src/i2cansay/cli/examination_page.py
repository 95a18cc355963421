"""What a test of a model found, as one page that loads nothing."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from i2cansay.cli.examination_text import mistake_records, percent, promises
from i2cansay.image_learner import Examination

THUMBNAIL = 160
STYLE = """
.matrix td, .matrix th { text-align: center; min-width: 0; padding: .3rem .45rem; }
.matrix td[data-share] { background: color-mix(in srgb, var(--accent) calc(var(--share) * 70%), transparent); }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 1.2rem; }
.mistakes img { width: 100%; height: 140px; object-fit: contain; background: var(--paper); border-radius: 8px; }
.mistakes figcaption { overflow-wrap: anywhere; }
"""


def page(
    found: Examination,
    names: Sequence[str],
    n_mistakes: int,
    *,
    title: str,
    images: Sequence[Path] | None,
) -> str:
    """Return the page as text; `images`, where there are any, are shown small beside the mistakes they led to."""
    style = files("i2cansay.experiments").joinpath("page.css").read_text(encoding="utf-8") + STYLE
    kept = "".join(f"<li>{escape(line)}</li>" for line in promises(found))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Test of {escape(title)}</title><style>{style}</style></head>
<body><main>
<h1>Test of {escape(title)}</h1>
<p>{found.accuracy:.1%} of {len(found.labels):,} samples are right.</p>
<section><h2>Promised and kept</h2><ul>{kept}</ul></section>
<section><h2>Classes</h2><div class="scroll">{_classes(found)}</div></section>
<section><h2>Confusions</h2><p class="soft">Rows are labels, columns what they were taken for.</p>
<div class="scroll">{_matrix(found)}</div></section>
<section><h2>Worst mistakes</h2><p class="soft">Wrong answers, those given with the highest probability first.</p>
<div class="mistakes">{_mistakes(found, names, n_mistakes, images)}</div></section>
</main></body></html>
"""


def _classes(found: Examination) -> str:
    rows = "".join(
        f"<tr><td>{escape(str(result.label))}</td><td>{result.samples}</td><td>{percent(result.recall)}</td>"
        f"<td>{percent(result.precision)}</td></tr>"
        for result in found.by_class()
    )
    header = "<tr><th>class</th><th>samples</th><th>found</th><th>right when named</th></tr>"
    return f"<table>{header}{rows}</table>"


def _matrix(found: Examination) -> str:
    labels, counts = found.confusion
    header = "".join(f"<th>{escape(str(label))}</th>" for label in labels)
    rows = ""
    for label, row in zip(labels.tolist(), counts.tolist(), strict=True):
        whole = max(sum(row), 1)
        cells = "".join(
            f'<td data-share style="--share:{count / whole:.3f}">{count}</td>' if count else "<td></td>"
            for count in row
        )
        rows += f"<tr><th>{escape(str(label))}</th>{cells}</tr>"
    return f'<table class="matrix"><tr><th></th>{header}</tr>{rows}</table>'


def _mistakes(found: Examination, names: Sequence[str], n: int, images: Sequence[Path] | None) -> str:
    records = mistake_records(found, names, n)
    if not records:
        return "<p>None.</p>"
    shown = found.indices[found.mistakes()[:n]].tolist()
    return "".join(
        _mistake(record, None if images is None else images[index])
        for record, index in zip(records, shown, strict=True)
    )


def _mistake(record: dict[str, Any], image: Path | None) -> str:
    picture = "" if image is None else f'<img alt="" src="{_thumbnail(image)}">'
    return (
        f"<figure>{picture}<figcaption><b>{escape(record['file'])}</b><br>{escape(str(record['label']))}, taken for "
        f"{escape(str(record['taken_for']))} ({record['probability']:.3f}, {record['verdict']})"
        "</figcaption></figure>"
    )


def _thumbnail(path: Path) -> str:
    from i2cansay.encoders.images import open_image

    image, file = open_image(path, shorter_side=THUMBNAIL), io.BytesIO()
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    image.save(file, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
