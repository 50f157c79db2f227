-- Shared by the scripts of a thread, after head.lua. Then come the parts that a script
-- needs, its own file, which defines main(), and foot.lua.
--
-- The keys of a thread, all in one slot and all declared:
--   T hash   record: v, seq, nlog, u, c, x, ttl, d, w; h<ns> = newest id; g<n> = log n
--   R hash   rows: (ns, id) -> {seq, parent, log, len, map, time, meta, digest}
--   I zset   order: score seq, member (ns, id)
--   L hash   e<n>:<pos> = entry, m<n>:<message id> = positions, o<n>:<pos> = edits
--   V hash   m<seq> = channel map, c<seq>:<channel> = value
--   W hash   i<row> = places of the pending writes, d<place> = {channel, value}
--   F string fencing token, with the mark of the delete that raised it
local T, R, I, L, V, W, F = unpack(KEYS)
local THREAD = {T, R, I, L, V, W}
local TYPES = {'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'string'}
local VERSION = '1'
local FRESH = 60000000 -- us for which the index of threads need not be told of a put

local function pair(a, b) return #a .. ':' .. a .. b end

local function unpacked(data, what)
  local ok, v = pcall(cmsgpack.unpack, data)
  if not ok or type(v) ~= 'table' then refuse('FORMAT', what .. ' cannot be read') end
  return v
end

-- kinds are the keys' types, rec the record's common fields; what is to be written to
-- the record is collected, and written by flush.
local kinds, rec, changed = {}, {}, {}
local FIELDS = {'v', 'seq', 'nlog', 'c', 'x', 'u', 'ttl', 'd', 'w'}

local function set(field, value)
  changed[#changed + 1] = field
  changed[#changed + 1] = value
end

local function flush()
  for k = 1, #changed, 1000 do call('HSET', T, unpack(changed, k, math.min(k + 999, #changed))) end
end

-- allthere checks that no key is missing: a thread that exists has rows, an order and, as
-- w says, pending writes; one that does not exist has nothing but pending writes.
local function allthere(exists)
  for k = 2, 6 do
    local there, wanted = kinds[k] ~= 'none', k <= 3 or k == 6 and rec.w
    if exists and wanted and not there or there and not exists and k < 6 then
      refuse('FORMAT', 'key ' .. KEYS[exists and k or 1] .. ' is missing; was it evicted?')
    end
  end
end

-- open checks that every key has its type, that the record is of this version, and,
-- unless damaged is true, that no key of a thread is missing. It returns whether the
-- thread exists. All of it happens before the first write: a script that fails later
-- is not undone.
local function open(damaged)
  for k, want in ipairs(TYPES) do
    kinds[k] = call('TYPE', KEYS[k]).ok
    if kinds[k] ~= 'none' and kinds[k] ~= want then
      refuse('FORMAT', 'key ' .. KEYS[k] .. ' holds a ' .. kinds[k] .. ', not a ' .. want)
    end
  end
  local exists = kinds[1] ~= 'none'
  if exists then
    for k, v in ipairs(call('HMGET', T, unpack(FIELDS))) do rec[FIELDS[k]] = v or nil end
    if rec.v ~= VERSION then refuse('FORMAT', 'key ' .. T .. ' has format version ' .. (rec.v or 'none')) end
  end
  if not damaged then allthere(exists) end
  return exists
end

-- fence refuses a token that is older than the stored one, or so old that the store
-- has forgotten which came after it.
local function fence(token)
  if token == '' then return end
  local mine, stored = tonumber(token), tonumber(string.match(call('GET', F) or '', '^%d+'))
  if stored and stored > mine then refuse('FENCED') end
  if not stored and mine > 1e12 and now() - mine > FENCE_LIFE then refuse('FENCED') end
end

-- seen remembers a token that is newer than the stored one.
local function seen(token)
  if token == '' then return end
  local stored = tonumber(string.match(call('GET', F) or '', '^%d+'))
  if not stored or stored < tonumber(token) then call('SET', F, token, 'PX', FENCE_LIFE) end
end

local function row(key)
  local data = call('HGET', R, key)
  if not data then return nil end
  local r = unpacked(data, 'row ' .. key)
  if #r ~= 8 then refuse('FORMAT', 'row ' .. key .. ' cannot be read') end
  return {seq = r[1], parent = r[2], log = r[3], len = r[4], map = r[5], time = r[6], meta = r[7], digest = r[8]}
end

-- find returns the row named, the newest one when id is empty, and its id.
local function find(ns, id)
  local named = id ~= ''
  if not named then id = call('HGET', T, 'h' .. ns) or '' end
  if id == '' then return nil end
  local r = row(pair(ns, id))
  if not r and not named then refuse('FORMAT', 'the newest row is missing; was it evicted?') end
  return r, id
end

local function flat(map)
  local out = {}
  for k, v in pairs(map) do out[#out + 1] = k; out[#out + 1] = v end
  return out
end

-- channels returns name, value, name, value, … of what is in force at r.
local function channels(r)
  local out = {}
  if r.map == 0 then return out end
  local map = unpacked(call('HGET', V, 'm' .. r.map) or '', 'channel map ' .. r.map)
  for name, seq in pairs(map) do
    local value = call('HGET', V, 'c' .. seq .. ':' .. name)
    if not value then refuse('FORMAT', 'the value of channel ' .. name .. ' is missing') end
    out[#out + 1] = name
    out[#out + 1] = value
  end
  return out
end

-- expire lets every key of the thread end at the same moment; nil pins them.
local function expire(deadline)
  if deadline then call('HSET', T, 'd', deadline) else call('HDEL', T, 'd') end
  for _, key in ipairs(THREAD) do
    if deadline then call('PEXPIREAT', key, deadline) else call('PERSIST', key) end
  end
end

-- commit writes the record and the row r, which becomes the newest of its namespace,
-- and starts the time of disuse anew; default is the store's own TTL.
local function commit(ns, id, r, default)
  local time, key, early = micros(), pair(ns, id), kinds[6] ~= 'none' and not rec.w
  call('HSET', R, key, cmsgpack.pack({r.seq, r.parent, r.log, r.len, r.map, r.time, r.meta, r.digest}))
  call('ZADD', I, r.seq, key)
  set('v', VERSION)
  set('seq', r.seq)
  set('c', rec.c and rec.c + 1 or time)
  set('h' .. ns, id)
  set('u', time)
  if early then set('w', 1) end
  flush()
  rec.u = time
  local ttl = tonumber(rec.ttl or default)
  if ttl > 0 then expire(math.floor(time / 1000) + ttl) elseif rec.d or early then expire(nil) end
end

-- due returns whether the index of threads must be told of the last put: 0 no, 1 its
-- activity is old, 2 it does not know the thread; and the time of that put.
local function due()
  local time = tonumber(rec.u)
  if not rec.x then return {'OK', 2, time} end
  return {'OK', time - rec.x > FRESH and 1 or 0, time}
end

-- nextseq is the sequence number of the next row.
local function nextseq() return (rec.seq or 0) + 1 end
