-- put: NS ID PARENT TIME DIGEST TOKEN TTL FORK CUT, then four counted lists:
-- (channel, value), (removed channel), (metadata key, value), (op, message id, json).

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

-- mark notes at a message (field) the edit at position p, in place of one of this very
-- step, which began at base: no reader can stand between two entries of a step, and a
-- message that is edited often in one step costs no more for it.
local function mark(field, p, base)
  local list = call('HGET', L, field)
  local last = list and string.match(string.sub(list, -20), '-?%d+$')
  if last and math.abs(tonumber(last)) >= base then list = string.sub(list, 1, -#last - 2) end
  call('HSET', L, field, list and list ~= '' and list .. ',' .. p or p)
end

-- apply writes one entry of a step that began at base, at position p of log n, and
-- returns the log to go on with.
local function apply(n, g, p, base, op, id, json)
  local entry = 'e' .. n .. ':' .. p
  if op == 'append' then
    add(n, p, id, json)
    return n, g
  end
  logs[n] = g
  local targets = op ~= 'reset' and locate(n, p, id) or {}
  local keep = #targets > 0 and op == 'replace'
  call('HSET', L, entry, keep and 'r' .. json or 'x')
  for _, target in ipairs(targets) do
    mark('o' .. n .. ':' .. target, keep and p or -p, base)
    g.edited = p
  end
  if op ~= 'reset' then return n, g end
  g.len = p + 1
  putlog(n, g)
  return newlog(-1, p + 1)
end

local function append(n, g)
  local base = g.len
  for _ = 1, int() do
    local p = g.len
    n, g = apply(n, g, p, base, arg(), arg(), arg())
    g.len = p + 1
  end
  putlog(n, g)
  return n, g
end

-- channelsof reads the changes and returns them with the names in force after them,
-- each with the seq of its value; false stands for the seq of this put. Without a
-- change it returns nothing.
local function channelsof(map, set, gone)
  if #set == 0 and #gone == 0 then return end
  local names = map ~= 0 and unpacked(call('HGET', V, 'm' .. map) or '', 'channel map ' .. map) or {}
  for _, name in ipairs(gone) do names[name] = nil end
  for k = 1, #set, 2 do names[set[k]] = false end
  return names
end

-- setchannels stores the changed values and returns the map in force.
local function setchannels(names, set, seq)
  for k = 1, #set, 2 do
    call('HSET', V, 'c' .. seq .. ':' .. set[k], set[k + 1])
    names[set[k]] = seq
  end
  if next(names) == nil then return 0 end
  call('HSET', V, 'm' .. seq, cmsgpack.pack(names))
  return seq
end

local function list(width)
  local out = {}
  for k = 1, int() * width do out[k] = arg() end
  return out
end

local function main()
  local ns, id, parent, time, digest, token = arg(), arg(), arg(), arg(), arg(), arg()
  local ttl, fork, cut = arg(), arg() == '1', int()
  local set, gone, meta, given = list(2), list(1), {}, list(2)
  for k = 1, #given, 2 do meta[given[k]] = given[k + 1] end
  open()
  fence(token)
  local old = row(pair(ns, id))
  if old and old.digest == digest then return due() end
  if old then refuse('CONFLICT', 'the id is taken by another checkpoint') end
  local from = parent ~= '' and row(pair(ns, parent)) or nil
  if parent ~= '' and not from then refuse('NOTFOUND', 'no such parent') end
  if not fork and (call('HGET', T, 'h' .. ns) or '') ~= parent then refuse('CONFLICT', 'the parent is not the newest checkpoint') end
  if from then whole(from) end
  local map = from and from.map or 0
  local names = channelsof(map, set, gone)
  -- All that can be refused has been: from here on it is written.
  local n, g = append(branch(from, cut))
  local seq = nextseq()
  if names then map = setchannels(names, set, seq) end
  commit(ns, id, {seq = seq, parent = parent, log = n, len = g.len, map = map, time = time, meta = meta, digest = digest}, ttl)
  seen(token)
  return due()
end
