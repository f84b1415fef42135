defmodule Shop.Order do
  @moduledoc """
  def not_a_function
  """
  use GenServer
  alias Shop.{Item, Customer}

  @limit 10
  @type t :: %__MODULE__{id: integer, items: [Item.t()]}
  @typep secret :: atom
  @callback fetch(id :: integer) :: {:ok, t} | :error
  defstruct [:id, items: [], total: 0]

  defguard is_big(n) when n > 100
  defmacro unless_nil(value, do: block) do
    quote do: if(!is_nil(unquote(value)), do: unquote(block))
  end
  defdelegate size(list), to: Enum, as: :count
  defexception [:message]

  @spec create(keyword) :: t
  def create(opts \\ []) when is_list(opts) do
    local = 1
    opts |> Enum.map(fn {k, v} -> {k, v} end) |> Keyword.get(:x)
  end

  def zero, do: 0
  def empty?(%{items: []}), do: true
  def empty?(_), do: false
  defp hidden!(a) when a in [1, 2], do: a
  def left + right, do: {left, right}
  defp unquote(name)(), do: 1

  defmodule Line do
    defstruct price: 0
    def total(%Line{price: p}), do: p
  end
end

defprotocol Size do
  @doc "size"
  def size(data)
end

defimpl Size, for: [List, Map] do
  def size(data), do: length(data)
end
