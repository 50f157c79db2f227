-- lock: ID LEASE PLACE. Takes the lease when it is free and nobody stands before ID
-- in the line, else keeps ID's place for PLACE ms. The token is above every earlier
-- one, also when the stored one was lost: then the clock is.
local function main()
  local id, lease, place = arg(), int(), int()
  local time = now()
  local q = load(time)
  if q.owner == id then -- the answer to an earlier request was lost
    q.ends = time + lease
    save(q, time)
    return {'OK', token() or 0}
  end
  if q.owner == '' and (#q.waiting == 0 or q.waiting[1] == id) then
    leave(q, id)
    q.owner, q.ends = id, time + lease
    save(q, time)
    local t = math.max((token() or 0) + 1, time)
    call('SET', F, t, 'PX', FENCE_LIFE)
    return {'OK', t}
  end
  local mine
  for k = 1, #q.waiting, 2 do
    if q.waiting[k] == id then mine = k end
  end
  mine = mine or #q.waiting + 1
  q.waiting[mine], q.waiting[mine + 1] = id, time + place
  save(q, time)
  return {'WAIT', (mine + 1) / 2}
end
