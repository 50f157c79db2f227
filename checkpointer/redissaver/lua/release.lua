-- release: ID. Gives back the lease, or the place in the line.
local function main()
  local id, time = arg(), now()
  local q = load(time)
  if q.owner == id then q.owner, q.ends = '', 0 end
  leave(q, id)
  save(q, time)
  return {'OK'}
end
