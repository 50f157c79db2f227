-- places lists the {task, index} of a row's pending writes, or returns nil.
local function places(key)
  local data = call('HGET', W, 'i' .. key)
  if not data then return nil end
  local ok, list = pcall(function() return {cmsgpack.unpack(data)} end)
  if not ok then refuse('FORMAT', 'the pending writes of ' .. key .. ' cannot be read') end
  return list
end

local function placefield(key, p) return 'd' .. pair(key, p[2] .. ':' .. p[1]) end

-- pending returns task, index, channel, value, … of a row's pending writes.
local function pending(key)
  local out = {}
  for _, p in ipairs(places(key) or {}) do
    local w = unpacked(call('HGET', W, placefield(key, p)) or '', 'a pending write of ' .. key)
    for _, v in ipairs({p[1], p[2], w[1], w[2]}) do out[#out + 1] = v end
  end
  return out
end
