package exchange.book;

public enum Side {
    BUY,
    SELL;

    public Side opposite() {
        return this == BUY ? SELL : BUY;
    }

    /** Whether an order of this side at {@code limit} may trade at {@code price}. */
    public boolean accepts(long limit, long price) {
        return this == BUY ? price <= limit : price >= limit;
    }
}
