import Config

config :logger, :console, format: "$time [$level] $message\n"

# TODO: read the list of bots from the database
config :parlor, bots: ["priv/bots/greeter.lua", "priv/bots/dice.lua"]
