-- delete: TOKEN. Removes the thread, whatever state it is in, and leaves the fence
-- behind, raised unless the caller holds the lease that it stands for.
local function main()
  local mine = arg()
  fence(mine)
  for k = 1, 6 do
    local kind = call('TYPE', KEYS[k]).ok
    if kind ~= 'none' and kind ~= TYPES[k] then refuse('FORMAT', 'key ' .. KEYS[k] .. ' holds a ' .. kind .. ', not a ' .. TYPES[k]) end
  end
  local time = micros()
  local q = load(F, math.floor(time / 1000))
  local gone = call('UNLINK', unpack(THREAD))
  if mine == '' and (gone > 0 or q.token) then
    q.token, q.owner, q.ends = above(q.token, math.floor(time / 1000)), '', 0
    save(F, q)
  end
  seen()
  return {'OK', time}
end
