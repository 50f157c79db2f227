-- The put of every day, without a function: Lua would make each of the script's anew at
-- every run, which costs more than the commands. It knows a step of a few appends and
-- channels after the newest checkpoint of a thread of this format, by the holder of the stored
-- token, under an id that is new. In every other case it returns nothing and has written
-- nothing; lua/put.lua, which does the same and says more about it, takes over. The arguments
-- of the put stand behind the first FIRST; with an OWNER, the last put gives its lease back.
local call, A, began = redis.call, ARGV, false
local T, R, I, L, V, W, F = unpack(KEYS)

local function fast(at, owner)
  local ns, id, mine = A[at + 1], A[at + 2], A[at + 7]
  local sets = tonumber(A[at + 12])
  local gone = tonumber(A[at + 13 + 2 * sets])
  local logs = at + 14 + 2 * sets + gone
  local count = tonumber(A[logs + 4])
  if A[at + 4] ~= '' or A[at + 11] == '1' or A[logs] ~= '1' or sets + gone > 100 or count > 100 then return end
  if call('EXISTS', T, R, I, L, V, W) ~= 6 then return end
  local got = call('HMGET', T, 'p', 'H' .. ns)
  if not got[1] or not got[2] then return end
  local p, h = cmsgpack.unpack(got[1]), cmsgpack.unpack(got[2])
  local ttl = tonumber(p[7] or A[at + 8])
  if p[1] ~= 2 or h[1] ~= A[at + 3] or p[8] and ttl == 0 then return end
  local t = call('TIME')
  local now, lease = t[1] * 1000000 + t[2], nil
  if mine ~= '' then
    local text = call('GET', F) or ''
    if string.match(text, '^%d+') ~= mine then return end
    lease = owner and cmsgpack.unpack(string.sub(text, #mine + 1))
  end
  if owner and (not lease or lease[1] ~= owner or lease[2] <= now / 1000) then return end
  local key = #ns .. ':' .. ns .. id
  if call('HGET', R, key) then return end

  local seq, map, n, from, turned = p[2] + 1, h[2], h[3], h[6], h[8]
  local values, list, ids, len, removed = {}, {}, {}, from, {}
  if sets + gone > 0 then
    local data = call('HGET', V, 'm' .. map)
    if map ~= 0 and not data then return end
    local names = data and cmsgpack.unpack(data) or {}
    for k = 1, gone do
      local name = A[logs - 1 - gone + k]
      if names[name] then removed[#removed + 1] = name end
      names[name] = nil
    end
    for k = 1, sets do
      local name = A[at + 11 + 2 * k]
      names[name] = seq
      values[2 * k - 1], values[2 * k] = 'c' .. seq .. ':' .. name, A[at + 12 + 2 * k]
    end
    map = 0
    if next(names) then map, values[2 * sets + 1], values[2 * sets + 2] = seq, 'm' .. seq, cmsgpack.pack(names) end
  end
  if count > 0 then
    turned, len = seq, from + count
    local prefix = 'm' .. n .. ':'
    for k = 1, count do
      ids[k] = prefix .. A[logs + 3 + 3 * k]
      if ids[ids[k]] then return end -- an id twice
      ids[ids[k]] = true
    end
    local known = call('HMGET', L, unpack(ids))
    for k = 1, count do
      local place = from + k - 1
      list[4 * k - 3], list[4 * k - 2] = 'e' .. n .. ':' .. place, 'a' .. A[logs + 4 + 3 * k]
      list[4 * k - 1], list[4 * k] = ids[k], known[k] and known[k] .. ',' .. place or place
    end
  end

  local ends = ttl > 0 and math.floor(now / 1000) + ttl
  call('ZADD', I, seq, key)
  began = true
  call('HSET', R, key, cmsgpack.pack({seq, A[at + 3], n, len, map, A[at + 5], A[at + 10], A[at + 6], turned, h[9],
    #removed > 0 and removed}))
  if count > 0 then call('HSET', L, unpack(list)) end
  if #values > 0 then call('HSET', V, unpack(values)) end
  call('HSET', T, 'H' .. ns, cmsgpack.pack({id, map, n, h[4], h[5], len, h[7], turned, h[9]}),
    'p', cmsgpack.pack({2, seq, p[3], p[4] + 1, now, p[6], p[7], ends}))
  if ends then
    for k = 1, 6 do call('PEXPIREAT', KEYS[k], ends) end
  end
  if lease then
    call('SET', F, mine .. (#lease[3] > 0 and cmsgpack.pack({'', 0, lease[3]}) or ''), 'PX', 86400000)
  elseif mine ~= '' then
    call('PEXPIRE', F, 86400000)
  end
  redis.pcall('PUBLISH', T, '')
  return {'OK', p[6] and (now - p[6] > 60000000 and 1 or 0) or 2, now}
end

local done, answer = pcall(fast, FIRST, OWNER)
if done and answer then return answer end
if began then return type(answer) == 'table' and answer or {err = answer} end
return slow()
