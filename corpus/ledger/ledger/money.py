"""Amounts of money: exact decimals that know their currency."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from ledger.tables import MINOR_UNITS


class CurrencyMismatch(ValueError):
    """Two currencies met in one sum."""


@dataclass(frozen=True, slots=True)
class Money:
    amount: Decimal
    currency: str

    @classmethod
    def zero(cls, currency: str) -> Money:
        return cls(Decimal(0), currency)

    def __add__(self, other: Money) -> Money:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self.currency} + {other.currency}")
        return Money(self.amount + other.amount, self.currency)

    def __neg__(self) -> Money:
        return Money(-self.amount, self.currency)

    def __bool__(self) -> bool:
        return self.amount != 0

    def rounded(self) -> Money:
        """To what can be paid: cents, or whole yen."""
        digits = MINOR_UNITS.get(self.currency, 2)
        step = Decimal(1).scaleb(-digits)
        return Money(self.amount.quantize(step, rounding=ROUND_HALF_EVEN), self.currency)

    def __str__(self) -> str:
        return f"{self.rounded().amount} {self.currency}"
