-- prune: KEEP BEFORE RUN TOKEN. Forgets checkpoints, what only they needed, and every
-- content that none of those which stay sees. The work grows with the thread, and no
-- faster; it is one script, so that readers see all of it or nothing.

local function drop(key, fields)
  for k = 1, #fields, 1000 do call('HDEL', key, unpack(fields, k, math.min(k + 999, #fields))) end
end

-- interrupted says that an interrupt is open at a row: no later call has stored a resume of
-- its task or of the whole superstep. (Of writes in format 1 the order is not known.)
local function interrupted(key, pending)
  local asked, answered, fields, list = {}, {}, {}, {}
  for _, p in ipairs(pending) do
    if p[2] == -3 or p[2] == -4 then
      list[#list + 1] = p
      fields[#fields + 1] = placefield(key, p)
    end
  end
  for k, data in ipairs(hmget(W, fields)) do
    local w = unpacked(data or '', 'a pending write of ' .. key)
    if list[k][2] == -3 then asked[list[k][1]] = w[4] or 0 else answered[list[k][1]] = w[4] or 1 end
  end
  for task, call in pairs(asked) do
    if call >= math.max(answered[task] or -1, answered[NULL_TASK] or -1) then return true end
  end
  return false
end

-- instant is a time as text that orders as the time does.
local function instant(t) return (string.gsub(t, 'Z$', '')) end

-- choose splits the rows into those that stay, newest first, and the keys of the others
-- with the fields of their writes; it returns too which namespaces there are.
local function choose(keep, before, run)
  local count, kept, gone, writes, graves = {}, {}, {}, {}, {}
  local keys, fields = call('ZREVRANGE', I, 0, -1), {}
  for k, key in ipairs(keys) do fields[k] = 'i' .. key end
  local pending = hmget(W, fields)
  for k, data in ipairs(hmget(R, keys)) do
    local key = keys[k]
    local size, rest = string.match(key, '^(%d+):(.*)$')
    local r = rowof(key, data or refuse('FORMAT', 'row ' .. key .. ' is missing'))
    r.key, r.ns, r.id = key, string.sub(rest, 1, tonumber(size)), string.sub(rest, size + 1)
    count[r.ns] = (count[r.ns] or 0) + 1
    local stays = count[r.ns] <= keep or before ~= '' and instant(r.time) >= instant(before)
      or run ~= '' and held(metadata(r)).run_id ~= run
    local list = placesof(key, pending[k])
    if stays or keep > 0 and interrupted(key, list) then kept[#kept + 1] = r else
      gone[#gone + 1] = key
      graves[#graves + 1] = {key, r.seq}
      writes[#writes + 1] = 'i' .. key
      for _, p in ipairs(list) do writes[#writes + 1] = placefield(key, p) end
    end
  end
  return kept, gone, writes, count, graves
end

local GRAVES = 1000 -- how many of what was pruned are remembered, so that a listing goes on

local function bury(graves)
  if #graves == 0 then return end
  local all = unpacked(call('HGET', T, 'z') or cmsgpack.pack({}), 'the list of what was pruned')
  for k = #graves, 1, -1 do all[#all + 1] = graves[k] end
  local left = {}
  for k = math.max(1, #all - GRAVES + 1), #all do left[#left + 1] = all[k] end
  set('z', cmsgpack.pack(left))
end

-- orphans adds to fields what waits for a checkpoint that has not come in time.
local function orphans(fields, kept, gone)
  local known, waiting, places = {}, {}, {}
  for _, r in ipairs(kept) do known['i' .. r.key] = true end
  for _, key in ipairs(gone) do known['i' .. key] = true end
  for _, field in ipairs(call('HKEYS', W)) do
    if string.sub(field, 1, 1) == 'i' and not known[field] then waiting[#waiting + 1] = field end
  end
  local oldest = now() - ORPHAN_AGE
  for k, data in ipairs(hmget(W, waiting)) do
    local key, own, newest = string.sub(waiting[k], 2), {waiting[k]}, 0
    for _, p in ipairs(placesof(key, data)) do own[#own + 1] = placefield(key, p) end
    for _, w in ipairs(hmget(W, own)) do
      local ok, v = pcall(cmsgpack.unpack, w or '')
      newest = math.max(newest, ok and type(v) == 'table' and tonumber(v[5]) or 0)
    end
    if newest < oldest then
      for _, field in ipairs(own) do fields[#fields + 1] = field end
    end
  end
end

local function forget(gone, writes)
  drop(W, writes)
  drop(R, gone)
  for k = 1, #gone, 1000 do call('ZREM', I, unpack(gone, k, math.min(k + 999, #gone))) end
end

-- views lists the logs that a row sees, and how much of each. want notes in need how much of each log the rows see, and returns for each log the
-- lengths at which rows stand in it, ascending.
local need = {}

local function views(r)
  local out = {{r.log, r.len}}
  for _, l in pairs(r.named or {}) do out[#out + 1] = {l[1], l[2]} end
  return out
end

local function want(rows)
  local stands = {}
  for _, r in ipairs(rows) do
    for _, view in ipairs(views(r)) do
      local n, to = view[1], view[2]
      stands[n] = stands[n] or {}
      table.insert(stands[n], to)
      while n >= 0 and (need[n] or -1) < to do
        need[n] = to
        local g = getlog(n)
        n, to = g.parent, math.min(to, g.start)
      end
    end
  end
  for _, lens in pairs(stands) do table.sort(lens) end
  return stands
end

-- between says that a number in an ascending list lies in (low, high].
local function between(list, low, high)
  local a, b = 1, #list + 1
  while a < b do
    local m = math.floor((a + b) / 2)
    if list[m] > low then b = m else a = m + 1 end
  end
  return list[a] ~= nil and list[a] <= high
end

-- stock is what the log's key holds, by log: entries = positions, ids = field -> positions.
-- marks are the edited positions, each {p, owner = the log that gives it, lists = log ->
-- edits}. Fields of logs that nobody needs are to be dropped.
local function takestock(doomed)
  local stock, marks, fields, marked = {}, {}, {}, {}
  for n in pairs(need) do stock[n] = {entries = {}, ids = {}} end
  for _, field in ipairs(call('HKEYS', L)) do
    local kind, n, rest = string.match(field, '^([emo])(%d+):(.*)$')
    n = tonumber(n)
    if kind and not need[n] then doomed[#doomed + 1] = field
    elseif kind == 'e' then stock[n].entries[tonumber(rest)] = true
    elseif kind then
      fields[#fields + 1] = field
      marked[#marked + 1] = {kind, n, rest}
    end
  end
  for k, list in ipairs(hmget(L, fields)) do
    local kind, n, rest = unpack(marked[k])
    local positions = {}
    for p in string.gmatch(list, '-?%d+') do positions[#positions + 1] = tonumber(p) end
    if kind == 'm' then stock[n].ids[fields[k]] = positions else
      local p, owner = tonumber(rest), n
      while getlog(owner).start > p and logs[owner].parent >= 0 do owner = logs[owner].parent end
      local place = owner .. ':' .. p
      marks[place] = marks[place] or {p = p, owner = owner, lists = {}}
      marks[place].lists[n] = positions
    end
  end
  return stock, marks
end

-- resolve finds which of an edited message's contents the rows see: it sets original, and
-- the edits that count, by log, in keep.
local function resolve(mark, stands)
  mark.keep = {}
  local asked = {}
  local ask
  local function of(n, lens)
    local list, owner = mark.lists[n] or {}, n == mark.owner
    local bound = list[1] and math.abs(list[1]) or math.huge
    if between(lens, mark.p, bound) then
      if owner then mark.original = true else ask(getlog(n).parent, logs[n].start) end
    end
    for k, e in ipairs(list) do
      if between(lens, math.abs(e), list[k + 1] and math.abs(list[k + 1]) or math.huge) then
        mark.keep[n] = mark.keep[n] or {}
        mark.keep[n][e] = true
      end
    end
  end
  ask = function(n, len)
    if n < 0 or asked[n .. ':' .. len] then return end
    asked[n .. ':' .. len] = true
    of(n, {len})
  end
  for n, lens in pairs(stands) do
    local owner = n
    while owner ~= mark.owner and owner >= 0 and getlog(owner).start > mark.p do owner = logs[owner].parent end
    if owner == mark.owner then of(n, lens) end
  end
end

-- settled applies what resolve has found to the stock: contents that nobody sees are
-- dropped, a message that everybody sees as one edit left it becomes that.
local function settled(mark, stock, doomed, written, used, moved)
  local place, lists, shown, only = mark.owner .. ':' .. mark.p, 0, mark.original, nil
  for n, edits in pairs(mark.keep) do
    for e in pairs(edits) do
      lists, shown, only = lists + 1, shown or e > 0, {n, e}
    end
  end
  if not shown then -- removed for everybody, or out of sight
    stock[mark.owner].entries[mark.p] = nil
    doomed[#doomed + 1] = 'e' .. place
    mark.keep = {}
  elseif not mark.original and lists == 1 then
    moved[#moved + 1] = {'e' .. place, 'e' .. only[1] .. ':' .. only[2]}
    mark.keep = {}
  elseif not mark.original then
    written[#written + 1] = 'e' .. place
    written[#written + 1] = 'a'
  end
  for n, list in pairs(mark.lists) do
    local left = {}
    for _, e in ipairs(list) do
      if mark.keep[n] and mark.keep[n][e] then
        left[#left + 1] = e
        if e > 0 then used[n .. ':' .. e] = true end
      end
    end
    if #left == 0 then doomed[#doomed + 1] = 'o' .. n .. ':' .. mark.p else
      stock[n].marked = true
      if #left < #list then
        written[#written + 1] = 'o' .. n .. ':' .. mark.p
        written[#written + 1] = table.concat(left, ',')
      end
    end
  end
end

-- sift drops the entries of a log that are out of sight, and the ids that name nothing.
local function sift(n, stock, doomed, written, used)
  local s, appended, doubtful = stock[n], {}, {}
  for field, positions in pairs(s.ids) do
    local left = {}
    for _, p in ipairs(positions) do
      appended[p] = true
      if p < need[n] and s.entries[p] then left[#left + 1] = p end
    end
    if #left == 0 then doomed[#doomed + 1] = field
    elseif #left < #positions then
      written[#written + 1] = field
      written[#written + 1] = table.concat(left, ',')
    end
  end
  for p in pairs(s.entries) do
    if p >= need[n] then doomed[#doomed + 1] = 'e' .. n .. ':' .. p
    elseif appended[p] then s.lowest = math.min(s.lowest or p, p)
    elseif not used[n .. ':' .. p] then doubtful[#doubtful + 1] = 'e' .. n .. ':' .. p end
  end
  for k, entry in ipairs(hmget(L, doubtful)) do -- an entry without an id, or nothing
    local p = tonumber(string.match(doubtful[k], ':(%d+)$'))
    if string.sub(entry, 1, 1) == 'a' then s.lowest = math.min(s.lowest or p, p)
    else doomed[#doomed + 1] = doubtful[k] end
  end
end

-- join lets logs pass over ancestors that give them nothing any more. It returns the logs
-- that are left.
local function join(stock, stands)
  for n = 1, rec.nlog do
    if need[n] then
      local g = getlog(n)
      while g.parent >= 0 do
        local above = stock[g.parent]
        if above.marked or above.lowest and above.lowest < g.start then break end
        g.start, g.parent = math.min(g.start, getlog(g.parent).start), logs[g.parent].parent
      end
      g.len = math.max(g.start, need[n])
      if not stock[n].marked then g.edited = -1 end
    end
  end
  local left = {}
  for n in pairs(stands) do
    while n >= 0 and not left[n] do
      left[n] = true
      n = logs[n].parent
    end
  end
  return left
end

-- sweep drops from the log's key what nobody sees.
local function sweep(stands)
  local doomed, written, used, moved, sources = {}, {}, {}, {}, {}
  local stock, marks = takestock(doomed)
  for _, mark in pairs(marks) do
    resolve(mark, stands)
    settled(mark, stock, doomed, written, used, moved)
  end
  for k, m in ipairs(moved) do sources[k] = m[2] end
  for k, content in ipairs(hmget(L, sources)) do
    written[#written + 1] = moved[k][1]
    written[#written + 1] = 'a' .. string.sub(content or '', 2)
  end
  for n in pairs(need) do sift(n, stock, doomed, written, used) end
  hset(L, written)
  drop(L, doomed)
  return join(stock, stands)
end

-- putlogs writes the records of the logs that are left, and the newest checkpoints.
local function putlogs(left, heads)
  local taken, gone = {}, {}
  for ns, r in pairs(heads) do
    if not r then gone[#gone + 1] = 'H' .. ns else
      taken[r.log] = true
      puthead(ns, r)
    end
    gone[#gone + 1] = 'h' .. ns
  end
  for n = 1, rec.nlog do
    if left[n] and not taken[n] then putlog(n) else gone[#gone + 1] = 'g' .. n end
  end
  drop(T, gone)
end

local function cutvalues(rows)
  local used, fields = {['']= true}, {}
  loadmaps(rows)
  for _, r in ipairs(rows) do
    used['m' .. r.map] = true
    for name, seq in pairs(loaded[r.map]) do used['c' .. seq .. ':' .. name] = true end
  end
  for _, field in ipairs(call('HKEYS', V)) do
    if not used[field] then fields[#fields + 1] = field end
  end
  drop(V, fields)
end

-- newestof returns the newest row of each namespace that is left, false where none is.
local function newestof(kept, spaces)
  local heads = {}
  for ns in pairs(spaces) do
    newest(ns, call('HGET', T, 'H' .. ns))
    heads[ns] = false
  end
  for _, r in ipairs(kept) do
    heads[r.ns] = heads[r.ns] or r
  end
  return heads
end

local function main()
  local keep, before, run, mine = int(), arg(), arg(), arg()
  local exists = open()
  fence(mine)
  if not exists then seen(); return {'OK', 0} end
  local kept, gone, writes, spaces, graves = choose(keep, before, run)
  ready(true)
  if #kept == 0 then
    call('UNLINK', unpack(THREAD))
    seen()
    return {'OK', #gone}
  end
  local heads = newestof(kept, spaces)
  local stands = want(kept)
  orphans(writes, kept, gone)
  forget(gone, writes)
  bury(graves)
  local left = sweep(stands)
  cutvalues(kept)
  putlogs(left, heads)
  current()
  rec.changes = rec.changes + (#gone > 0 and 1 or 0)
  flush()
  if rec.ends then expire(rec.ends) end
  seen()
  return {'OK', #gone}
end
