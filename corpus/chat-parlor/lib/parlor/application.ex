defmodule Parlor.Application do
  @moduledoc false
  use Application

  @impl true
  def start(_type, _args) do
    children = [
      {Registry, keys: :unique, name: Parlor.Names},
      {DynamicSupervisor, name: Parlor.Rooms, strategy: :one_for_one}
    ]

    Supervisor.start_link(children, strategy: :rest_for_one, name: Parlor.Supervisor)
  end
end
