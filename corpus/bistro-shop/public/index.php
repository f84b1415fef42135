<?php

declare(strict_types=1);

require __DIR__ . '/../vendor/autoload.php';

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);

// FIXME: the session cart is lost when the guest signs in
session_start();
$cart = $_SESSION['cart'] ??= new Bistro\Cart\Cart();

match ($path) {
    '/', '/cart' => readfile(__DIR__ . '/../templates/cart.html'),
    '/api/cart' => print json_encode([
        'items' => array_map(fn ($item) => [
            'sku' => $item->product->sku,
            'name' => $item->product->name,
            'quantity' => $item->quantity,
            'priceCents' => $item->product->price->cents,
        ], $cart->items()),
        'totalCents' => $cart->total()->cents,
    ]),
    default => http_response_code(404),
};
