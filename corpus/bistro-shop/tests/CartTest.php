<?php

declare(strict_types=1);

namespace Bistro\Tests;

use Bistro\Cart\Cart;
use Bistro\Cart\Discount;
use Bistro\Cart\Product;
use Bistro\Money;
use PHPUnit\Framework\TestCase;

final class CartTest extends TestCase
{
    public function testAddingTwiceRaisesTheQuantity(): void
    {
        $cart = new Cart();
        $cart->addItem($this->croissant());
        $cart->addItem($this->croissant(), 2);
        self::assertCount(1, $cart->items());
        self::assertSame(3 * 180, $cart->total()->cents);
    }

    public function testADiscountNeverGoesBelowZero(): void
    {
        $cart = new Cart();
        $cart->addItem($this->croissant());
        $cart->apply(Discount::amount(Money::cents(5000)));
        self::assertSame(0, $cart->total()->cents);
    }

    private function croissant(): Product
    {
        return new Product('CRO-1', 'Croissant', Money::cents(180));
    }
}
