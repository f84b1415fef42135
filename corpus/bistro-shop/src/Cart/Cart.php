<?php

declare(strict_types=1);

namespace Bistro\Cart;

use Bistro\Money;

/** What a guest is about to buy. Adding a product twice raises its quantity. */
final class Cart
{
    /** @var array<string, LineItem> by SKU */
    private array $items = [];
    private ?Discount $discount = null;

    public function addItem(Product $product, int $quantity = 1): void
    {
        $known = $this->items[$product->sku]->quantity ?? 0;
        $this->items[$product->sku] = new LineItem($product, $known + $quantity);
    }

    public function removeItem(string $sku): void
    {
        unset($this->items[$sku]);
    }

    public function apply(Discount $discount): void
    {
        $this->discount = $discount;
    }

    public function isEmpty(): bool
    {
        return $this->items === [];
    }

    /** @return list<LineItem> */
    public function items(): array
    {
        return array_values($this->items);
    }

    public function subtotal(): Money
    {
        return array_reduce(
            $this->items,
            fn (Money $sum, LineItem $item) => $sum->plus($item->total()),
            Money::zero(),
        );
    }

    public function total(): Money
    {
        $subtotal = $this->subtotal();
        return $this->discount?->applyTo($subtotal) ?? $subtotal;
    }
}
