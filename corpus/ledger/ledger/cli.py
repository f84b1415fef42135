"""ledger balance FILE... and ledger register PATTERN FILE..."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ledger.journal import Journal


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ledger", description=__doc__)
    commands = parser.add_subparsers(required=True)

    balance = commands.add_parser("balance", help="what is on which account")
    balance.set_defaults(run=print_balance, pattern="")

    register = commands.add_parser("register", help="postings of an account")
    register.add_argument("pattern")
    register.set_defaults(run=print_register)

    for command in (balance, register):
        command.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args(argv)
    args.run(Journal.load(*args.files), args.pattern)
    return 0


def print_balance(journal: Journal, _pattern: str) -> None:
    for account, amounts in journal.balances().items():
        print(f"{account:40} {', '.join(map(str, amounts)):>20}")


def print_register(journal: Journal, pattern: str) -> None:
    for transaction, posting in journal.postings(pattern):
        print(f"{transaction.day} {transaction.text:30} {posting.account:30} {posting.money}")


if __name__ == "__main__":
    sys.exit(main())
