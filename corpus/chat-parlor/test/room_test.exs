defmodule Parlor.RoomTest do
  use ExUnit.Case, async: true

  test "what is said is heard, in order" do
    {:ok, room} = Parlor.open_room("test-order")
    :ok = Parlor.Room.listen(room)
    :ok = Parlor.say(room, "zoë", "one")
    :ok = Parlor.say(room, "émile", "two")
    assert_receive {:said, "test-order", %{text: "one"}}
    assert_receive {:said, "test-order", %{text: "two"}}
    assert ["one", "two"] == room |> Parlor.history() |> Enum.map(& &1.text)
  end

  test "a room has one name" do
    assert Parlor.open_room("test-twice") == Parlor.open_room("test-twice")
  end
end
