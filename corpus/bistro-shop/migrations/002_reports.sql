CREATE INDEX order_items_by_sku ON order_items (sku);

-- What sold best this month; cancelled orders do not count.
CREATE VIEW bestsellers AS
SELECT i.sku, SUM(i.quantity) AS sold, SUM(i.quantity * i.price_cents) AS revenue_cents
FROM order_items AS i
JOIN orders AS o ON o.id = i.order_id
LEFT JOIN cancellations AS c ON c.order_id = o.id
WHERE c.order_id IS NULL
  AND o.created_at >= date('now', 'start of month')
GROUP BY i.sku
ORDER BY sold DESC;
