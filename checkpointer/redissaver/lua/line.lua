-- line: NS ID LIMIT BYTES WRITES, then the selected channels. A checkpoint and its
-- ancestors, newest first. Answer: OK, the id to go on at or '', the checkpoints, the
-- values of their channels, each once, and their pending writes.
local function main()
  local ns, id, limit, bytes, writes = arg(), arg(), int(), int(), arg() == '1'
  local wanted = selected()
  local _, packed = open(ns)
  local r
  r, id = find(ns, id, packed)
  if not r then refuse('NOTFOUND') end
  local rows, values, pend, size = {}, {}, {}, 0
  while r and #rows < limit do
    if size >= bytes then return {'OK', id, rows, values, pend} end
    local key, more = pair(ns, id), 0
    loadmaps({r})
    rows[#rows + 1], more = rowreply(key, r, values, wanted)
    pend[#pend + 1] = writes and pending(key, placesof(key, call('HGET', W, 'i' .. key))) or {}
    for _, v in ipairs(pend[#pend]) do more = more + (type(v) == 'string' and #v or 0) end
    size, id = size + more, r.parent
    r = id ~= '' and row(pair(ns, id)) or nil
  end
  return {'OK', r and id or '', rows, values, pend}
end
