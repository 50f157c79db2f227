-- The lease of a thread. It stands behind the fencing token, in the same key: {owner, end
-- of the lease, {waiter, end of its place, …}}, and is left out when nobody is in it.
-- LEASE and PLACE are the longest life of a lease and of a place: an end further off comes
-- from a clock that was set back, and is cut.
if #TYPES == 0 then TYPES = {'string'} end

local function load(key, time)
  local t, text = token(key)
  local q = t and #text > #t and string.sub(text, #t + 1)
  if not q then return {token = t, owner = '', ends = 0, waiting = {}} end
  local ok, v = pcall(cmsgpack.unpack, q)
  if not ok or type(v) ~= 'table' or #v ~= 3 then refuse('FORMAT', 'key ' .. key .. ' cannot be read') end
  local waiting = {}
  for k = 1, #v[3], 2 do
    if v[3][k + 1] > time then
      waiting[#waiting + 1] = v[3][k]
      waiting[#waiting + 1] = math.min(v[3][k + 1], time + PLACE)
    end
  end
  local held = v[2] > time
  return {token = t, owner = held and v[1] or '', ends = held and math.min(v[2], time + LEASE) or 0, waiting = waiting}
end

local function save(key, q)
  local text = q.token or '0'
  if q.owner ~= '' or #q.waiting > 0 then text = text .. cmsgpack.pack({q.owner, q.ends, q.waiting}) end
  call('SET', key, text, 'PX', FENCE_LIFE)
end

-- leave takes a waiter out of the line.
local function leave(q, id)
  for k = 1, #q.waiting, 2 do
    if q.waiting[k] == id then
      table.remove(q.waiting, k)
      table.remove(q.waiting, k)
      return
    end
  end
end

-- take gives id the lease when it is free and nobody stands before it in the line, else
-- keeps its place. It returns its place, 0 for the lease. The token is above every earlier
-- one, also when the stored one was lost: then the clock is.
local function take(key, id, time)
  local q = load(key, time)
  local again, place = q.owner == id, 0
  if again then -- the answer to an earlier request was lost
    q.ends = time + LEASE
  elseif q.owner == '' and (#q.waiting == 0 or q.waiting[1] == id) then
    leave(q, id)
    q.owner, q.ends, q.token = id, time + LEASE, above(q.token, time)
  else
    for k = 1, #q.waiting, 2 do
      if q.waiting[k] == id then place = (k + 1) / 2 end
    end
    if place == 0 then
      q.waiting[#q.waiting + 1] = id
      q.waiting[#q.waiting + 1] = 0
      place = #q.waiting / 2
    end
    q.waiting[place * 2] = time + PLACE
  end
  save(key, q)
  return place, q.token
end
