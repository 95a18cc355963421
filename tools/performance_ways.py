"""The sections of docs/performance.md on the way from images to answers: encoder, lessons, service, command line."""

from collections.abc import Sequence

from performance_words import Lines, Row, join_words, met, span, table

AIM_OF_SERVICE, AIM_OF_ENCODER = 0.5, 0.95


def encoding(figures: Sequence[Row]) -> Lines:
    """Return the encoder against the bare run-time."""
    allowed, bare = "pipeline / what the cores allow", "pipeline / bare inference"
    processor, busy = "processor time, parts / pipeline", "workers with a batch in hand"
    head = ["images", "of what the cores allow", "of bare ONNX Runtime", "images/s", processor, busy]
    body = [
        [
            row["images"],
            *(f"{row[ratio]:.2f}" for ratio in (allowed, bare)),
            f"{1 / row['pipeline']:.0f}",
            *(f"{row[ratio]:.2f}" for ratio in (processor, busy)),
        ]
        for row in figures
    ]
    shares = [row[allowed] for row in figures]
    photographs = [row[allowed] for row in figures if str(row["images"]).startswith("JPEG")]
    return [
        *table(head, body),
        "",
        f"{figures[0]['encoder']}, {figures[0]['threads']} threads, from bytes of files to features. The cores "
        "allow what bare inference and preparing on all cores take together. The pipeline reaches "
        f"{span(shares, 2)} of that; the aim is {AIM_OF_ENCODER:g} for JPEG files, which is "
        f"{met(min(photographs) >= AIM_OF_ENCODER)}. "
        "A ratio above 1 is noise. Of what the pipeline takes of the processor, its parts alone make up the share "
        "in the last column but one. The last is the share of the time for which the workers have a batch in hand.",
    ]


def answering(figures: Sequence[Row]) -> Lines:
    """Return a lesson and its answer against one product of a matrix with a vector."""
    head = ["D", "C", "lesson and answer, in products", "and novelty", "solved anew", "lesson and answer, ms"]
    body = [
        [
            row["d"],
            row["c"],
            *(f"{row[key] / row['product']:.1f}" for key in ("lesson", "novelty", "anew")),
            f"{1e3 * row['lesson']:.1f}",
        ]
        for row in figures
    ]
    shares = [row["anew"] / row["lesson"] for row in figures]
    return [
        *table(head, body),
        "",
        "The closed form of the shared mode learns one sample and answers one question. The unit is the product of "
        f"a dense matrix with a vector. Following a lesson is {span(shares)} times as fast as solving anew.",
    ]


def serving(figures: Row) -> Lines:
    """Return the service beside the same work in one process."""
    cases = figures["cases"]
    head = [
        "case",
        "of in-process",
        "in processor time",
        "requests/s",
        "in process/s",
        "p50 / p99, ms",
        "errors",
    ]
    body = [
        [
            case["case"],
            f"{case['ratio']:.2f}",
            f"{case['processor_ratio']:.2f}",
            f"{case['requests_per_second']:,.0f}",
            f"{case['in_process_per_second']:,.0f}",
            ", ".join(
                f"{kind} {case['p50_ms'][kind]:.0f} / {case['p99_ms'][kind]:.0f}" for kind in case["p50_ms"]
            ),
            sum(case["errors"].values()),
        ]
        for case in cases
    ]
    lines = [
        *table(head, body),
        "",
        f"{figures['clients']} clients over loopback, which share the cores with the service. Case by case the "
        f"service reaches {span([case['ratio'] for case in cases], 2)} of the rate of the same work in one process",
    ]
    packed = [case["ratio"] for case in cases if case["body"] == "packed"]
    if packed:
        reached = sum(share >= AIM_OF_SERVICE for share in packed)
        where = "" if reached in (0, len(packed)) else f" in {reached} of these {len(packed)} cases"
        lines[-1] += (
            f"; with features in packed bodies {span(packed, 2)}. The aim is {AIM_OF_SERVICE:g} with packed bodies, "
            f"which is {met(reached > 0)}{where}"
        )
    lines[-1] += ". [docs/service.md](service.md) says what the cases are."
    return lines


def starting(figures: Sequence[Row]) -> Lines:
    """Return how soon the command line answers."""
    head = ["`i2cansay`", "of the aim", "processor time, s", "aim, s"]
    body = [
        [f"`{row['call']}`", f"{row['seconds'] / row['aim']:.2f}", f"{row['seconds']:.2f}", row["aim"]]
        for row in figures
    ]
    late = [f"`{row['call']}`" for row in figures if row["seconds"] > row["aim"]]
    return [
        *table(head, body),
        "",
        "Processor time of the whole process. A path is checked before scipy, scikit-learn or ONNX Runtime is "
        f"imported. {f'Above the aim: {join_words(late)}.' if late else 'All stay below the aim.'}",
    ]
