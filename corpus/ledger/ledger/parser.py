"""Tokens to transactions, with the one missing amount filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ledger.lexer import Token, tokenize
from ledger.money import Money


class ParseError(ValueError):
    pass


@dataclass(slots=True)
class Posting:
    account: str
    money: Money | None


@dataclass(slots=True)
class Transaction:
    day: date
    text: str
    postings: list[Posting] = field(default_factory=list)

    def balance(self) -> None:
        """Fills in the amount that was left out; raises if the rest does not sum up to zero."""
        missing = [p for p in self.postings if p.money is None]
        if len(missing) > 1:
            raise ParseError(f"{self.day} {self.text}: more than one amount is missing")
        total = sum_money(p.money for p in self.postings if p.money is not None)
        if missing:
            missing[0].money = -total
        elif total:
            raise ParseError(f"{self.day} {self.text}: off by {total}")


def sum_money(amounts: Iterable[Money]) -> Money:
    total: Money | None = None
    for money in amounts:
        total = money if total is None else total + money
    if total is None:
        raise ParseError("a transaction without any amount")
    return total


def parse_journal(lines: Iterable[str]) -> Iterator[Transaction]:
    current: Transaction | None = None
    for token in tokenize(lines):
        if token.kind == "header":
            if current is not None:
                yield finish(current)
            current = start(token)
        elif token.kind == "posting":
            if current is None:
                raise ParseError(f"line {token.line}: a posting before any header")
            current.postings.append(read_posting(token))
    if current is not None:
        yield finish(current)


def start(token: Token) -> Transaction:
    return Transaction(date.fromisoformat(str(token.fields["date"])), str(token.fields["text"]))


def finish(transaction: Transaction) -> Transaction:
    transaction.balance()
    return transaction


def read_posting(token: Token) -> Posting:
    amount, currency = token.fields["amount"], token.fields["currency"]
    if amount is None or currency is None:
        return Posting(str(token.fields["account"]), None)
    money = Money(Decimal(amount.replace(",", "")), currency)
    return Posting(str(token.fields["account"]), money)
