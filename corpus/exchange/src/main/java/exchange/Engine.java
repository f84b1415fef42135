package exchange;

import exchange.book.Order;
import exchange.book.OrderBook;
import exchange.book.Trade;
import exchange.wire.OrderParser;
import exchange.wire.ProtocolException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

/** Reads orders from standard input, writes trades to standard output, complaints to the other one. */
public final class Engine {
    private final Map<String, OrderBook> books = new HashMap<>();
    private final OrderParser parser;

    // A TaskQueue with one worker would do as well; a plain loop is easier to reason about.
    Engine(OrderParser parser) {
        this.parser = parser;
    }

    void run(BufferedReader in) throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                accept(parser.parse(line));
            } catch (ProtocolException e) {
                System.err.println(e.getMessage());
            }
        }
    }

    private void accept(Order order) {
        OrderBook book = books.computeIfAbsent(order.instrument(), OrderBook::new);
        for (Trade trade : book.submit(order)) {
            System.out.println(trade);
        }
    }

    private static Map<String, BigDecimal> loadTickSizes() throws IOException {
        var properties = new Properties();
        try (var in = Engine.class.getResourceAsStream("/instruments.properties")) {
            properties.load(in);
        }
        return properties.stringPropertyNames().stream()
                .collect(Collectors.toMap(name -> name, name -> new BigDecimal(properties.getProperty(name))));
    }

    public static void main(String[] args) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        new Engine(new OrderParser(loadTickSizes())).run(in);
    }
}
