"""What a class may be called."""

from __future__ import annotations

import unicodedata

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_text import check_label
from i2cansay.service.limits import Limits


@pytest.mark.parametrize(
    "label",
    [
        "scratch",
        "crack / riss",
        "Kühler",
        "-",
        "7",
        "ひび割れ",
        "عيب",
        "نمی\u200cخواهم",  # noqa: RUF001  Persian: the parts of the word must not join
        "क्\u200dष",  # Hindi: half of a letter
        "ශ්\u200dරී",  # Sinhala
        "👩\u200d🔧",  # a mechanic
        "🏳\ufe0f\u200d🌈",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "👍🏽",
        "e\u0323\u0302",  # a mark that does not compose away
    ],
)
def test_labels_in_many_scripts_are_kept(label: str) -> None:
    assert check_label(f" {label} ", Limits()) == unicodedata.normalize("NFC", label)


@pytest.mark.parametrize(
    "code",
    [
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *(0x2800, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xE000, 0xFFFF, 0xE0001, 0xE0041, 0xE0100),
        *(0xF0000, 0x10FFFF, 0x0000, 0x000A, 0x0085, 0x2028, 0x2029, 0xD800),
    ],
)
def test_what_cannot_be_seen_is_refused_by_its_name(code: int) -> None:
    with pytest.raises(ServiceError, match=f"U\\+{code:04X}") as refusal:
        check_label(f"a{chr(code)}b", Limits())
    assert refusal.value.status == 422
    with pytest.raises(ServiceError):
        check_label(chr(code), Limits())


@pytest.mark.parametrize("label", ["\u0301", "\u0301 \u0308", "\u20dd"])
def test_marks_alone_are_no_label(label: str) -> None:
    with pytest.raises(ServiceError, match="letter, digit or symbol"):
        check_label(label, Limits())


def test_of_all_characters_only_those_that_can_be_seen_are_accepted() -> None:
    accepted = 0
    for code in (*range(0x3000), *range(0xF000, 0x10000), *range(0x1F000, 0x20000), *range(0xE0000, 0xE0200)):
        try:
            kept = check_label(f"a{chr(code)}b", Limits())
        except ServiceError:
            continue
        accepted += 1
        for character in kept:
            assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    assert accepted > 10_000
