//// Orders of a shop; fn not_here() {} is a comment

import gleam/list
import gleam/result.{try as attempt}

/// An order of a customer.
pub type Order {
  Order(id: Int, price: Float)
  Draft
}

pub opaque type Wrapper(a) {
  Wrapper(inner: a)
}

pub type Price =
  Float

const limit = 10

pub const currency: String = "EUR"

pub fn total(orders: List(Order), rate rate: Float) -> Float {
  let sum = list.fold(orders, 0.0, fn(sum, order) { sum +. price_of(order) })
  let helper = fn(x) { x *. rate }
  helper(sum)
}

fn price_of(order: Order) -> Float {
  case order {
    Order(price:, ..) if price == 0.0 -> price
    _ -> 0.0
  }
}

@external(erlang, "math", "sin")
pub fn sin(x: Float) -> Float

@deprecated("use total")
pub fn old() {
  use value <- attempt(Ok(1))
  echo value
  todo as "fn in_a_text() {}"
}
