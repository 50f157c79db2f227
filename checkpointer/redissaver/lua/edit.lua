-- What a step does to the log. It is worked out in memory first: nobody can stand
-- between two entries of a step, so only what is seen after it is written.

-- stringat returns the text of the JSON string that begins at position p, undecoded, and
-- its end.
local function stringat(json, p)
  local q = p
  while true do
    q = string.find(json, '["\\]', q + 1) or refuse('FORMAT', 'a stored message cannot be read')
    if string.sub(json, q, q) == '"' then return string.sub(json, p + 1, q - 1), q end
    q = q + 1
  end
end

-- idof reads a message's id out of its stored form, by hand: cjson refuses some JSON that
-- a message may hold.
local function idof(json)
  local size, from = string.match(json, '^(%d+):()') -- an entry of a named log
  if size then return string.sub(json, from, from + size - 1) end
  local id = string.match(json, '^{"id":"([^"\\]*)"')
  local p, depth, name = 1, 0, nil
  while not id do
    p = string.find(json, '["{}%[%],]', p) or refuse('FORMAT', 'a stored message cannot be read')
    local c = string.sub(json, p, p)
    if c == '"' then
      local text, q = stringat(json, p)
      if depth == 1 and name == 'id' then id = text end
      name = not name and text or ''
      p = q
    elseif c == ',' then name = nil
    elseif c == '{' or c == '[' then depth, name = depth + 1, nil
    else depth = depth - 1 end
    p = p + 1
  end
  if not string.find(id, '\\', 1, true) then return id end
  local ok, list = pcall(cjson.decode, '["' .. id .. '"]')
  return ok and list[1] or refuse('FORMAT', 'the id of a stored message cannot be read')
end

-- locate lists the positions of what a reader of log n up to len sees by this id: none,
-- one, or several when an id was appended again while it was there.
local function locate(n, len, id)
  local link, links = chain(n, len)
  local fields, found = {}, {}
  for i = 1, math.huge do
    if not link(i) then break end
    fields[i] = 'm' .. links[i].n .. ':' .. id
  end
  for i, list in ipairs(hmget(L, fields)) do
    local positions = {}
    for p in string.gmatch(list or '', '%d+') do
      p = tonumber(p)
      if p < links[i].to then positions[#positions + 1] = p end
    end
    local seen = #positions > 0 and edits(links, i, positions)
    for _, p in ipairs(positions) do
      if not (seen[p] and seen[p][3]) then found[#found + 1] = p end
    end
  end
  return found
end

-- addto adds positions to the lists in the fields of the log: {field -> positions}.
local function addto(lists)
  local fields, out = {}, {}
  for field in pairs(lists) do fields[#fields + 1] = field end
  for i, old in ipairs(hmget(L, fields)) do
    local more = table.concat(lists[fields[i]], ',')
    out[#out + 1] = fields[i]
    out[#out + 1] = old and old .. ',' .. more or more
  end
  hset(L, out)
end

-- copy makes a log without a parent that holds what a reader of log n up to len sees
-- below high, at the same positions.
local function copy(n, len, high)
  local fresh, list, names, start = newlog(-1, high), {}, {}, high
  visit(n, len, 0, high, false, CHUNK, math.huge, function(p, json)
    start = math.min(start, p)
    local id = idof(json)
    local field = 'm' .. fresh .. ':' .. id
    if id ~= '' then
      names[field] = names[field] or {}
      table.insert(names[field], p)
    end
    list[#list + 1] = 'e' .. fresh .. ':' .. p
    list[#list + 1] = 'a' .. json
  end)
  hset(L, list)
  addto(names)
  logs[fresh].start = start
  return fresh
end

-- branch returns the log that a child of r continues. A child of the end of a log appends
-- to it; any other begins a log of its own.
local function branch(r, cut)
  if not r then return newlog(-1, 0) end
  local g = getlog(r.log)
  if cut and cut < r.len then
    local link, links = chain(r.log, r.len)
    for i = 1, math.huge do
      if not link(i) or links[i].to <= cut then break end
      -- An edit above the cut may concern a message below it, and stays in force.
      if links[i].edited >= cut then return copy(r.log, r.len, cut) end
    end
    return newlog(r.log, cut)
  end
  return r.len == g.len and r.log or newlog(r.log, r.len)
end

-- known returns what a step knows of a message id: the positions seen under it, and the
-- newest edit of the first upto of them.
local function known(step, n, p, id)
  local m = step.ids[id]
  if not m then
    m = {at = locate(n, p, id), upto = 0}
    step.ids[id] = m
  end
  return m
end

-- settle gives the positions of a message the edit that the step has left at them. One that
-- this very step appended is simply written as it is in the end.
local function settle(step, n, m)
  local e = m.edit
  if not e then return end
  local needed = false
  for k = 1, m.upto do
    local p = m.at[k]
    if p >= step.base then
      step.entries[p] = e.json and 'a' .. e.json or 'x'
    else
      step.marks['o' .. n .. ':' .. p] = {e.json and e.p or -e.p}
      logs[n].edited = math.max(logs[n].edited, e.p)
      needed = true
    end
  end
  if needed and e.json then step.entries[e.p] = 'r' .. e.json end
  m.edit = nil
end

-- change applies one replacement or removal at position p.
local function change(step, n, p, op, id, json)
  local m = known(step, n, p, id)
  step.entries[p] = 'x'
  if #m.at == 0 then return end
  m.edit, m.upto = {p = p, json = op == 'replace' and json}, #m.at
  if op == 'remove' then
    settle(step, n, m)
    m.at, m.upto = {}, 0
  end
end

-- write stores what is left of a step's entries in log n.
local function write(step, n, to)
  local list, names = {}, {}
  for id, m in pairs(step.ids) do
    settle(step, n, m)
    for _, p in ipairs(m.at) do
      if p >= step.base then
        local field = 'm' .. n .. ':' .. id
        names[field] = names[field] or {}
        table.insert(names[field], p)
      end
    end
  end
  for p = step.base, to - 1 do
    if step.entries[p] ~= 'x' then -- what is not there holds nothing
      list[#list + 1] = 'e' .. n .. ':' .. p
      list[#list + 1] = step.entries[p]
    end
  end
  hset(L, list)
  addto(names)
  addto(step.marks)
end

-- edited applies the counted entries that the arguments hold to log n, which changes with
-- a reset, and returns the log to go on with.
local function edited(n)
  local p = logs[n].len
  local step = {base = p, entries = {}, ids = {}, marks = {}}
  for _ = 1, int() do
    local op, id, json = arg(), arg(), arg()
    if op == 'reset' then -- what the step did before is never seen
      n = newlog(-1, p + 1)
      step = {base = p + 1, entries = {}, ids = {}, marks = {}}
    elseif op == 'append' then
      if id ~= '' then table.insert(known(step, n, p, id).at, p) end
      step.entries[p] = 'a' .. json
    else
      change(step, n, p, op, id, json)
    end
    p = p + 1
  end
  write(step, n, p)
  logs[n].len = p
  return n
end
