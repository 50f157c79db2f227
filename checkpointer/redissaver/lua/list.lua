-- list: ANY NS WHERE BEFORENS BEFOREID CURSOR LIMIT BYTES WRITES, the selected channels, then
-- counted filter (key, JSON). A page of checkpoints, newest first. ANY 1 takes every
-- namespace; WHERE says whether to begin before a checkpoint: '' no, 'at' in BEFORENS,
-- 'any' in whatever namespace it was put last; CURSOR is the seq to go on below, 0 at the
-- first page. Answer: OK, next cursor or 0, the checkpoints, the values of their channels,
-- each once, and their pending writes.
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

-- anywhere lists the keys that an id may have, in every namespace that there is or was.
local function anywhere(id, graves)
  local seen, keys = {}, {}
  local function add(key)
    if not seen[key] then keys[#keys + 1] = key end
    seen[key] = true
  end
  for _, field in ipairs(call('HKEYS', T)) do
    local ns = string.match(field, '^[Hh](.*)$')
    if ns then add(pair(ns, id)) end
  end
  for key in pairs(graves) do
    local size, rest = string.match(key, '^(%d+):(.*)$')
    if string.sub(rest, size + 1) == id then add(key) end
  end
  return keys
end

-- place returns the sequence at which the checkpoint to list before stands or, if it was
-- pruned, stood.
local function place(where, ns, id)
  local found, graves = 0, {}
  for _, g in ipairs(unpacked(call('HGET', T, 'z') or cmsgpack.pack({}), 'the list of what was pruned')) do graves[g[1]] = g[2] end
  local keys = where == 'at' and {pair(ns, id)} or anywhere(id, graves)
  for k, data in ipairs(hmget(R, keys)) do
    if data then found = math.max(found, rowof(keys[k], data).seq) end
  end
  if found > 0 then return found end
  for _, key in ipairs(keys) do found = math.max(found, graves[key] or 0) end
  if found == 0 then refuse('NOTFOUND', 'no such checkpoint to list before') end
  return found
end

local function main()
  local any, ns, where, bns, bid = arg() == '1', arg(), arg(), arg(), arg()
  local cursor, limit, bytes, writes = int(), int(), int(), arg() == '1'
  local wanted, filter = selected(), {}
  for _ = 1, int() do local k = arg(); filter[k] = arg() end
  local exists = open()
  if cursor == 0 and where ~= '' then
    if not exists then refuse('NOTFOUND', 'no such checkpoint to list before') end
    cursor = place(where, bns, bid)
  end
  if not exists or limit == 0 then return {'OK', 0, {}, {}, {}} end
  local rows, values, pend, size, all = {}, {}, {}, 0, any and next(filter) == nil
  local ask = all and limit or BUDGET
  local keys = call('ZREVRANGEBYSCORE', I, cursor > 0 and '(' .. cursor or '+inf', '-inf', 'LIMIT', 0, ask)
  local rest = #keys == ask and tonumber(call('ZSCORE', I, keys[#keys])) or 0
  if not any then keys = inside(keys, ns) end
  for k = 1, #keys, CHUNK do
    local found, fields = {}, {}
    for i, data in ipairs(call('HMGET', R, unpack(keys, k, math.min(k + CHUNK - 1, #keys)))) do
      local r = rowof(keys[k + i - 1], data or refuse('FORMAT', 'row ' .. keys[k + i - 1] .. ' is missing'))
      r.key, r.meta = keys[k + i - 1], metadata(r)
      if all or matches(r.meta, filter) then
        found[#found + 1] = r
        fields[#fields + 1] = 'i' .. r.key
      end
    end
    loadmaps(found)
    local places = writes and hmget(W, fields) or {}
    for i, r in ipairs(found) do
      local more
      rows[#rows + 1], more = rowreply(r.key, r, values, wanted)
      pend[#pend + 1] = places[i] and pending(r.key, placesof(r.key, places[i])) or {}
      for _, v in ipairs(pend[#pend]) do more = more + (type(v) == 'string' and #v or 0) end
      size = size + more
      if #rows >= limit or size >= bytes then return {'OK', r.seq, rows, values, pend} end
    end
  end
  return {'OK', rest, rows, values, pend}
end
