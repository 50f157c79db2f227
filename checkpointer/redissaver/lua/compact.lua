-- compact: NS AT NEWID TIME TOKEN TTL KEEP SUMMARYID SUMMARY. A new log without a
-- parent holds the summary and the kept messages at their old positions.
local function main()
  local ns, at, newid, time, token, ttl, keep = arg(), arg(), arg(), arg(), arg(), arg(), int()
  local sumid, summary = arg(), arg()
  open()
  fence(token)
  if row(pair(ns, newid)) then return {'OK', newid, due()} end
  local r, id = find(ns, at)
  if not r then refuse('NOTFOUND') end
  if call('HGET', T, 'h' .. ns) ~= id then refuse('CONFLICT', 'not the newest checkpoint') end
  whole(r)
  local kept = {}
  visit(r.log, r.len, 0, r.len, true, keep + 1, math.huge, function(p, json)
    kept[#kept + 1] = {p, idof(json), json}
    return #kept > keep
  end)
  if #kept <= keep then return {'OK', id, due()} end
  local start = (keep > 0 and kept[keep][1] or r.len) - 1
  local n, g = newlog(-1, start)
  add(n, start, sumid, summary)
  for k = keep, 1, -1 do add(n, kept[k][1], kept[k][2], kept[k][3]) end
  g.len = r.len
  putlog(n, g)
  local seq = nextseq()
  commit(ns, newid, {seq = seq, parent = id, log = n, len = r.len, map = r.map, time = time,
    meta = {source = 'update'}, digest = ''}, ttl)
  seen(token)
  return {'OK', newid, due()}
end
