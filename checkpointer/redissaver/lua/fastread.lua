-- The reading of every day, in one function (see lua/fastput.lua): the newest checkpoint of a
-- thread of this format with its newest messages, none of which was edited or lies in
-- another log, and no pending writes. In every other case quick returns nothing. The entries
-- come as the position of the first and the list of all, ascending, as they are stored.
local function quick(at)
  local A, call, key = ARGV, redis.call, nil
  local ns, id = A[at + 1], A[at + 2]
  local from, to, limit, bytes = tonumber(A[at + 6]), tonumber(A[at + 7]), tonumber(A[at + 8]), tonumber(A[at + 10])
  if A[at + 3] ~= '' or A[at + 5] ~= '' or A[at + 9] ~= '1' and limit > 0 or A[at + 11] ~= '*' or limit > 100 then return end
  if call('EXISTS', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]) ~= 6 then return end
  local got = call('HMGET', KEYS[1], 'p', 'H' .. ns)
  if not got[1] or not got[2] then return end
  local p, h = cmsgpack.unpack(got[1]), cmsgpack.unpack(got[2])
  if p[1] ~= 2 or id ~= '' and id ~= h[1] then return end
  key = #ns .. ':' .. ns .. h[1]
  local r = cmsgpack.unpack(call('HGET', KEYS[2], key))
  if #r ~= 11 or A[at + 4] == '1' and call('HGET', KEYS[6], 'i' .. key) then return end

  local entries, rest, high = {}, -1, math.min(to, h[6])
  local low = math.max(from, high - limit)
  if h[4] < 0 then low = math.max(low, h[5]) end
  if low < high then
    if h[7] >= 0 or low < h[5] then return end
    local fields, prefix, size = {}, 'e' .. h[3] .. ':', 0
    for k = low, high - 1 do fields[k - low + 1] = prefix .. k end
    local list = call('HMGET', KEYS[4], unpack(fields))
    for k = 1, high - low do
      local e = list[k]
      if not e or string.byte(e) ~= 97 then return end
      size = size + #e
    end
    if size >= bytes then return end
    entries = {low, list}
    if high - low == limit then rest = low end
  end

  local names, values = {}, {}
  if h[2] ~= 0 then
    local fields = {}
    for name, seq in pairs(cmsgpack.unpack(call('HGET', KEYS[5], 'm' .. h[2]))) do
      names[#names + 1] = name
      names[#names + 1] = seq
      fields[#fields + 1] = 'c' .. seq .. ':' .. name
    end
    if #fields > 100 then return end
    for k, value in ipairs(call('HMGET', KEYS[5], unpack(fields))) do
      if not value then return end
      values[2 * k - 1], values[2 * k] = string.sub(fields[k], 2), value
    end
  end
  local logs = {'', h[6], h[8]}
  for name, l in pairs(h[9] or {}) do
    for k, v in ipairs({name, l[2], l[3]}) do logs[#logs + 1] = v end
  end
  return {'OK', {key, r[2], r[1], r[6], r[7], names, r[11] or {}, logs}, values, {}, entries, rest}
end
