-- The logs of a thread. A log is a run of positions; below its start it continues in
-- its parent, so a branch copies nothing. Its record is {parent, start, len, edited},
-- parent -1 for none, edited the newest position that replaces or removes a message.
-- The log of a namespace's newest checkpoint has its record in H<ns>, beside that
-- checkpoint; it is written to g<n> when another log takes its place.
-- An entry is a letter and a message: a for append, r for replace. A position that holds
-- nothing has none (in format 1, an x).
local CHUNK = 100

local logs, ahead = {}, 1

-- getlog reads the record of log n, and with each further one twice as many of its
-- elders: a parent has a lower number than its child.
local function getlog(n)
  if logs[n] then return logs[n] end
  local fields, ns = {}, {}
  for k = n, math.max(1, n - ahead + 1), -1 do
    if not logs[k] then fields[#fields + 1] = 'g' .. k; ns[#ns + 1] = k end
  end
  ahead = math.min(ahead * 2, 256)
  for i, data in ipairs(call('HMGET', T, unpack(fields))) do
    if data then
      local g = unpacked(data, 'log ' .. ns[i])
      logs[ns[i]] = {parent = g[1], start = g[2], len = g[3], edited = g[4]}
    end
  end
  return logs[n] or refuse('FORMAT', 'log ' .. n .. ' cannot be read')
end

-- putlog leaves the record of a log that is not the newest checkpoint's for flush.
local function putlog(n)
  local g = getlog(n)
  set('g' .. n, cmsgpack.pack({g.parent, g.start, g.len, g.edited}))
end

-- newlog makes a log that continues log parent from position start. Ancestors that give
-- nothing below it are passed over.
local function newlog(parent, start)
  while parent >= 0 and getlog(parent).start >= start do parent = logs[parent].parent end
  rec.nlog = rec.nlog + 1
  logs[rec.nlog] = {parent = parent, start = start, len = start, edited = -1}
  return rec.nlog
end

-- newest returns the newest checkpoint of a namespace, given what open returned of it, and
-- notes its log's record; or nil. Format 1 knew it only by its id, in h<ns>.
local function newest(ns, packed)
  if packed then
    local h = unpacked(packed, 'the newest checkpoint')
    logs[h[3]] = {parent = h[4], start = h[5], len = h[6], edited = h[7]}
    return {id = h[1], map = h[2], log = h[3], len = h[6], turned = h[8], named = h[9] or nil}
  end
  local id = rec.seq > 0 and call('HGET', T, 'h' .. ns)
  if not id then return nil end
  local r = row(pair(ns, id)) or refuse('FORMAT', 'the newest row is missing; was it evicted?')
  r.id, r.former = id, true
  return r
end

-- find returns the row named, the newest one when id is empty, and its id.
local function find(ns, id, packed)
  local head = newest(ns, packed)
  if id == '' then id = head and head.id or '' end
  if id == '' then return nil end
  local r = row(pair(ns, id))
  if not r and head and head.id == id then refuse('FORMAT', 'the newest row is missing; was it evicted?') end
  return r, id
end

-- ready sees to it, before the first write, that the keys which no other command has met
-- are of their types: a script that fails later is not undone.
local function ready(order)
  if order then call('ZCARD', I) end
  if rec.former or rec.early then
    for k = 4, 6 do call('HLEN', KEYS[k]) end
  end
end

-- puthead leaves the newest checkpoint of a namespace for flush.
local function puthead(ns, r)
  local g = logs[r.log]
  set('H' .. ns, cmsgpack.pack({r.id, r.map, r.log, g.parent, g.start, g.len, g.edited, r.turned, r.named or false}))
end

-- commit writes the row r, which becomes the newest of its namespace in place of head, the
-- fields given for L and V, and the record, and starts the time of disuse anew; default
-- is the store's own TTL.
local function commit(ns, r, head, default, entries, values)
  local time, key = micros(), pair(ns, r.id)
  call('ZADD', I, r.seq, key)
  call('HSET', R, key, cmsgpack.pack({r.seq, r.parent, r.log, r.len, r.map, r.time, r.meta, r.digest, r.turned,
    r.named or false, r.removed or false}))
  hset(L, entries)
  hset(V, values)
  if head and head.log ~= r.log then putlog(head.log) end
  if head and head.former then call('HDEL', T, 'h' .. ns) end
  current()
  local ttl, pinned = tonumber(rec.ttl or default), rec.ends or rec.early
  rec.changes = rec.seq == 0 and time or rec.changes + 1
  rec.put, rec.seq, rec.ends = time, r.seq, ttl > 0 and math.floor(time / 1000) + ttl
  puthead(ns, r)
  flush()
  if rec.ends then expire(rec.ends) elseif pinned then expire(false) end
end

-- chain returns a function that gives the i-th of the logs that a reader of log n up to
-- len sees, newest first, each with the positions [from, to) it gives and the bound on
-- edits; nil after the last. No more records are read than are asked for.
local function chain(n, len)
  local links, to = {}, len
  return function(i)
    while not links[i] and n >= 0 and to > 0 do
      local g = getlog(n)
      if g.start < to then links[#links + 1] = {n = n, from = g.start, to = to, edited = g.edited} end
      to = math.min(to, g.start)
      n = g.parent
    end
    return links[i]
  end, links
end

-- last returns the last of the positions in list, which ascend, that is below the
-- bound, and whether it is a removal (written as a negative number). Mostly it is the
-- last of all, so a message that was edited often does not cost more.
local function last(list, bound)
  local found = tonumber(string.match(string.sub(list or '', -20), '-?%d+$'))
  if found and math.abs(found) >= bound then
    found = nil
    for p in string.gmatch(list, '-?%d+') do
      if math.abs(tonumber(p)) >= bound then break end
      found = tonumber(p)
    end
  end
  if found then return math.abs(found), found < 0 end
end

-- edits returns, for each of the positions, which the i-th of the links gives, the newest
-- edit that a reader of the links sees: {log, position, removed}, or nil.
local function edits(links, i, positions)
  local from, fields = {}, {}
  for k = 1, i do
    if links[k].edited >= 0 then from[#from + 1] = links[k] end
  end
  local found = {}
  if #from == 0 then return found end
  for _, p in ipairs(positions) do
    for _, c in ipairs(from) do fields[#fields + 1] = 'o' .. c.n .. ':' .. p end
  end
  local lists, k = hmget(L, fields), 0
  for _, p in ipairs(positions) do
    for _, c in ipairs(from) do
      k = k + 1
      local e, removed
      if lists[k] and not found[p] then e, removed = last(lists[k], c.to) end
      if e then found[p] = {c.n, e, removed} end
    end
  end
  return found
end

-- page calls fn(position, json) for the messages at positions [a, b) of the i-th link, and
-- returns the position to go on from as soon as fn returns true.
local function page(links, i, a, b, back, fn)
  local fields, positions, n = {}, {}, links[i].n
  for p = a, b - 1 do fields[#fields + 1] = 'e' .. n .. ':' .. p end
  local got = call('HMGET', L, unpack(fields))
  for p = a, b - 1 do
    local op = string.sub(got[p - a + 1] or 'x', 1, 1)
    if op == 'a' then positions[#positions + 1] = p
    elseif op ~= 'r' and op ~= 'x' then refuse('FORMAT', 'log entry ' .. p .. ' cannot be read') end
  end
  local found, replaced = edits(links, i, positions), {}
  for _, p in ipairs(positions) do
    local e = found[p]
    if e and not e[3] then replaced[#replaced + 1] = 'e' .. e[1] .. ':' .. e[2] end
  end
  local contents, c = hmget(L, replaced), 0
  for _, p in ipairs(positions) do
    local e = found[p]
    if e and not e[3] then
      c = c + 1
      got[p - a + 1] = contents[c]
      if string.sub(contents[c] or '', 1, 1) ~= 'r' then refuse('FORMAT', 'log entry ' .. e[2] .. ' cannot be read') end
    end
  end
  for k = 1, #positions do
    local p = positions[back and #positions + 1 - k or k]
    local e = found[p]
    if not (e and e[3]) and fn(p, string.sub(got[p - a + 1], 2)) then return back and p or p + 1 end
  end
end

-- visit calls fn(position, json) for the messages in [low, high) of log n up to len,
-- until fn returns true or budget positions were looked at. It returns the position
-- to go on from, or -1 at the end.
local function visit(n, len, low, high, back, chunk, budget, fn)
  high = math.min(high, len)
  if low >= high then return -1 end
  local link, links = chain(n, len)
  local i = 1
  if not back then -- the oldest that is asked for comes first
    while link(i) and links[i].from > low do i = i + 1 end
    if not links[i] then i = i - 1 end
  end
  chunk = math.max(1, math.min(chunk, CHUNK))
  while i >= 1 and link(i) and (not back or links[i].to > low) do
    local from, to = math.max(links[i].from, low), math.min(links[i].to, high)
    while from < to do
      if budget <= 0 then return back and to or from end
      local a = back and math.max(from, to - chunk) or from
      local b = back and to or math.min(to, from + chunk)
      local rest = page(links, i, a, b, back, fn)
      if rest then return rest end
      budget = budget - (b - a)
      if back then to = a else from = b end
    end
    i = back and i + 1 or i - 1
  end
  return -1
end
