-- renew: ID TOKEN.
local function main()
  local id, mine, time = arg(), arg(), now()
  local q = load(KEYS[1], time)
  if q.owner ~= id or q.token ~= mine then refuse('FENCED') end
  q.ends = time + LEASE
  save(KEYS[1], q)
  return {'OK'}
end
