-- adopt: COPY TOKEN TTL, then the sizes of the six keys that were staged under the keys
-- behind the thread's own and its fence. Makes a new thread of them. The field y keeps the
-- name of the copy, so that its repetition is known.

-- early adds to the staged writes those that wait here for a checkpoint of which the copy
-- has none.
local function early(staged)
  local fields = {'n'}
  for _, field in ipairs(call('HKEYS', W)) do
    local key = string.match(field, '^i(.*)$')
    if key and call('HEXISTS', staged, field) == 0 then
      fields[#fields + 1] = field
      for _, p in ipairs(placesof(key, call('HGET', W, field))) do fields[#fields + 1] = placefield(key, p) end
    end
  end
  local list = {}
  for k, value in ipairs(hmget(W, fields)) do
    if fields[k] == 'n' then value = math.max(value or 0, call('HGET', staged, 'n') or 0) end
    if value then
      list[#list + 1] = fields[k]
      list[#list + 1] = value
    end
  end
  hset(staged, list)
end

local function main()
  local name, mine, ttl = arg(), arg(), int()
  local exists = open()
  fence(mine)
  if exists then
    if call('HGET', T, 'y') == name then return due() end -- this copy, repeated
    refuse('CONFLICT', 'the thread exists')
  end
  local sizes = {}
  for k = 1, 6 do
    sizes[k] = int()
    if call(TYPES[k] == 'zset' and 'ZCARD' or 'HLEN', KEYS[7 + k]) ~= sizes[k] then refuse('LOST', 'what was staged is gone') end
  end
  if rec.early and sizes[6] > 0 then early(KEYS[13]) end
  for k = 1, 6 do
    if sizes[k] > 0 then
      call('RENAME', KEYS[7 + k], KEYS[k])
      call('PERSIST', KEYS[k])
    end
  end
  open()
  current()
  local time = micros()
  rec.put, rec.told, rec.ttl, rec.changes = time, false, false, time
  rec.ends = ttl > 0 and math.floor(time / 1000) + ttl
  set('y', name)
  flush()
  expire(rec.ends)
  seen()
  return due()
end
