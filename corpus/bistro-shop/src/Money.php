<?php

declare(strict_types=1);

namespace Bistro;

use InvalidArgumentException;

/** An amount of euros, kept in cents so that sums are exact. */
final class Money
{
    private function __construct(public readonly int $cents)
    {
    }

    public static function cents(int $cents): self
    {
        return new self($cents);
    }

    public static function zero(): self
    {
        return new self(0);
    }

    public function plus(self $other): self
    {
        return new self($this->cents + $other->cents);
    }

    public function times(int $factor): self
    {
        return new self($this->cents * $factor);
    }

    /** Half a cent is rounded away from zero, as the tax office wants it. */
    public function percent(int $percent): self
    {
        if ($percent < 0) {
            throw new InvalidArgumentException("negative percentage: $percent");
        }
        return new self((int) round($this->cents * $percent / 100));
    }

    public function format(string $locale = 'de_DE'): string
    {
        $euros = number_format($this->cents / 100, 2, ',', '.');
        return str_starts_with($locale, 'de') ? "$euros €" : "€$euros";
    }
}
