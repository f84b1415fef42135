package exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import exchange.book.Order;
import exchange.book.OrderBook;
import exchange.book.Side;
import exchange.book.Trade;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderBookTest {
    private final OrderBook book = new OrderBook("ACME");

    private List<Trade> submit(long id, Side side, long limit, long quantity) {
        return book.submit(new Order(id, side, "ACME", limit, quantity));
    }

    @Test
    void olderOrdersTradeFirst() {
        submit(1, Side.SELL, 100, 5);
        submit(2, Side.SELL, 100, 5);
        assertEquals(List.of(new Trade("ACME", 3, 1, 100, 4)), submit(3, Side.BUY, 101, 4));
    }

    @Test
    void theRestWaitsInTheBook() {
        submit(1, Side.SELL, 100, 5);
        submit(2, Side.BUY, 100, 8);
        assertEquals(100, book.best(Side.BUY));
        assertEquals(-1, book.best(Side.SELL));
    }

    @Test
    void cancelling() {
        submit(1, Side.BUY, 99, 5);
        assertTrue(book.cancel(1));
        assertFalse(book.cancel(1));
    }
}
