package exchange.book;

/**
 * An order and what is still open of it.
 *
 * @param limit the worst acceptable price, in ticks
 * @param quantity always positive
 */
public record Order(long id, Side side, String instrument, long limit, long quantity) {
    public Order {
        if (quantity <= 0) {
            throw new IllegalArgumentException("quantity of order " + id + ": " + quantity);
        }
    }

    public Order less(long traded) {
        return new Order(id, side, instrument, limit, quantity - traded);
    }
}
