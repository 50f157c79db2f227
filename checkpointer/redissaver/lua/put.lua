-- put: NS ID PARENT BASE TIME DIGEST TOKEN TTL FORK META CAREFUL, then three counted lists:
-- (channel, value), (removed channel), (log, cut, edit, and counted (op, entry id,
-- content)). FORK 1 allows a branch, BASE is where the state comes from if not from the
-- parent, a log '' is the messages, EDIT 1 says that an entry is no append, and CAREFUL 1
-- that there is such an entry or a cut.

-- appended applies a step of appends alone to log n, of which it knows that nobody has to
-- be asked what the messages' ids name. What is to be written goes to list.
local function appended(n, list)
  local g, places, ids = getlog(n), {}, {}
  for _ = 1, int() do
    local _, id, json = arg(), arg(), arg()
    local field, p = id ~= '' and 'm' .. n .. ':' .. id, g.len
    g.len = p + 1
    list[#list + 1] = 'e' .. n .. ':' .. p
    list[#list + 1] = 'a' .. json
    if field and not places[field] then
      places[field] = {}
      ids[#ids + 1] = field
    end
    if field then table.insert(places[field], p) end
  end
  for k, old in ipairs(hmget(L, ids)) do
    local more = table.concat(places[ids[k]], ',')
    list[#list + 1] = ids[k]
    list[#list + 1] = old and old .. ',' .. more or more
  end
end

-- changelogs applies the changes of the logs to the state of row r, and returns what is to
-- be written to the log's key.
local function changelogs(r, from, seq)
  local list = {}
  for _ = 1, int() do
    local name, cut, edit = arg(), int(), arg() == '1'
    local base = from
    if name ~= '' then
      base = from and from.named and from.named[name]
      base = base and {log = base[1], len = base[2]} or nil
    end
    local n = branch(base, cut)
    local before = getlog(n).len
    if edit then n = edited(n) else appended(n, list) end
    local len = logs[n].len
    local turned = len > before or base ~= nil and len < base.len
    if name == '' then
      r.log, r.len = n, len
      if turned then r.turned = seq end
    elseif turned then
      if not r.fresh then -- the table may be the base's
        local own = {}
        for k, v in pairs(r.named or {}) do own[k] = v end
        r.named, r.fresh = own, true
      end
      r.named[name] = {n, len, seq}
      putlog(n)
    end
  end
  return list
end

-- setchannels returns what is to be written to V for the changes of the step seq, the number of
-- the channel map then in force, and which of the channels in gone there were.
local function setchannels(map, seq, set, gone)
  if #set == 0 and #gone == 0 then return {}, map, false end
  local data = call('HGET', V, 'm' .. map)
  if map ~= 0 and not data then refuse('FORMAT', 'channel map ' .. map .. ' is missing') end
  local names, list, removed = map ~= 0 and unpacked(data, 'channel map ' .. map) or {}, {}, {}
  for _, name in ipairs(gone) do
    if names[name] then removed[#removed + 1] = name end
    names[name] = nil
  end
  removed = #removed > 0 and removed
  for k = 1, #set, 2 do
    names[set[k]] = seq
    list[#list + 1] = 'c' .. seq .. ':' .. set[k]
    list[#list + 1] = set[k + 1]
  end
  if next(names) == nil then return list, 0, removed end
  list[#list + 1] = 'm' .. seq
  list[#list + 1] = cmsgpack.pack(names)
  return list, seq, removed
end

local function counted(width)
  local out = {}
  for k = 1, int() * width do out[k] = arg() end
  return out
end

-- put returns what is due. The last put of a lease, repeated, finds that the lease has been
-- given back, and perhaps passed on.
local function put(last)
  local ns, id, parent, base, time, digest, mine, ttl, fork, meta, careful = unpack(ARGV, at + 1, at + 11)
  at = at + 11
  local changes, gone = counted(2), counted(1)
  local _, packed = open(ns)
  local old = row(pair(ns, id))
  if last and old and old.digest == digest then return due() end
  fence(mine)
  if old and old.digest == digest then
    seen()
    return due()
  end
  if old then refuse('CONFLICT', 'the id is taken by another checkpoint') end
  local head = newest(ns, packed)
  local from = head
  if parent ~= (head and head.id or '') then
    if parent ~= '' then from = row(pair(ns, parent)) or refuse('NOTFOUND', 'no such parent') else from = nil end
    if fork ~= '1' then refuse('CONFLICT', 'the parent is not the newest checkpoint') end
  end
  if base ~= '' then from = row(pair(ns, base)) or refuse('NOTFOUND', 'no such base') end
  local seq = rec.seq + 1
  local state, map, removed = setchannels(from and from.map or 0, seq, changes, gone)
  ready(careful == '1')
  -- All that can be refused has been: from here on it is written.
  local r = {id = id, seq = seq, parent = parent, map = map, time = time, meta = meta, digest = digest,
    turned = from and from.turned or 0, named = from and from.named, removed = removed}
  local entries = changelogs(r, from, seq)
  commit(ns, r, head, ttl, entries, state)
  seen()
  return due()
end
