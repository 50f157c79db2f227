-- writes: NS ID TASK PATH TOKEN TTL, then counted (index, channel, value).
-- An ordinary write's place is taken by the first that comes, a special one's (index
-- below 0) by the last. n counts the calls, so that each write can be told from later ones.
local function main()
  local ns, id, task, path, mine, ttl = arg(), arg(), arg(), arg(), arg(), int()
  local exists = open()
  fence(mine)
  local key, time = pair(ns, id), now()
  local got = call('HMGET', W, 'i' .. key, 'n')
  local places, turn, fields, written = {got[1] or ''}, (got[2] or 0) + 1, {}, {}
  local list = {'n', turn}
  for k = 1, int() do
    local index, channel, value = int(), arg(), arg()
    fields[k] = 'd' .. pair(key, index .. ':' .. task)
    written[k] = {index, cmsgpack.pack({channel, value, path, turn, time})}
  end
  local fresh = {}
  for k, old in ipairs(hmget(W, fields)) do
    local index = written[k][1]
    local new = not old and not fresh[index]
    if new then places[#places + 1] = cmsgpack.pack({task, index}) end
    if new or index < 0 then
      list[#list + 1] = fields[k]
      list[#list + 1] = written[k][2]
    end
    fresh[index] = true
  end
  if #places > 1 then
    list[#list + 1] = 'i' .. key
    list[#list + 1] = table.concat(places)
  end
  if #places > 1 or #list > 2 then hset(W, list) end
  local ends = rec.ends
  if exists then
    rec.changes = rec.changes + 1
    if not rec.former then flush() else
      call('HINCRBY', T, 'c', 1)
      call('HSET', T, 'w', 1)
    end
  else
    ends = time + (ttl > 0 and ttl or ORPHAN_AGE)
  end
  if ends then call('PEXPIREAT', W, ends) end
  seen()
  return {'OK'}
end
