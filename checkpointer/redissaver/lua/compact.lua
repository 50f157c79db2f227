-- compact: NS AT NEWID LOG TIME TOKEN TTL META KEEP SUMMARYID SUMMARY. A new log without
-- a parent holds the summary and the kept entries at their old positions. LOG '' is the
-- messages.
local function main()
  local ns, id, newid, log, time, mine, ttl, meta, keep = arg(), arg(), arg(), arg(), arg(), arg(), arg(), arg(), int()
  local sumid, summary = arg(), arg()
  local _, packed = open(ns)
  fence(mine)
  if row(pair(ns, newid)) then return {'OK', newid, due()} end
  local head = newest(ns, packed)
  local r
  r, id = find(ns, id, packed)
  if not r then refuse('NOTFOUND') end
  if head.id ~= id then refuse('CONFLICT', 'not the newest checkpoint') end
  local kept, list, names, l = {}, {}, {}, {r.log, r.len}
  if log ~= '' then l = r.named and r.named[log] or {-1, 0} end
  local from, len = l[1], l[2]
  visit(from, len, 0, len, true, keep + 1, math.huge, function(p, json)
    kept[#kept + 1] = {p, json}
    return #kept > keep
  end)
  if #kept <= keep then
    seen()
    return {'OK', id, due()}
  end
  ready(true)
  local start = (keep > 0 and kept[keep][1] or len) - 1
  local n = newlog(-1, start)
  kept[keep + 1] = {start, summary}
  for k = keep + 1, 1, -1 do
    local p, json = unpack(kept[k])
    local field = 'm' .. n .. ':' .. (k > keep and sumid or idof(json))
    if field ~= 'm' .. n .. ':' then
      names[field] = names[field] or {}
      table.insert(names[field], p)
    end
    list[#list + 1] = 'e' .. n .. ':' .. p
    list[#list + 1] = 'a' .. json
  end
  for field, positions in pairs(names) do
    list[#list + 1] = field
    list[#list + 1] = table.concat(positions, ',')
  end
  logs[n].len = len
  local seq = rec.seq + 1
  local next = {id = newid, seq = seq, parent = id, log = r.log, len = r.len, map = r.map, time = time, meta = meta, digest = '',
    turned = r.turned, named = r.named}
  if log == '' then next.log, next.turned = n, seq else
    next.named[log] = {n, len, seq}
    putlog(n)
  end
  commit(ns, next, head, ttl, list, {})
  seen()
  return {'OK', newid, due()}
end
