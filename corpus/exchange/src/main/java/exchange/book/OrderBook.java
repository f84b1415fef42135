package exchange.book;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The open orders of one instrument. Not thread-safe: every book belongs to one engine thread. */
public final class OrderBook {
    private final String instrument;
    // best price first on both sides
    private final TreeMap<Long, Deque<Order>> bids = new TreeMap<>(Comparator.reverseOrder());
    private final TreeMap<Long, Deque<Order>> asks = new TreeMap<>();

    public OrderBook(String instrument) {
        this.instrument = instrument;
    }

    /** Trades what can be traded at once; the rest waits in the book. */
    public List<Trade> submit(Order order) {
        var trades = new ArrayList<Trade>();
        Order rest = match(order, trades);
        if (rest != null) {
            enqueueOrder(rest);
        }
        return trades;
    }

    public boolean cancel(long orderId) {
        return removeFrom(bids, orderId) || removeFrom(asks, orderId);
    }

    /** Best price of a side in ticks, or -1 if nobody is there. */
    public long best(Side side) {
        var levels = levels(side);
        return levels.isEmpty() ? -1 : levels.firstKey();
    }

    private Order match(Order order, List<Trade> trades) {
        var levels = levels(order.side().opposite());
        while (!levels.isEmpty() && order.side().accepts(order.limit(), levels.firstKey())) {
            Deque<Order> level = levels.firstEntry().getValue();
            Order resting = level.removeFirst();
            long quantity = Math.min(order.quantity(), resting.quantity());
            trades.add(trade(order, resting, quantity));
            if (resting.quantity() > quantity) {
                level.addFirst(resting.less(quantity));
            }
            if (level.isEmpty()) {
                levels.pollFirstEntry();
            }
            if (order.quantity() == quantity) {
                return null;
            }
            order = order.less(quantity);
        }
        return order;
    }

    private Trade trade(Order incoming, Order resting, long quantity) {
        boolean buys = incoming.side() == Side.BUY;
        long buyId = buys ? incoming.id() : resting.id();
        long sellId = buys ? resting.id() : incoming.id();
        return new Trade(instrument, buyId, sellId, resting.limit(), quantity);
    }

    private void enqueueOrder(Order order) {
        levels(order.side()).computeIfAbsent(order.limit(), price -> new ArrayDeque<>()).addLast(order);
    }

    private TreeMap<Long, Deque<Order>> levels(Side side) {
        return side == Side.BUY ? bids : asks;
    }

    private static boolean removeFrom(Map<Long, Deque<Order>> levels, long orderId) {
        for (var level : levels.values()) {
            if (level.removeIf(order -> order.id() == orderId)) {
                levels.values().removeIf(Deque::isEmpty);
                return true;
            }
        }
        return false;
    }
}
