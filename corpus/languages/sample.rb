# frozen_string_literal: true
require "set"

VERSION = "1.0"
$global = 1

module Shop
  LIMIT = 10
  class Error < StandardError; end

  class Order < Base
    include Comparable
    attr_accessor :items, :total
    attr_reader :id
    @@count = 0
    STATES = %i[open paid].freeze

    def initialize(items:, total: 0, **options)
      @items = items
      local = 1
    end

    def self.create(...) = new(...)
    def total=(value)
      @total = value
    end
    def empty? = items.empty?
    def <=>(other) = total <=> other.total
    def [](index)
      items[index]
    end
    alias_method :amount, :total
    alias size count

    class << self
      def build(&) = tap(&)
    end

    define_method(:dynamic) { |x| x }

    private def secret
      case { name: "x", age: 3 }
      in { name: String => name, age: Integer => age } if age > 2
        name
      in [Integer, *] | nil
        nil
      end
    end
  end

  Point = Struct.new(:x, :y) do
    def norm = Math.sqrt(x**2 + y**2)
  end
  Coord = Data.define(:lat, :lng)
end

class Shop::Nested::Item
  def price = 1
end

def top_level(a, b = 1, *rest, key:, opt: 2, **kw, &block)
  text = <<~TEXT
    heredoc #{a}
  TEXT
  [1, 2].map { it + 1 }
end
