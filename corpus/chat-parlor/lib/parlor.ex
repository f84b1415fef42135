defmodule Parlor do
  @moduledoc "Rooms in which people and bots talk."

  alias Parlor.{Message, Room}

  @doc "Opens a room, or finds the open one of that name."
  @spec open_room(String.t()) :: {:ok, pid()}
  def open_room(name) do
    case DynamicSupervisor.start_child(Parlor.Rooms, {Room, name}) do
      {:ok, pid} -> {:ok, pid}
      {:error, {:already_started, pid}} -> {:ok, pid}
    end
  end

  @spec say(pid(), String.t(), String.t()) :: :ok | {:error, :too_fast}
  def say(room, author, text) do
    Room.say(room, %Message{author: author, text: text, at: System.system_time(:millisecond)})
  end

  @doc "The last messages of a room, oldest first."
  def history(room, count \\ 20), do: Room.history(room, count)
end
