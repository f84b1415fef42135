<?php

declare(strict_types=1);

namespace Bistro\Cart;

use Bistro\Money;

final class Product
{
    public function __construct(
        public readonly string $sku,
        public readonly string $name,
        public readonly Money $price,
        /** Food has the reduced rate, everything else the full one. */
        public readonly bool $isFood = true,
    ) {
    }
}
