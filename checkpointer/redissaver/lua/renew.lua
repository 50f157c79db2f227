-- renew: ID TOKEN LEASE.
local function main()
  local id, mine, lease = arg(), int(), int()
  local time = now()
  local q = load(time)
  if q.owner ~= id or token() ~= mine then refuse('FENCED') end
  q.ends = time + lease
  save(q, time)
  call('PEXPIRE', F, FENCE_LIFE)
  return {'OK'}
end
