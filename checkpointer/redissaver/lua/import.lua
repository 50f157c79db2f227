-- import: NS ID TIME TOKEN TTL START LEN FIELDS, then counted (channel, value) and
-- (metadata key, value). Makes a new thread of one checkpoint, whose log 1 was staged
-- under the key after the thread's own and holds FIELDS fields.
local function main()
  local ns, id, time, token, ttl = arg(), arg(), arg(), arg(), arg()
  local start, len, fields, staged = int(), int(), int(), KEYS[8]
  local exists = open()
  fence(token)
  if exists then
    if row(pair(ns, id)) then return due() end -- this fork, repeated
    call('UNLINK', staged)
    refuse('CONFLICT', 'the thread exists')
  end
  if call('HLEN', staged) ~= fields then refuse('LOST', 'the staged messages are gone') end
  if fields > 0 then
    call('RENAME', staged, L)
    call('PERSIST', L)
  end
  local n, g = newlog(-1, start)
  g.len = len
  putlog(n, g)
  local seq, names, map, meta = nextseq(), {}, 0, {}
  for _ = 1, int() do
    local name, value = arg(), arg()
    call('HSET', V, 'c' .. seq .. ':' .. name, value)
    names[name] = seq
    map = seq
  end
  if map > 0 then call('HSET', V, 'm' .. map, cmsgpack.pack(names)) end
  for _ = 1, int() do local k = arg(); meta[k] = arg() end
  commit(ns, id, {seq = seq, parent = '', log = n, len = len, map = map, time = time, meta = meta, digest = ''}, ttl)
  seen(token)
  return due()
end
