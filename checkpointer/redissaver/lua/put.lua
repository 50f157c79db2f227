-- put: NS ID PARENT TIME DIGEST TOKEN TTL FORK CUT, then four counted lists:
-- (op, id, json), (channel, value), (removed channel), (metadata key, value).

-- branch returns the log that a child of r continues, and its record. A child of the
-- end of a log appends to it; any other begins a log of its own.
local function branch(r, cut)
  if not r then return newlog(-1, 0) end
  local g = getlog(r.log)
  if cut and cut < r.len then
    for _, c in ipairs(chain(r.log, r.len, cut)) do
      -- An edit above the cut may concern a message below it, and stays in force.
      if c.edited >= cut then return copy(r.log, r.len, cut) end
    end
    return newlog(r.log, cut)
  end
  if r.len == g.len then return r.log, g end
  return newlog(r.log, r.len)
end

local function append(n, g)
  for _ = 1, int() do
    local op, id, json = arg(), arg(), arg()
    local p = g.len
    if op == 'append' then
      add(n, p, id, json)
    elseif op == 'reset' then
      g.len = p + 1
      putlog(n, g)
      call('HSET', L, 'e' .. n .. ':' .. p, 'x')
      n, g = newlog(-1, p + 1)
    else
      putlog(n, g)
      local targets = locate(n, p, id)
      local keep = #targets > 0 and op == 'replace'
      call('HSET', L, 'e' .. n .. ':' .. p, keep and 'r' .. json or 'x')
      for _, target in ipairs(targets) do
        note('o' .. n .. ':' .. target, op == 'replace' and p or -p)
        g.edited = p
      end
    end
    g.len = math.max(g.len, p + 1)
  end
  putlog(n, g)
  return n, g
end

-- setchannels stores the changed values and returns the map in force.
local function setchannels(map, seq)
  local changed, names = false, map ~= 0 and unpacked(call('HGET', V, 'm' .. map) or '', 'channel map ' .. map) or {}
  for _ = 1, int() do
    local name, value = arg(), arg()
    call('HSET', V, 'c' .. seq .. ':' .. name, value)
    names[name] = seq
    changed = true
  end
  for _ = 1, int() do
    local name = arg()
    if names[name] then names[name] = nil; changed = true end
  end
  if not changed then return map end
  if next(names) == nil then return 0 end
  call('HSET', V, 'm' .. seq, cmsgpack.pack(names))
  return seq
end

local function main()
  local ns, id, parent, time, digest, token = arg(), arg(), arg(), arg(), arg(), arg()
  local ttl, fork, cut = arg(), arg() == '1', int()
  open()
  fence(token)
  local old = row(pair(ns, id))
  if old and old.digest == digest then return due() end
  if old then refuse('CONFLICT', 'the id is taken by another checkpoint') end
  local from = parent ~= '' and row(pair(ns, parent)) or nil
  if parent ~= '' and not from then refuse('NOTFOUND', 'no such parent') end
  if not fork and (call('HGET', T, 'h' .. ns) or '') ~= parent then refuse('CONFLICT', 'the parent is not the newest checkpoint') end
  if from then whole(from) end
  local n, g = branch(from, cut)
  n, g = append(n, g)
  local seq = call('HINCRBY', T, 'seq', 1)
  local map = setchannels(from and from.map or 0, seq)
  local meta = {}
  for _ = 1, int() do local k = arg(); meta[k] = arg() end
  commit(ns, id, {seq = seq, parent = parent, log = n, len = g.len, map = map, time = time, meta = meta, digest = digest}, ttl)
  seen(token)
  return due()
end
