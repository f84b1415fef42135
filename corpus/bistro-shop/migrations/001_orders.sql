-- Orders are written once. A cancellation is a row of its own.
CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    street      TEXT NOT NULL,
    city        TEXT NOT NULL,
    total_cents INTEGER NOT NULL CHECK (total_cents >= 0),
    tax_cents   INTEGER NOT NULL,
    created_at  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE order_items (
    order_id    INTEGER NOT NULL REFERENCES orders (id),
    sku         TEXT NOT NULL,
    quantity    INTEGER NOT NULL CHECK (quantity > 0),
    price_cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, sku)
);

CREATE TABLE cancellations (
    order_id   INTEGER PRIMARY KEY REFERENCES orders (id),
    reason     TEXT,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
