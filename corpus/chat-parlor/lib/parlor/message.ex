defmodule Parlor.Message do
  @moduledoc "What somebody said, and when (milliseconds since the epoch)."

  @enforce_keys [:author, :text, :at]
  defstruct [:author, :text, :at]

  @doc "Whether a message speaks to somebody: `@Zoë` and `@zoë` both do."
  def mentions?(%__MODULE__{text: text}, name) do
    String.contains?(String.downcase(text), "@" <> String.downcase(name))
  end
end
