-- read: NS ID STATE TTL FROM TO LIMIT BACK BYTES. One checkpoint and a page of its
-- messages at one moment. STATE 1 asks for channels and pending writes, LIMIT 0 for no
-- messages. TTL '' leaves the expiry alone. Answer: OK, id, parent, seq, len, time,
-- metadata, (channel, seq)…, (seq:channel, value)…, writes, (position, json)…, next
-- position or -1.
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
  local ns, id, state, ttl = arg(), arg(), arg() == '1', arg()
  local from, to, limit, back, bytes = int(), int(), int(), arg() == '1', int()
  local _, packed = open(ns)
  local r
  r, id = find(ns, id, packed)
  if not r then refuse('NOTFOUND') end
  local out, size, left = {}, 0, limit
  local rest = -1
  if limit > 0 then
    rest = visit(r.log, r.len, from, to, back, limit, BUDGET, function(p, json)
      out[#out + 1] = p
      out[#out + 1] = json
      size = size + #json
      left = left - 1
      return left == 0 or size >= bytes
    end)
  end
  local names, values, writes = {}, {}, {}
  if state then
    loadmaps({r})
    names = channels(r, values)
    writes = pending(pair(ns, id))
  end
  if ttl ~= '' then refresh(ttl) end
  return {'OK', id, r.parent, r.seq, r.len, r.time, metadata(r), names, values, writes, out, rest}
end
