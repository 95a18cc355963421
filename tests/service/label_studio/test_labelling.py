"""Labelling configurations: one choice about one image, read without expanding anything."""

from __future__ import annotations

import time

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_studio.labelling import MOST_BYTES, MOST_DEPTH, MOST_TAGS, Labelling

IMAGE = '<Image name="image" value="$image"/>'
CHOICES = '<Choices name="choice" toName="image"><Choice value="rust"/><Choice value="dent"/></Choices>'


def test_a_choice_about_an_image_is_found_among_other_tags() -> None:
    text = (
        f'<View><Header value="Hello"/><Text name="t" value="$t"/><View>{IMAGE}</View>{CHOICES}'
        '<Choices name="mood" toName="t"><Choice value="good"/></Choices>'
        '<Choices name="part" toName="image" perRegion="true"><Choice value="x"/></Choices></View>'
    )
    expected = Labelling("choice", "image", "image", frozenset({"rust", "dent"}))
    assert Labelling.parse(text) == expected


def test_aliases_are_what_annotations_say() -> None:
    text = CHOICES.replace('value="rust"', 'value="Red brown spots" alias="rust"')
    assert Labelling.parse(f"<View>{IMAGE}{text}</View>").labels == {"rust", "dent"}


def test_choices_that_come_with_each_task_are_open() -> None:
    text = '<Choices name="choice" toName="image" value="$options"/>'
    assert Labelling.parse(f"<View>{IMAGE}{text}</View>").labels == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        f"<View>{IMAGE}</View>",
        f"<View>{CHOICES}</View>",
        f"<View>{IMAGE}{CHOICES}{CHOICES}</View>",
        f'<View><Image name="image" valueList="$images"/>{CHOICES}</View>',
        f'<View><Image name="image" value="http://evil.example/a.png"/>{CHOICES}</View>',
        f'<View><Image name="image" value="$a.b"/>{CHOICES}</View>',
    ],
)
def test_other_configurations_are_refused_in_words(text: str) -> None:
    with pytest.raises(ServiceError, match="expected one <Choices> about a whole <Image>"):
        Labelling.parse(text)


BOMB = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 30))


@pytest.mark.parametrize(
    "text",
    [
        f'<!DOCTYPE lolz [<!ENTITY a0 "lol">{BOMB}]><View>{IMAGE}{CHOICES}&a29;</View>',
        f'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]><View>{IMAGE}{CHOICES}&x;</View>',
        f'<!DOCTYPE x SYSTEM "http://evil.example/x.dtd"><View>{IMAGE}{CHOICES}</View>',
        f'<!DOCTYPE x [<!ENTITY % x SYSTEM "http://evil.example/x"> %x;]><View>{IMAGE}{CHOICES}</View>',
    ],
)
def test_nothing_is_expanded_or_fetched(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(ServiceError, match="declares a document type"):
        Labelling.parse(text)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "got none"),
        ("", "got none"),
        (7, "got none"),
        ("<View>", "not XML"),
        ("&x;", "not XML"),
        ("<View>" * (MOST_DEPTH + 1), "deep"),
        (f"<View>{'<View/>' * MOST_TAGS}</View>", "tags"),
        (f"<View>{' ' * MOST_BYTES}</View>", "bytes"),
        ("<View a='\ud800'/>", "expected one <Choices>"),
    ],
)
def test_what_is_no_configuration_is_refused(text: object, words: str) -> None:
    with pytest.raises(ServiceError, match=words):
        Labelling.parse(text)
