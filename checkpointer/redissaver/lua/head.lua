-- Shared by all scripts.
local FENCE_LIFE = 86400000 -- ms that a fencing token is remembered after its last use
local call = redis.call
local TYPES = {} -- what the keys hold

local at = 0
local function arg() at = at + 1; return ARGV[at] end
local function int() return tonumber(arg()) end

-- refuse ends the script with an answer instead of a server error.
local function refuse(code, text) error({refuse = {code, text or ''}}, 0) end

-- micros is the server's clock in microseconds, now in milliseconds.
local function micros()
  local t = call('TIME')
  return t[1] * 1000000 + t[2]
end

local function now() return math.floor(micros() / 1000) end
