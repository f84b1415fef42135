-- "!roll 2d6" rolls dice.
local MAX_DICE = 20

local function roll(count, sides)
  local total = 0
  for _ = 1, count do
    total = total + math.random(sides)
  end
  return total
end

function on_message(_, message)
  local count, sides = message.text:match("^!roll (%d+)d(%d+)$")
  if not count then
    return nil
  end
  count, sides = tonumber(count), tonumber(sides)
  if count < 1 or count > MAX_DICE or sides < 2 then
    return "I have only " .. MAX_DICE .. " dice."
  end
  return string.format("%s rolled %d", message.author, roll(count, sides))
end
