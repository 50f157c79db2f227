-- release: ID. Gives back the lease, or the place in the line.
local function main()
  local id, q = arg(), load(KEYS[1], now())
  if q.owner == id then q.owner, q.ends = '', 0 end
  leave(q, id)
  if q.token or #q.waiting > 0 then save(KEYS[1], q) end
  return {'OK'}
end
