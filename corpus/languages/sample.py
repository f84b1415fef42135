"""Module docstring, with naïve café."""
from __future__ import annotations
import dataclasses
from typing import Protocol

VERSION = "1.0"
count: int = 0
a, (b, *rest) = 1, (2, 3)
type Vector = list[float]
type Tree[T] = T | list[Tree[T]]
square = lambda x: x * x


class Stack[T](Protocol):
    """PEP 695 class."""

    items: list[T] = []
    LIMIT = 10

    def __init__(self, *args: *tuple[int, ...]) -> None:
        self.items = []
        local = 1

    @property
    def size(self) -> int:
        return len(self.items)

    @staticmethod
    async def load[S: (str, bytes)](path: S, /, *, mode="r") -> Stack[T]:
        async with open(path) as f, open("x") as g:
            return [x async for x in f]

    class Node:
        def next(self): ...


@dataclasses.dataclass(slots=True)
class Point:
    x: int
    y: int = 0


def first[T](items: list[T], /) -> T:
    def nested(): pass
    if (n := len(items)) > 10:
        print(f"{n=!r:>{10}} {items[0]!s:{'<'}5}")
    match items:
        case [Point(x=0, y=0), *_]:
            pass
        case {"key": value, **rest} if value > 0:
            pass
        case str() | None as found:
            pass
    try:
        pass
    except* ValueError as group:
        local = group
    return items[0]


async def main() -> None:
    await first([])


if __name__ == "__main__":
    entry = main
    def conditional(): ...


class Stack[T: (int, str) = int, *Ts = *tuple[int, ...]]:
    items: list[T]

    def push[U = dict[str, int]](self, item: U) -> None: ...


type Pair[T = str] = tuple[T, T]
