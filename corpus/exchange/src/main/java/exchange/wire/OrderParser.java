package exchange.wire;

import exchange.book.Order;
import exchange.book.Side;
import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Pattern;

/** Lines such as {@code BUY ACME 100 @ 12.50} to orders. */
public final class OrderParser {
    private static final Pattern LINE =
            Pattern.compile("(BUY|SELL)\\s+(\\p{Lu}+)\\s+(\\d+)\\s+@\\s+(\\d+(?:\\.\\d+)?)");

    private final Map<String, BigDecimal> tickSizes;
    private long lastId;

    public OrderParser(Map<String, BigDecimal> tickSizes) {
        this.tickSizes = Map.copyOf(tickSizes);
    }

    public Order parse(String line) throws ProtocolException {
        var match = LINE.matcher(line.strip());
        if (!match.matches()) {
            throw new ProtocolException("cannot read: " + line);
        }
        String instrument = match.group(2);
        long ticks = toTicks(instrument, new BigDecimal(match.group(4)));
        return new Order(++lastId, Side.valueOf(match.group(1)), instrument, ticks, Long.parseLong(match.group(3)));
    }

    private long toTicks(String instrument, BigDecimal price) throws ProtocolException {
        BigDecimal tick = tickSizes.get(instrument);
        if (tick == null) {
            throw new ProtocolException("unknown instrument: " + instrument);
        }
        var parts = price.divideAndRemainder(tick);
        if (parts[1].signum() != 0) {
            throw new ProtocolException(price + " is not a multiple of the tick size " + tick);
        }
        return parts[0].longValueExact();
    }
}
