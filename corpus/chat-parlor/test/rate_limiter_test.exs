defmodule Parlor.RateLimiterTest do
  use ExUnit.Case, async: true

  alias Parlor.RateLimiter

  test "five at once, then one every two seconds" do
    limiter =
      Enum.reduce(1..5, RateLimiter.new(), fn _, limiter ->
        {:ok, limiter} = RateLimiter.take(limiter, "zoë", 0)
        limiter
      end)

    assert :error == RateLimiter.take(limiter, "zoë", 1_999)
    assert {:ok, _} = RateLimiter.take(limiter, "zoë", 2_000)
    assert {:ok, _} = RateLimiter.take(limiter, "émile", 0)
  end
end
