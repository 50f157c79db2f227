-- put: NS ID PARENT TIME DIGEST TOKEN TTL FORK CUT META EDIT, then three counted lists:
-- (channel, value), (removed channel), (op, message id, json). FORK 1 allows a branch,
-- EDIT 1 says that an entry is no append.

-- appended applies a step of appends alone to log n, of which it knows that nobody has to
-- be asked what the messages' ids name. It returns what is to be written.
local function appended(n)
  local g, list, places, ids = logs[n], {}, {}, {}
  for _ = 1, int() do
    local _, id, json = arg(), arg(), arg()
    local field, p = 'm' .. n .. ':' .. id, g.len
    g.len = p + 1
    list[#list + 1] = 'e' .. n .. ':' .. p
    list[#list + 1] = 'a' .. json
    if not places[field] then
      places[field] = {}
      ids[#ids + 1] = field
    end
    table.insert(places[field], p)
  end
  for k, old in ipairs(hmget(L, ids)) do
    local more = table.concat(places[ids[k]], ',')
    list[#list + 1] = ids[k]
    list[#list + 1] = old and old .. ',' .. more or more
  end
  return list
end

-- channels returns what is to be written to V for the changes of the step seq, and the
-- number of the channel map then in force.
local function channels(map, seq, set, gone)
  if #set == 0 and #gone == 0 then return {}, map end
  local data = call('HGET', V, 'm' .. map)
  if map ~= 0 and not data then refuse('FORMAT', 'channel map ' .. map .. ' is missing') end
  local names, list = map ~= 0 and unpacked(data, 'channel map ' .. map) or {}, {}
  for _, name in ipairs(gone) do names[name] = nil end
  for k = 1, #set, 2 do
    names[set[k]] = seq
    list[#list + 1] = 'c' .. seq .. ':' .. set[k]
    list[#list + 1] = set[k + 1]
  end
  if next(names) == nil then return list, 0 end
  list[#list + 1] = 'm' .. seq
  list[#list + 1] = cmsgpack.pack(names)
  return list, seq
end

local function counted(width)
  local out = {}
  for k = 1, int() * width do out[k] = arg() end
  return out
end

local function main()
  local ns, id, parent, time, digest, mine, ttl, fork, cut, meta, edit = unpack(ARGV, 1, 11)
  at = 11
  local changes, gone = counted(2), counted(1)
  local _, packed = open(ns)
  fence(mine)
  local old = row(pair(ns, id))
  if old and old.digest == digest then return due() end
  if old then refuse('CONFLICT', 'the id is taken by another checkpoint') end
  local head = newest(ns, packed)
  local from = head
  if parent ~= (head and head.id or '') then
    if parent ~= '' then from = row(pair(ns, parent)) or refuse('NOTFOUND', 'no such parent') else from = nil end
    if fork ~= '1' then refuse('CONFLICT', 'the parent is not the newest checkpoint') end
  end
  cut = tonumber(cut)
  local seq = rec.seq + 1
  local state, map = channels(from and from.map or 0, seq, changes, gone)
  ready(cut or edit == '1')
  -- All that can be refused has been: from here on it is written.
  local log, entries = branch(from, cut), {}
  if edit == '1' then log = edited(log) else entries = appended(log) end
  local turned = from and not cut and logs[log].len == from.len and from.turned or seq
  commit(ns, {id = id, seq = seq, parent = parent, log = log, len = logs[log].len, map = map, time = time, meta = meta,
    digest = digest, turned = turned, removed = #gone > 0 and gone}, head, ttl, entries, state)
  seen()
  return due()
end
