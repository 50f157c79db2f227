-- ttl: TTL. 0 pins the thread; else it ends TTL ms after its last put.
local function main()
  local ttl = int()
  if not open() then refuse('NOTFOUND') end
  rec.ttl, rec.ends = ttl, ttl > 0 and math.floor(rec.put / 1000) + ttl
  if rec.former then call('HSET', T, 'ttl', ttl, 'd', rec.ends or '') else flush() end
  expire(rec.ends)
  return {'OK'}
end
