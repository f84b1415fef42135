<?php

declare(strict_types=1);

namespace Bistro\Checkout;

use Bistro\Cart\Cart;
use Bistro\Cart\LineItem;
use Bistro\Money;
use DomainException;
use PDO;

final class Checkout
{
    private const FULL_RATE = 19;
    private const REDUCED_RATE = 7;

    public function __construct(private readonly PDO $db)
    {
    }

    /** Stores the order and returns its number. The cart is left as it is. */
    public function placeOrder(Cart $cart, Address $address): int
    {
        if ($cart->isEmpty()) {
            throw new DomainException('Der Warenkorb ist leer.');
        }
        $this->db->beginTransaction();
        $insert = $this->db->prepare(
            'INSERT INTO orders (street, city, total_cents, tax_cents) VALUES (?, ?, ?, ?)'
        );
        $insert->execute([
            $address->street,
            $address->city,
            $cart->total()->cents,
            $this->tax($cart)->cents,
        ]);
        $number = (int) $this->db->lastInsertId();
        foreach ($cart->items() as $item) {
            $this->storeItem($number, $item);
        }
        $this->db->commit();
        return $number;
    }

    /** The tax that is contained in the prices, at two rates. */
    public function tax(Cart $cart): Money
    {
        $tax = Money::zero();
        foreach ($cart->items() as $item) {
            $rate = $item->product->isFood ? self::REDUCED_RATE : self::FULL_RATE;
            $net = intdiv($item->total()->cents * 100, 100 + $rate);
            $tax = $tax->plus(Money::cents($item->total()->cents - $net));
        }
        return $tax;
    }

    private function storeItem(int $order, LineItem $item): void
    {
        $this->db
            ->prepare('INSERT INTO order_items (order_id, sku, quantity, price_cents) VALUES (?, ?, ?, ?)')
            ->execute([$order, $item->product->sku, $item->quantity, $item->product->price->cents]);
    }
}
