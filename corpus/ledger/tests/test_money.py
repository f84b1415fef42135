from decimal import Decimal

import pytest

from ledger.journal import fold_account
from ledger.money import Money


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [("1.005", "EUR", "1.00 EUR"), ("1.5", "JPY", "2 JPY"), ("1", "KWD", "1.000 KWD")],
)
def test_rounding(amount, currency, text):
    assert str(Money(Decimal(amount), currency)) == text


def test_accounts_fold():
    assert fold_account("ΈΞΟΔΑ:ΚΑΦΈΣ") == fold_account("έξοδα:καφές")
