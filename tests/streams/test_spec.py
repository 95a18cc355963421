"""Streams in one word."""

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from i2cansay.streams import make_stream
from i2cansay.streams.gaussian_schedule import GaussianScheduleStream
from i2cansay.streams.si_blurry import SiBlurryStream
from i2cansay.streams.step import StepStream
from i2cansay.streams.stream import Batch, Labels, Stream, batches_of_pass

Y = np.repeat(np.arange(10), 10)


def test_a_bare_first_value_is_the_first_parameter() -> None:
    bare, named = make_stream("step:2", Y), make_stream("step:classes_per_session=2", Y)
    assert isinstance(bare, StepStream)
    assert isinstance(named, StepStream)
    assert bare.classes_per_session == named.classes_per_session == 2


def test_values_are_read_by_the_type_of_the_parameter() -> None:
    blurry = make_stream(" si_blurry: 3 , blurry = 0.25", Y)
    assert isinstance(blurry, SiBlurryStream)
    assert (blurry.sessions, blurry.disjoint, blurry.blurry) == (3, 0.5, 0.25)
    schedule = make_stream("gaussian_schedule:1,batches=7", Y)
    assert isinstance(schedule, GaussianScheduleStream)
    assert (schedule.width, schedule.batches) == (1.0, 7)


@pytest.mark.parametrize(
    ("spec", "spelled"),
    [
        ("step:2", "step:2"),
        ("step:2,epochs=1", "step:2"),
        ("gaussian:width=0.5", "gaussian"),
        ("gaussian:points=4", "gaussian:points=4"),
        ("gaussian:1,points=4", "gaussian:1.0,points=4"),
    ],
)
def test_short_form_leaves_out_what_is_usual(spec: str, spelled: str) -> None:
    assert make_stream(spec, Y).spec == spelled


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("stairs", r"no stream 'stairs'; known are core50, gaussian, .*step"),
        ("", "no stream ''"),
        ("step", r"'step' needs classes_per_session: write for instance 'step:2'"),
        ("step:two", "expected a whole number for classes_per_session of 'step', got 'two'"),
        ("step:2.5", "expected a whole number"),
        ("gaussian:wide", "expected a number for width of 'gaussian', got 'wide'"),
        ("gaussian:nan", "expected width to be a positive number"),
        ("step:2,3", "expected key=value .* known: classes_per_session, epochs"),
        ("step:2,", "expected key=value"),
        ("step:2,seed=3", "has no parameter 'seed'; known: classes_per_session, epochs"),
        ("step:2,classes_per_session=2", "given twice"),
        ("step:11", "expected classes_per_session to be from 1 to 10, the number of classes"),
        ("step:2,epochs=0", "expected epochs to be at least 1, got 0"),
        ("iid:0", "expected points to be at least 1"),
        ("si_blurry:11", "expected sessions to be from 1 to 10"),
        ("si_blurry:5,blurry=1.5", "expected blurry to be a share"),
        ("gaussian_schedule:batches=0", "expected batches to be at least 1"),
    ],
)
def test_errors_name_what_is_known(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_stream(spec, Y)


def test_importing_the_table_imports_no_stream() -> None:
    code = "import sys, i2cansay.streams; print('i2cansay.streams.step' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_stream_of_your_own_goes_by_module_and_class() -> None:
    y = np.arange(60) % 4
    own = make_stream("i2cansay.streams.step:StepStream:2,epochs=3", y, seed=5)
    assert [batch.rows.tolist() for batch in own] == [
        batch.rows.tolist() for batch in make_stream("step:2,epochs=3", y, seed=5)
    ]
    assert make_stream("i2cansay.streams.iid:IidStream", y).spec == "iid"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plain(Stream):
    has_sessions: ClassVar[bool] = False

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        return batches_of_pass(np.arange(len(self.y)), self.batch_size, session=0)


def test_its_short_form_reads_back_and_it_needs_no_parameters() -> None:
    stream = Plain(y=np.arange(60) % 4)
    assert stream.spec == f"{__name__}:Plain"
    assert make_stream(stream.spec, stream.y).describe() == stream.describe()
    with pytest.raises(ValueError, match=r"expected key=value in the stream '.*Plain', got '3'; it has none"):
        make_stream(f"{stream.spec}:3", stream.y)


def test_what_is_no_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'fractions:Fraction' to be a stream"):
        make_stream("fractions:Fraction", np.arange(4))
