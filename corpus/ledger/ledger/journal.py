from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledger.money import Money
from ledger.parser import Posting, Transaction, parse_journal


class Journal:
    """All transactions of some files, in order of their days."""

    def __init__(self, transactions: Iterable[Transaction]) -> None:
        self.transactions = sorted(transactions, key=lambda t: t.day)

    @classmethod
    def load(cls, *paths: Path) -> Journal:
        return cls(t for path in paths for t in parse_journal(path.read_text("utf-8").splitlines()))

    def postings(self, pattern: str = "") -> Iterator[tuple[Transaction, Posting]]:
        wanted = fold_account(pattern)
        for transaction in self.transactions:
            for posting in transaction.postings:
                if wanted in fold_account(posting.account):
                    yield transaction, posting

    def balances(self) -> dict[str, list[Money]]:
        """What is on each account, one entry for each currency that is not zero."""
        totals: dict[tuple[str, str], Money] = {}
        for _, posting in self.postings():
            if posting.money is None:
                continue
            key = (posting.account, posting.money.currency)
            totals[key] = totals.get(key, Money.zero(key[1])) + posting.money
        result: dict[str, list[Money]] = defaultdict(list)
        for (account, _), money in sorted(totals.items()):
            if money:
                result[account].append(money)
        return dict(result)


def fold_account(name: str) -> str:
    """ς and σ are the same letter at different places, as are É and é."""
    return name.casefold()
