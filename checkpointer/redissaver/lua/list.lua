-- list: ANY NS BEFORENS BEFOREID CURSOR LIMIT BYTES, then counted filter (key, value).
-- A page of checkpoints, newest first. ANY 1 takes every namespace; CURSOR is the seq
-- to go on below, 0 at the first page. Answer: OK, next cursor or 0, rows, and the values
-- of their channels, each once.
local BUDGET, CHUNK = 2000, 100

-- matches says that packed metadata has all of filter.
local function matches(meta, filter)
  local has = held(meta)
  for k, v in pairs(filter) do if has[k] ~= v then return false end end
  return true
end

-- inside keeps the keys of a namespace.
local function inside(keys, ns)
  local prefix, out = pair(ns, ''), {}
  for _, key in ipairs(keys) do
    if string.sub(key, 1, #prefix) == prefix then out[#out + 1] = key end
  end
  return out
end

local function main()
  local any, ns, bns, bid = arg() == '1', arg(), arg(), arg()
  local cursor, limit, bytes = int(), int(), int()
  local filter = {}
  for _ = 1, int() do local k = arg(); filter[k] = arg() end
  local exists = open()
  if cursor == 0 and bid ~= '' then
    local b = row(pair(bns, bid)) or refuse('NOTFOUND', 'no such checkpoint to list before')
    cursor = b.seq
  end
  if not exists or limit == 0 then return {'OK', 0, {}, {}} end
  local rows, values, size, all = {}, {}, 0, any and next(filter) == nil
  local ask = all and limit or BUDGET
  local keys = call('ZREVRANGEBYSCORE', I, cursor > 0 and '(' .. cursor or '+inf', '-inf', 'LIMIT', 0, ask)
  local rest = #keys == ask and tonumber(call('ZSCORE', I, keys[#keys])) or 0
  if not any then keys = inside(keys, ns) end
  for k = 1, #keys, CHUNK do
    local found = {}
    for i, data in ipairs(call('HMGET', R, unpack(keys, k, math.min(k + CHUNK - 1, #keys)))) do
      local r = rowof(keys[k + i - 1], data or refuse('FORMAT', 'row ' .. keys[k + i - 1] .. ' is missing'))
      r.key, r.meta = keys[k + i - 1], metadata(r)
      if all or matches(r.meta, filter) then found[#found + 1] = r end
    end
    loadmaps(found)
    for _, r in ipairs(found) do
      local names, more = channels(r, values)
      size = size + more
      rows[#rows + 1] = {r.key, r.parent, r.seq, r.len, r.time, r.meta, names}
      if #rows >= limit or size >= bytes then return {'OK', r.seq, rows, values} end
    end
  end
  return {'OK', rest, rows, values}
end
