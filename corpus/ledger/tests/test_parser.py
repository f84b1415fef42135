from decimal import Decimal

import pytest

from ledger.money import CurrencyMismatch, Money
from ledger.parser import ParseError, parse_journal

COFFEE = """\
2024-03-01 Café Élan
    expenses:coffee      4.50 EUR
    assets:cash
"""


def test_the_missing_amount_is_filled_in():
    [transaction] = parse_journal(COFFEE.splitlines())
    assert transaction.text == "Café Élan"
    assert transaction.postings[1].money == Money(Decimal("-4.50"), "EUR")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("    assets:cash  1.00 EUR", ParseError),
        ("2024-03-01 a\n    b  1.00 EUR\n    c  1.00 EUR", ParseError),
        ("2024-03-01 a\n    b  1.00 EUR\n    c  -1.00 USD", CurrencyMismatch),
        ("2024-03-01 a\n    b\n    c", ParseError),
    ],
)
def test_errors(text, error):
    with pytest.raises(error):
        list(parse_journal(text.splitlines()))
