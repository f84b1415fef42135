<?php

declare(strict_types=1);

namespace Bistro\Checkout;

use InvalidArgumentException;

/** A delivery address in the city. `Große Wallstraße 7` is fine, `Wallstr.` without a number is not. */
final class Address
{
    public function __construct(
        public readonly string $street,
        public readonly string $city,
    ) {
        if (preg_match('/^\p{L}[\p{L} .-]*\s\d+[a-z]?$/u', $street) !== 1) {
            throw new InvalidArgumentException("Bitte Straße und Hausnummer angeben: $street");
        }
        if (trim($city) === '') {
            throw new InvalidArgumentException('Der Ort fehlt.');
        }
    }
}
