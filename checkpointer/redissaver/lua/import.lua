-- import: NS ID TIME TOKEN TTL META FIELDS, then counted (channel, value) and (log, start,
-- length). Makes a new thread of one checkpoint, whose logs, numbered as they are given,
-- '' for the messages first, were staged under the key after the thread's own, FIELDS fields.
local function main()
  local ns, id, time, mine, ttl, meta = arg(), arg(), arg(), arg(), arg(), arg()
  local fields, staged = int(), KEYS[8]
  local exists = open(ns)
  fence(mine)
  if exists then
    if row(pair(ns, id)) then return due() end -- this fork, repeated
    call('UNLINK', staged)
    refuse('CONFLICT', 'the thread exists')
  end
  if call('HLEN', staged) ~= fields then refuse('LOST', 'the staged messages are gone') end
  ready(true)
  if fields > 0 then
    call('RENAME', staged, L)
    call('PERSIST', L)
  end
  local seq, names, values = rec.seq + 1, {}, {}
  for _ = 1, int() do
    local name, value = arg(), arg()
    values[#values + 1] = 'c' .. seq .. ':' .. name
    values[#values + 1] = value
    names[name] = seq
  end
  local map = #values > 0 and seq or 0
  if map > 0 then
    values[#values + 1] = 'm' .. map
    values[#values + 1] = cmsgpack.pack(names)
  end
  local r = {id = id, seq = seq, parent = '', map = map, time = time, meta = meta, digest = '', turned = 0}
  for _ = 1, int() do
    local name, start, len = arg(), int(), int()
    local n = newlog(-1, start)
    logs[n].len = len
    if name == '' then
      r.log, r.len, r.turned = n, len, len > 0 and seq or 0
    else
      r.named = r.named or {}
      r.named[name] = {n, len, seq}
      putlog(n)
    end
  end
  commit(ns, r, nil, ttl, {}, values)
  seen()
  return due()
end
