"""Labels as text: normalized, and limited to visible characters, so that labels that look the same are the same."""

from __future__ import annotations

import unicodedata

from i2cansay.service.errors import refused
from i2cansay.service.limits import Limits

JOINERS = {"\u200c", "\u200d"}
"""Zero-width non-joiner and joiner: Persian, Indian scripts and emoji need them."""
EMOJI_STYLE = {"\ufe0e", "\ufe0f"}
"""Ask for a symbol to be shown as text or as an emoji."""
KEYCAP = "\u20e3"
BLANK = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",  # fillers, joiners and an empty Braille cell
    *map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),  # variants
}
"""Characters whose category is a letter, mark or symbol, but that are invisible."""
UNSEEN = {"Cf", "Cn", "Co"}
"""Categories of format characters, unassigned code points and private use."""
CONTROL = {"Cc", "Cs", "Zl", "Zp"}
VIRAMA = 9
"""The combining class of the sign that removes the vowel of an Indian letter."""


def normalized_label(label: str) -> str:
    """Return a label as it is stored: composed (NFC), without space around it.

    Examples
    --------
    >>> normalized_label(" Ku\\u0308hler ")
    'Kühler'
    """
    return unicodedata.normalize("NFC", label).strip()


def check_label(label: str, limits: Limits) -> str:
    """Return a new label as it is stored; raise ServiceError where it could be taken for another.

    Control characters, characters that cannot be seen or change the direction of writing, unassigned characters and
    those of private use are refused. Joiners are allowed where they change what is seen. Look-alikes from other
    scripts, as the Cyrillic a, are not refused.

    Examples
    --------
    >>> check_label(" scratch ", Limits())
    'scratch'
    >>> check_label("co\\u00adop", Limits())
    Traceback (most recent call last):
    i2cansay.service.errors.ServiceError: a label has visible characters only, got U+00AD (SOFT HYPHEN); leave it out
    """
    kept = normalized_label(label)
    if not kept or len(kept) > limits.label_length:
        raise refused(f"a label has 1 to {limits.label_length} characters, got {len(kept)}")
    for place, character in enumerate(kept):
        category = unicodedata.category(character)
        if category in CONTROL:
            raise refused(
                f"a label has no control characters, got U+{ord(character):04X}; strip line ends and tabs"
            )
        if (category in UNSEEN or character in BLANK) and not _changes_what_is_seen(kept, place):
            name = unicodedata.name(character, "private use" if category == "Co" else "unassigned")
            raise refused(
                f"a label has visible characters only, got U+{ord(character):04X} ({name}); leave it out"
            )
    if all(unicodedata.category(character)[0] in "MZ" for character in kept):
        raise refused(
            f"a label has a letter, digit or symbol, got only marks without one, as U+{ord(kept[0]):04X}"
        )
    return kept


def _changes_what_is_seen(label: str, place: int) -> bool:
    """Return whether a joiner or an emoji style makes a visible difference at `place`."""
    before, after = label[place - 1 : place] or " ", label[place + 1 : place + 2] or " "
    symbols = unicodedata.category(before) in ("So", "Sk", "Sm")
    if label[place] in EMOJI_STYLE:
        return symbols or after == KEYCAP
    if label[place] not in JOINERS:
        return False
    if unicodedata.combining(before) == VIRAMA:
        return True
    if label[place] == "\u200d" and (symbols or before in EMOJI_STYLE):
        return unicodedata.category(after) in ("So", "Sm")  # a family is people joined; the male sign is So
    return unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"
