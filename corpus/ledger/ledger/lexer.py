"""Lines of a journal file to tokens. A line is a header, a posting, a comment or blank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HEADER = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2})\s+(?P<text>.+?)\s*$")
POSTING = re.compile(
    r"\s+(?P<account>\S(?:.*?\S)??)(?:\s{2,}(?P<amount>-?[\d.,]+)\s+(?P<currency>[A-Z]{3}))?\s*$"
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str  # "header", "posting" or "blank"
    line: int  # 1-based
    fields: dict[str, str | None]


class LexError(ValueError):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: cannot read {text!r}")
        self.line = line


def tokenize(lines: Iterable[str]) -> Iterator[Token]:
    for number, line in enumerate(lines, start=1):
        text = line.split(";", 1)[0].rstrip()
        if not text:
            yield Token("blank", number, {})
        elif match := HEADER.match(text):
            yield Token("header", number, match.groupdict())
        elif match := POSTING.match(text):
            yield Token("posting", number, match.groupdict())
        else:
            raise LexError(number, line)
