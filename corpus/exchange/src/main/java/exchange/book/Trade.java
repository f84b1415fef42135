package exchange.book;

/** Always at the price of the order that was in the book before. */
public record Trade(String instrument, long buyId, long sellId, long price, long quantity) {}
