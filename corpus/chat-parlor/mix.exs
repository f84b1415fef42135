defmodule Parlor.MixProject do
  use Mix.Project

  def project do
    [
      app: :parlor,
      version: "0.6.0",
      elixir: "~> 1.16",
      start_permanent: Mix.env() == :prod,
      deps: [{:luerl, "~> 1.2"}, {:stream_data, "~> 1.1", only: :test}]
    ]
  end

  def application do
    [extra_applications: [:logger], mod: {Parlor.Application, []}]
  end
end
