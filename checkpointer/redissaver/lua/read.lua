-- read: NS ID STATE TTL FROM TO LIMIT BACK BYTES. One checkpoint and a page of its
-- messages at one moment. STATE 1 asks for channels and pending writes, LIMIT 0 for no
-- messages. TTL '' leaves the expiry alone. Answer: OK, id, parent, seq, len, time,
-- metadata, channels, writes, (position, json)…, next position or -1.
local BUDGET = 20000

local function refresh(default)
  local ttl = tonumber(rec.ttl or default)
  if rec.d and ttl > 0 then
    local time = now()
    if rec.d - time < ttl / 2 then expire(time + ttl) end
  end
end

local function main()
  local ns, id, state, ttl = arg(), arg(), arg() == '1', arg()
  local from, to, limit, back, bytes = int(), int(), int(), arg() == '1', int()
  open()
  local r
  r, id = find(ns, id)
  if not r then refuse('NOTFOUND') end
  local out, size, left = {}, 0, limit
  local rest = -1
  if limit > 0 then
    whole(r)
    rest = visit(r.log, r.len, from, to, back, limit, BUDGET, function(p, json)
      out[#out + 1] = p
      out[#out + 1] = json
      size = size + #json
      left = left - 1
      return left == 0 or size >= bytes
    end)
  end
  if ttl ~= '' then refresh(ttl) end
  return {'OK', id, r.parent, r.seq, r.len, r.time, flat(r.meta),
    state and channels(r) or {}, state and pending(pair(ns, id)) or {}, out, rest}
end
