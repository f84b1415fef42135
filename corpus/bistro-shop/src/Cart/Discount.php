<?php

declare(strict_types=1);

namespace Bistro\Cart;

use Bistro\Money;

/** A voucher: either a percentage or a fixed amount. Never brings a total below zero. */
final class Discount
{
    private function __construct(
        private readonly int $percent,
        private readonly Money $amount,
    ) {
    }

    public static function percent(int $percent): self
    {
        return new self($percent, Money::zero());
    }

    public static function amount(Money $amount): self
    {
        return new self(0, $amount);
    }

    public function applyTo(Money $subtotal): Money
    {
        $off = $subtotal->percent($this->percent)->cents + $this->amount->cents;
        return Money::cents(max(0, $subtotal->cents - $off));
    }
}
