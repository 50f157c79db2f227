local NULL_TASK = '00000000-0000-0000-0000-000000000000'

-- placesof lists the {task, index} of the pending writes of a row out of what is stored.
-- They are read in pieces, because Lua bounds the values that one call can return.
local function placesof(key, data)
  local list, offset = {}, data and 0 or -1
  while offset >= 0 do
    local got = {pcall(cmsgpack.unpack_limit, data, 1000, offset)}
    if not got[1] or type(got[2]) ~= 'number' then refuse('FORMAT', 'the pending writes of ' .. key .. ' cannot be read') end
    offset = got[2]
    for k = 3, #got do
      if type(got[k]) ~= 'table' then refuse('FORMAT', 'the pending writes of ' .. key .. ' cannot be read') end
      list[#list + 1] = got[k]
    end
  end
  return list
end

local function placefield(key, p) return 'd' .. pair(key, p[2] .. ':' .. p[1]) end

-- pending returns task, path, index, channel, value, … of the pending writes at the places
-- in list of a row.
local function pending(key, list)
  local fields, out = {}, {}
  for k, p in ipairs(list) do fields[k] = placefield(key, p) end
  for k, data in ipairs(hmget(W, fields)) do
    local w = unpacked(data or '', 'a pending write of ' .. key)
    for _, v in ipairs({list[k][1], w[3] or '', list[k][2], w[1], w[2]}) do out[#out + 1] = v end
  end
  return out
end
