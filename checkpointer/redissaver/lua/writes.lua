-- writes: NS ID TASK TOKEN TTL, then counted (index, channel, value).
-- An ordinary write's place is taken by the first that comes, a special one's (index
-- below 0) by the last.
local function main()
  local ns, id, task, token, ttl = arg(), arg(), arg(), arg(), int()
  local exists = open()
  fence(token)
  local key = pair(ns, id)
  local places = {call('HGET', W, 'i' .. key) or ''}
  for _ = 1, int() do
    local index, channel, value = int(), arg(), arg()
    local place = 'd' .. pair(key, index .. ':' .. task)
    local new = call(index < 0 and 'HSET' or 'HSETNX', W, place, cmsgpack.pack({channel, value}))
    if new == 1 then places[#places + 1] = cmsgpack.pack({task, index}) end
  end
  if #places > 1 then
    call('HSET', W, 'i' .. key, table.concat(places))
    if exists and not rec.w then call('HSET', T, 'w', 1) end
  end
  local deadline
  if exists then
    call('HINCRBY', T, 'c', 1)
    deadline = rec.d
  elseif ttl > 0 then
    deadline = now() + ttl
  end
  if deadline then call('PEXPIREAT', W, deadline) end
  seen(token)
  return {'OK'}
end
