-- pending returns task, index, channel, value, … of a row's pending writes.
local function pending(key)
  local out = {}
  local places = call('HGET', W, 'i' .. key)
  if not places then return out end
  local ok, list = pcall(function() return {cmsgpack.unpack(places)} end)
  if not ok then refuse('FORMAT', 'pending writes cannot be read') end
  for _, p in ipairs(list) do
    local data = call('HGET', W, 'd' .. pair(key, p[2] .. ':' .. p[1]))
    local w = unpacked(data or '', 'a pending write')
    for _, v in ipairs({p[1], p[2], w[1], w[2]}) do out[#out + 1] = v end
  end
  return out
end
