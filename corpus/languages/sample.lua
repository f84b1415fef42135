#!/usr/bin/env lua
-- naïve comment
local M = {}
local VERSION <const> = "1.0"
counter = 0
local a, b = 1, 2

M.limit = 10
M.options = { depth = 1, run = function() end, ["quoted"] = 2, 3 }

local function helper(x, ...)
  local inner = x
  local function nested() return inner end
  return nested, ...
end

function M.create(name)
  local self = setmetatable({}, { __index = M })
  return self
end

function M:method(arg)
  if arg ~= nil then goto done end
  for i = 1, 10 do print(i) end
  ::done::
  return [[long
string function fake() end]]
end

function global_function() end
M.assigned = function(x) return x // 2 end
local arrow = function() return 1 << 2 end
function M.sub.deep() end
--[==[ function commented() end ]==]
global function exported() end
global counter <const> = 1
function M.sub:method() end
return M
