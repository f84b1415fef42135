defmodule Parlor.Room do
  @moduledoc "A room: a queue of the last messages and the set of those who listen."
  use GenServer

  alias Parlor.RateLimiter

  @history_length 100

  def start_link(name) do
    GenServer.start_link(__MODULE__, name, name: {:via, Registry, {Parlor.Names, name}})
  end

  def say(room, message), do: GenServer.call(room, {:say, message})
  def history(room, count), do: GenServer.call(room, {:history, count})
  def listen(room), do: GenServer.call(room, {:listen, self()})

  @impl true
  def init(name) do
    {:ok, %{name: name, messages: :queue.new(), listeners: MapSet.new(), limiter: RateLimiter.new()}}
  end

  @impl true
  def handle_call({:say, message}, _from, state) do
    case RateLimiter.take(state.limiter, message.author, message.at) do
      {:ok, limiter} ->
        for pid <- state.listeners, do: send(pid, {:said, state.name, message})
        {:reply, :ok, %{state | limiter: limiter, messages: enqueue(state.messages, message)}}

      :error ->
        {:reply, {:error, :too_fast}, state}
    end
  end

  def handle_call({:history, count}, _from, state) do
    {:reply, state.messages |> :queue.to_list() |> Enum.take(-count), state}
  end

  def handle_call({:listen, pid}, _from, state) do
    Process.monitor(pid)
    {:reply, :ok, %{state | listeners: MapSet.put(state.listeners, pid)}}
  end

  @impl true
  def handle_info({:DOWN, _ref, :process, pid, _reason}, state) do
    {:noreply, %{state | listeners: MapSet.delete(state.listeners, pid)}}
  end

  defp enqueue(messages, message) do
    messages = :queue.in(message, messages)
    if :queue.len(messages) > @history_length, do: :queue.drop(messages), else: messages
  end
end
