-- prune: KEEP RUN TOKEN. Forgets old checkpoints and what only they needed. The work
-- grows with the thread; it is one script, so that readers see all of it or nothing.

local function drop(key, fields)
  for k = 1, #fields, 1000 do call('HDEL', key, unpack(fields, k, math.min(k + 999, #fields))) end
end

local function interrupted(key)
  for _, p in ipairs(places(key) or {}) do
    if p[2] == -3 then return true end
  end
  return false
end

-- choose splits the rows into those that stay and the keys of those that go.
local function choose(keep, run)
  local count, kept, gone = {}, {}, {}
  for _, key in ipairs(call('ZREVRANGE', I, 0, -1)) do
    local size, rest = string.match(key, '^(%d+):(.*)$')
    local ns = string.sub(rest, 1, tonumber(size))
    count[ns] = (count[ns] or 0) + 1
    local r = row(key)
    if not r then refuse('FORMAT', 'row ' .. key .. ' is missing') end
    if count[ns] <= keep or (run ~= '' and r.meta.run_id ~= run) or interrupted(key) then
      kept[#kept + 1] = r
    else
      gone[#gone + 1] = key
    end
  end
  return kept, gone
end

local function forget(key)
  local fields = {'i' .. key}
  for _, p in ipairs(places(key) or {}) do fields[#fields + 1] = placefield(key, p) end
  drop(W, fields)
  call('HDEL', R, key)
  call('ZREM', I, key)
end

-- limits returns, for each log that a row needs, the length that is needed of it.
local function limits(rows)
  local need = {}
  for _, r in ipairs(rows) do
    local n, to = r.log, r.len
    need[n] = need[n] or 0
    while n >= 0 and (need[n] or -1) < to do
      need[n] = to
      local g = getlog(n)
      n, to = g.parent, math.min(to, g.start)
    end
  end
  return need
end

-- below keeps the positions of a list that are below the bound.
local function below(list, bound)
  local out = {}
  for p in string.gmatch(list, '-?%d+') do
    if math.abs(tonumber(p)) < bound then out[#out + 1] = p end
  end
  return table.concat(out, ',')
end

local function cutlogs(need)
  local cut, any = {}, false
  for n = 1, rec.nlog or 0 do
    if call('HEXISTS', T, 'g' .. n) == 1 then
      local g = getlog(n)
      if not need[n] then
        cut[n], any = 0, true
        call('HDEL', T, 'g' .. n)
      elseif need[n] < g.len then
        cut[n], any = need[n], true
        g.len = math.max(g.start, need[n])
        g.edited = math.min(g.edited, g.len - 1)
        putlog(n, g)
      end
    end
  end
  if not any then return end
  local fields = {}
  for _, field in ipairs(call('HKEYS', L)) do
    local kind, n, rest = string.match(field, '^([emo])(%d+):(.*)$')
    local bound = cut[tonumber(n)]
    if bound then
      local list = kind ~= 'm' and tonumber(rest) >= bound and '' or 'keep'
      if list ~= '' and kind ~= 'e' then
        list = below(call('HGET', L, field), bound)
        if list ~= '' then call('HSET', L, field, list) end
      end
      if list == '' then fields[#fields + 1] = field end
    end
  end
  drop(L, fields)
end

local function cutvalues(rows)
  local used = {}
  for _, r in ipairs(rows) do
    local field = 'm' .. r.map
    if r.map ~= 0 and not used[field] then
      used[field] = true
      for name, seq in pairs(unpacked(call('HGET', V, field) or '', 'channel map')) do
        used['c' .. seq .. ':' .. name] = true
      end
    end
  end
  local fields = {}
  for _, field in ipairs(call('HKEYS', V)) do
    if not used[field] then fields[#fields + 1] = field end
  end
  drop(V, fields)
end

local function main()
  local keep, run, token = int(), arg(), arg()
  local exists = open()
  fence(token)
  if not exists then return {'OK', 0} end
  local rows, gone = choose(keep, run)
  if #gone > 0 then
    for _, key in ipairs(gone) do forget(key) end
    if rec.w and call('EXISTS', W) == 0 then call('HDEL', T, 'w') end
    cutlogs(limits(rows))
    cutvalues(rows)
    set('c', rec.c + 1)
    flush()
  end
  seen(token)
  return {'OK', #gone}
end
