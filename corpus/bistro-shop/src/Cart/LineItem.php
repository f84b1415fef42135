<?php

declare(strict_types=1);

namespace Bistro\Cart;

use Bistro\Money;

final class LineItem
{
    public function __construct(
        public readonly Product $product,
        public readonly int $quantity,
    ) {
    }

    public function total(): Money
    {
        return $this->product->price->times($this->quantity);
    }
}
