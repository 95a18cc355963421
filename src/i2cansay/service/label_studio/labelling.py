"""The labelling configuration of a project: which choice is made about which image."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from i2cansay.service.errors import refused

MOST_BYTES = 2**20
MOST_TAGS, MOST_DEPTH = 20_000, 64
FIELD = re.compile(r"\$([^\W\d]\w*)")
"""How a tag names a field of the data of a task."""


@dataclass(frozen=True)
class Labelling:
    """One `<Choices>` about one `<Image>`.

    Attributes
    ----------
    choices, image : str
        The names of the two tags.
    field : str
        Where a task has the address of its image.
    labels : frozenset of str
        What can be chosen; empty where the choices come with each task.

    Examples
    --------
    >>> choices = '<Choices name="c" toName="i"><Choice value="rust"/></Choices>'
    >>> Labelling.parse(f'<View><Image name="i" value="$image"/>{choices}</View>')
    Labelling(choices='c', image='i', field='image', labels=frozenset({'rust'}))
    """

    choices: str
    image: str
    field: str
    labels: frozenset[str]

    @classmethod
    def parse(cls, text: object) -> Labelling:
        """Read a configuration; raise ServiceError where it is not one, or not of this kind."""
        if not isinstance(text, str) or not text.strip():
            raise refused("expected the labelling configuration of a project, got none")
        data = text.encode(errors="replace")
        if len(data) > MOST_BYTES:
            raise refused(f"a labelling configuration may have {MOST_BYTES} bytes, this one has {len(data)}")
        reading = _Reading()
        reading.read(data)
        return reading.found()


@dataclass
class _Tag:
    attributes: dict[str, str]
    labels: list[str] = field(default_factory=list)
    open_ended: bool = False


class _Reading:
    """A configuration being read. What can grow while it is parsed, entities and documents elsewhere, is refused."""

    def __init__(self) -> None:
        self._images: dict[str, str] = {}
        self._choices: list[_Tag] = []
        self._open: list[_Tag | None] = []
        self._tags = 0

    def read(self, data: bytes) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartDoctypeDeclHandler = self._no_declarations
        parser.EntityDeclHandler = self._no_declarations
        parser.ExternalEntityRefHandler = self._no_declarations
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise refused(f"the labelling configuration is not XML: {error}") from None

    def _no_declarations(self, *_: Any) -> NoReturn:
        raise refused("the labelling configuration declares a document type or entities, which it must not")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._tags += 1
        if self._tags > MOST_TAGS or len(self._open) >= MOST_DEPTH:
            raise refused(
                f"a labelling configuration may have {MOST_TAGS} tags, {MOST_DEPTH} deep; this one has more"
            )
        kind, inside = tag.lower(), self._open[-1] if self._open else None
        if kind == "image" and (named := FIELD.fullmatch(attributes.get("value", ""))):
            self._images[attributes.get("name", "")] = named[1]
        if kind == "choices":
            inside = _Tag(attributes, open_ended="value" in attributes)
            self._choices.append(inside)
        elif kind == "choice" and inside is not None:
            inside.labels.append(attributes.get("alias") or attributes.get("value", ""))
        self._open.append(inside)

    def _end(self, _: str) -> None:
        self._open.pop()

    def found(self) -> Labelling:
        fitting = [
            tag
            for tag in self._choices
            if tag.attributes.get("toName") in self._images
            and tag.attributes.get("perRegion", "false").lower() != "true"
        ]
        if len(fitting) != 1:
            raise refused(
                "expected one <Choices> about a whole <Image> in the labelling configuration, got "
                f'{len(fitting)}; the image names its field as value="$image"'
            )
        (tag,) = fitting
        labels = frozenset[str]() if tag.open_ended else frozenset(label for label in tag.labels if label)
        image = tag.attributes["toName"]
        return Labelling(tag.attributes.get("name", ""), image, self._images[image], labels)
