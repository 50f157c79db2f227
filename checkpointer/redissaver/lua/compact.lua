-- compact: NS AT NEWID TIME TOKEN TTL META KEEP SUMMARYID SUMMARY. A new log without a
-- parent holds the summary and the kept messages at their old positions.
local function main()
  local ns, id, newid, time, mine, ttl, meta, keep = arg(), arg(), arg(), arg(), arg(), arg(), arg(), int()
  local sumid, summary = arg(), arg()
  local _, packed = open(ns)
  fence(mine)
  if row(pair(ns, newid)) then return {'OK', newid, due()} end
  local head = newest(ns, packed)
  local r
  r, id = find(ns, id, packed)
  if not r then refuse('NOTFOUND') end
  if head.id ~= id then refuse('CONFLICT', 'not the newest checkpoint') end
  local kept, list, names = {}, {}, {}
  visit(r.log, r.len, 0, r.len, true, keep + 1, math.huge, function(p, json)
    kept[#kept + 1] = {p, json}
    return #kept > keep
  end)
  if #kept <= keep then return {'OK', id, due()} end
  ready(true)
  local start = (keep > 0 and kept[keep][1] or r.len) - 1
  local n = newlog(-1, start)
  kept[keep + 1] = {start, summary}
  for k = keep + 1, 1, -1 do
    local p, json = unpack(kept[k])
    local field = 'm' .. n .. ':' .. (k > keep and sumid or idof(json))
    names[field] = names[field] or {}
    table.insert(names[field], p)
    list[#list + 1] = 'e' .. n .. ':' .. p
    list[#list + 1] = 'a' .. json
  end
  for field, positions in pairs(names) do
    list[#list + 1] = field
    list[#list + 1] = table.concat(positions, ',')
  end
  logs[n].len = r.len
  local seq = rec.seq + 1
  commit(ns, {id = newid, seq = seq, parent = id, log = n, len = r.len, map = r.map, time = time, meta = meta, digest = '',
    turned = seq, named = r.named}, head, ttl, list, {})
  seen()
  return {'OK', newid, due()}
end
