-- The lease of a thread. KEYS: Q queue, F fencing token. Q holds {owner, end of the
-- lease, {waiter, end of its place, …}} and ends with the last of them.
local Q, F = unpack(KEYS)

local function load(time)
  for _, key in ipairs(KEYS) do
    local kind = call('TYPE', key).ok
    if kind ~= 'none' and kind ~= 'string' then refuse('FORMAT', 'key ' .. key .. ' holds a ' .. kind .. ', not a string') end
  end
  local data = call('GET', Q)
  if not data then return {owner = '', ends = 0, waiting = {}} end
  local ok, q = pcall(cmsgpack.unpack, data)
  if not ok or type(q) ~= 'table' or #q ~= 3 then refuse('FORMAT', 'key ' .. Q .. ' cannot be read') end
  if q[2] <= time then q[1], q[2] = '', 0 end
  local waiting = {}
  for k = 1, #q[3], 2 do
    if q[3][k + 1] > time then
      waiting[#waiting + 1] = q[3][k]
      waiting[#waiting + 1] = q[3][k + 1]
    end
  end
  return {owner = q[1], ends = q[2], waiting = waiting}
end

local function save(q, time)
  local last = q.ends
  for k = 2, #q.waiting, 2 do last = math.max(last, q.waiting[k]) end
  if last <= time then call('DEL', Q) else
    call('SET', Q, cmsgpack.pack({q.owner, q.ends, q.waiting}), 'PX', last - time)
  end
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

local function token() return tonumber(string.match(call('GET', F) or '', '^%d+')) end
