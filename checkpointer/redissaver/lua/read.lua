-- Reading one checkpoint and a page of one of its logs at one moment. The arguments: NS ID
-- LOG WRITES TTL FROM TO LIMIT BACK BYTES, and the selected channels. LOG '' is the
-- messages; WRITES 1 asks for the pending writes, LIMIT 0 for no entries; TTL '' leaves the
-- expiry alone. Answer: OK, the checkpoint, (seq:channel, value)…, writes, (position,
-- content)…, next position or -1.
local BUDGET = 20000

-- refresh puts off the end in the second half of the life. A server that takes no writes
-- in this moment, because it is full or its replicas are away, is still read from.
local function refresh(default)
  local ttl, time = tonumber(rec.ttl or default), now()
  if not rec.ends or ttl == 0 or rec.former or rec.ends - time >= ttl / 2 then return end
  rec.ends = time + ttl
  if pcall(flush) then expire(rec.ends) end
end

local function answer()
  local ns, id, log, writes, ttl = arg(), arg(), arg(), arg() == '1', arg()
  local from, to, limit, back, bytes = int(), int(), int(), arg() == '1', int()
  local wanted = selected()
  local _, packed = open(ns)
  local r
  r, id = find(ns, id, packed)
  if not r then refuse('NOTFOUND') end
  local out, size, left = {}, 0, limit
  local rest = -1
  local n, len = r.log, r.len
  if log ~= '' then
    local l = r.named and r.named[log] or {-1, 0}
    n, len = l[1], l[2]
  end
  if limit > 0 then
    rest = visit(n, len, from, to, back, limit, BUDGET, function(p, content)
      out[#out + 1] = p
      out[#out + 1] = content
      size = size + #content
      left = left - 1
      return left == 0 or size >= bytes
    end)
  end
  local values, pend, key = {}, {}, pair(ns, id)
  loadmaps({r})
  local reply = rowreply(key, r, values, wanted)
  if writes then pend = pending(key, placesof(key, call('HGET', W, 'i' .. key))) end
  if ttl ~= '' then refresh(ttl) end
  return {'OK', reply, values, pend, out, rest}
end
