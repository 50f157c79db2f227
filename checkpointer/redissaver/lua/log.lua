-- The logs of a thread. A log is a run of positions; below its start it continues in
-- its parent, so a branch copies nothing. Its record is {parent, start, len, edited},
-- parent -1 for none, edited the newest position that replaces or removes a message.
-- An entry is a letter and a message: a for append, r for replace, x for one that
-- holds nothing.
local CHUNK = 100

local logs = {}

local function getlog(n)
  if not logs[n] then
    local g = unpacked(call('HGET', T, 'g' .. n) or '', 'log ' .. n)
    logs[n] = {parent = g[1], start = g[2], len = g[3], edited = g[4]}
  end
  return logs[n]
end

-- putlog leaves a log's record for flush.
local function putlog(n, g)
  logs[n] = g
  set('g' .. n, cmsgpack.pack({g.parent, g.start, g.len, g.edited}))
end

local function newlog(parent, start)
  rec.nlog = (rec.nlog or 0) + 1
  set('nlog', rec.nlog)
  return rec.nlog, {parent = parent, start = start, len = start, edited = -1}
end

-- chain lists the logs that a reader of log n up to len sees down to position low,
-- newest first, each with the positions [from, to) it gives and the bound on edits.
local function chain(n, len, low)
  local out, to = {}, len
  while n >= 0 and to > low do
    local g = getlog(n)
    if g.start < to then out[#out + 1] = {n = n, from = g.start, to = to, edited = g.edited} end
    to = math.min(to, g.start)
    n = g.parent
  end
  return out
end

-- newest returns the last of the positions in list, which ascend, that is below the
-- bound, and whether it is a removal (written as a negative number). Mostly it is the
-- last of all, so a message that was edited often does not cost more.
local function newest(list, bound)
  local found = tonumber(string.match(string.sub(list or '', -20), '-?%d+$'))
  if found and math.abs(found) < bound then return math.abs(found), found < 0 end
  found = nil
  for p in string.gmatch(list or '', '-?%d+') do
    if math.abs(tonumber(p)) < bound then found = tonumber(p) end
  end
  if found then return math.abs(found), found < 0 end
end

-- edit returns the newest edit of position p that a reader of the chain sees.
local function edit(links, p)
  for _, c in ipairs(links) do
    if c.edited >= 0 then
      local e, removed = newest(call('HGET', L, 'o' .. c.n .. ':' .. p), c.to)
      if e then return c.n, e, removed end
    end
  end
end

-- content returns the message at position p, or nil when none is to be seen there.
local function content(links, edits, entry, p)
  local op = entry and string.sub(entry, 1, 1)
  if not entry or op == 'r' or op == 'x' then return nil end
  if op ~= 'a' then refuse('FORMAT', 'log entry ' .. p .. ' cannot be read') end
  if edits then
    local n, e, removed = edit(links, p)
    if removed then return nil end
    if e then
      entry = call('HGET', L, 'e' .. n .. ':' .. e)
      if not entry or string.sub(entry, 1, 1) ~= 'r' then refuse('FORMAT', 'log entry ' .. e .. ' cannot be read') end
    end
  end
  return string.sub(entry, 2)
end

local function entries(n, from, to)
  local fields = {}
  for p = from, to - 1 do fields[#fields + 1] = 'e' .. n .. ':' .. p end
  return call('HMGET', L, unpack(fields))
end

-- visit calls fn(position, json) for the messages in [low, high) of log n up to len,
-- until fn returns true or budget positions were looked at. It returns the position
-- to go on from, or -1 at the end.
local function visit(n, len, low, high, back, chunk, budget, fn)
  high = math.min(high, len)
  if low >= high then return -1 end
  local links, edits = chain(n, len, low), false
  for _, c in ipairs(links) do edits = edits or c.edited >= 0 end
  chunk = math.max(1, math.min(chunk, CHUNK))
  for i = 1, #links do
    local c = links[back and i or #links + 1 - i]
    local from, to = math.max(c.from, low), math.min(c.to, high)
    while from < to do
      if budget <= 0 then return back and to or from end
      local a = back and math.max(from, to - chunk) or from
      local b = back and to or math.min(to, from + chunk)
      local got = entries(c.n, a, b)
      for k = 1, b - a do
        local p = back and b - k or a + k - 1
        local json = content(links, edits, got[p - a + 1], p)
        if json and fn(p, json) then return back and p or p + 1 end
      end
      budget = budget - (b - a)
      if back then to = a else from = b end
    end
  end
  return -1
end

-- locate lists the positions of what a reader of log n up to len sees by this id:
-- none, one, or several when an id was appended again while it was there.
local function locate(n, len, id)
  local links, found = chain(n, len, 0), {}
  for _, c in ipairs(links) do
    for p in string.gmatch(call('HGET', L, 'm' .. c.n .. ':' .. id) or '', '%d+') do
      local _, _, removed = edit(links, p)
      if tonumber(p) < c.to and not removed then found[#found + 1] = p end
    end
  end
  return found
end

-- with returns the list in a field of the log with position p added.
local function with(field, p)
  local list = call('HGET', L, field)
  return list and list .. ',' .. p or p
end

local function add(n, p, id, json)
  local field = 'm' .. n .. ':' .. id
  call('HSET', L, 'e' .. n .. ':' .. p, 'a' .. json, field, with(field, p))
end

-- idof reads a message's id out of its stored form.
local function idof(json)
  local ok, m = pcall(cjson.decode, json)
  if not ok or type(m) ~= 'table' or type(m.id) ~= 'string' then refuse('FORMAT', 'a stored message cannot be read') end
  return m.id
end

-- copy makes a log without a parent that holds what a reader of log n up to len sees
-- below high, at the same positions.
local function copy(n, len, high)
  local seen = {}
  visit(n, len, 0, high, false, CHUNK, math.huge, function(p, json) seen[#seen + 1] = {p, idof(json), json} end)
  local fresh, g = newlog(-1, high)
  if seen[1] then g.start = seen[1][1] end
  for _, m in ipairs(seen) do add(fresh, m[1], m[2], m[3]) end
  return fresh, g
end

-- whole refuses when the log of r is gone although r sees positions of it.
local function whole(r)
  if kinds[4] == 'none' and #chain(r.log, r.len, 0) > 0 then
    refuse('FORMAT', 'key ' .. L .. ' is missing; was it evicted?')
  end
end
