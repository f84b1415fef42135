-- A slime hops towards the nearest light and rests in between.
local Slime = {}
Slime.__index = Slime

local HOP_TICKS = 18
local REST_TICKS = 40

function Slime.new(x, y)
  return setmetatable({ x = x, y = y, state = "rest", left = REST_TICKS }, Slime)
end

function Slime:tick(world)
  self.left = self.left - 1
  if self.state == "hop" then
    self.x = self.x + self.direction * 0.12
  end
  if self.left <= 0 then
    self:turn(world)
  end
end

function Slime:turn(world)
  if self.state == "hop" then
    self.state, self.left = "rest", REST_TICKS
    return
  end
  local light = world:nearest("lantern", self.x, self.y)
  if light then
    self.direction = light.x < self.x and -1 or 1
    self.state, self.left = "hop", HOP_TICKS
  end
end

return Slime
