defmodule Parlor.RateLimiter do
  @moduledoc """
  A token bucket per author: five messages at once, then one every two seconds. A plain value
  without a process; time is given by the caller, so that tests need not wait.
  """

  @capacity 5
  @refill_ms 2_000

  def new, do: %{}

  @spec take(map(), String.t(), integer()) :: {:ok, map()} | :error
  def take(buckets, author, now) do
    {tokens, since} = Map.get(buckets, author, {@capacity, now})
    gained = div(now - since, @refill_ms)
    tokens = min(@capacity, tokens + gained)

    if tokens > 0 do
      {:ok, Map.put(buckets, author, {tokens - 1, since + gained * @refill_ms})}
    else
      :error
    end
  end
end
