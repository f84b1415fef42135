-- Says hello once to everybody, in the language of the room.
local greetings = { de = "Grüß dich", fr = "Enchanté", el = "Γειά σου", ja = "こんにちは" }
local greeted = {}

function on_message(room, message)
  if greeted[message.author] then
    return nil
  end
  greeted[message.author] = true
  local words = greetings[room.language] or "Hello"
  return string.format("%s, %s!", words, message.author)
end
