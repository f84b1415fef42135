-- Lanterns flicker. The noise is a sum of two sines, which is cheap and never repeats noticeably.
local Lantern = {}
Lantern.__index = Lantern

function Lantern.new(x, y, radius)
  return setmetatable({ x = x, y = y, radius = radius or 4, age = 0 }, Lantern)
end

function Lantern:tick()
  self.age = self.age + 1
end

function Lantern:brightness()
  local t = self.age / 60
  return 1 + 0.08 * math.sin(t * 9.1) + 0.05 * math.sin(t * 23.7)
end

return Lantern
