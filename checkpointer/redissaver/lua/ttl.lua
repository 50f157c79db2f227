-- ttl: TTL. 0 pins the thread; else it ends TTL ms after its last put.
local function main()
  local ttl = int()
  if not open() then refuse('NOTFOUND') end
  call('HSET', T, 'ttl', ttl)
  if ttl > 0 then expire(math.floor(rec.u / 1000) + ttl) else expire(nil) end
  return {'OK'}
end
