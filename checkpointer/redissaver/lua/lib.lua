-- Shared by the scripts of a thread, after head.lua. Then come the parts that a script
-- needs, its own file, which defines main(), and foot.lua.
--
-- The keys of a thread, all in one slot. All six exist from its first put to its end, so
-- that one that is missing was evicted, and so that a cluster serves the thread before the
-- first and after the last of them has moved to another master:
--   T hash   p = the record, H<ns> = the newest checkpoint and its log, g<n> = log n
--   R hash   rows: (ns, id) -> {seq, parent, log, len, map, time, meta, digest, seq of the
--            row that last changed the messages, named logs, removed channels}
--   I zset   order: score seq, member (ns, id)
--   L hash   e<n>:<pos> = entry, m<n>:<message id> = positions, o<n>:<pos> = edits
--   V hash   m<seq> = channel map, c<seq>:<channel> = value
--   W hash   i<row> = places of the pending writes, d<place> = {channel, value}
--   F string the fencing token and the lease, where a script needs them
local T, R, I, L, V, W, F = unpack(KEYS)
local THREAD = {T, R, I, L, V, W}
local VERSION = 2
TYPES = {'hash', 'hash', 'zset', 'hash', 'hash', 'hash', 'string'}
local ORPHAN_AGE = 86400000 -- ms for which writes wait for their checkpoint
local FRESH = 60000000 -- us for which the index of threads need not be told of a put

local function pair(a, b) return #a .. ':' .. a .. b end

local function unpacked(data, what)
  local ok, v = pcall(cmsgpack.unpack, data)
  if not ok or type(v) ~= 'table' then refuse('FORMAT', what .. ' cannot be read') end
  return v
end

local function evicted(key) refuse('FORMAT', 'key ' .. key .. ' is missing; was it evicted?') end

-- hmget reads any number of fields, hset writes a list of field, value, …
local function hmget(key, fields)
  if #fields <= 1000 then return #fields > 0 and call('HMGET', key, unpack(fields)) or {} end
  local out = {}
  for k = 1, #fields, 1000 do
    for _, v in ipairs(call('HMGET', key, unpack(fields, k, math.min(k + 999, #fields)))) do out[#out + 1] = v end
  end
  return out
end

local function hset(key, list)
  for k = 1, #list, 1000 do call('HSET', key, unpack(list, k, math.min(k + 999, #list))) end
end

-- rec is the record; what else is to be written to its key is collected in changed, and
-- written by flush.
local rec, changed = nil, {}

local function set(field, value)
  changed[#changed + 1] = field
  changed[#changed + 1] = value
end

-- current makes the record one of this version: all keys exist from here on.
local function current()
  if rec.seq > 0 and not rec.former then return end
  set('v', VERSION)
  for k = 4, 6 do call('HSET', KEYS[k], '', '') end
end

local function flush()
  set('p', cmsgpack.pack({VERSION, rec.seq, rec.nlog, rec.changes, rec.put, rec.told, rec.ttl, rec.ends}))
  for k = 1, #changed, 1000 do call('HSET', T, unpack(changed, k, math.min(k + 999, #changed))) end
end

-- former reads the record of format 1, in which a key could be absent, and the newest
-- checkpoint of a namespace only by its id.
local function former()
  local v = call('HMGET', T, 'v', 'seq', 'nlog', 'c', 'u', 'x', 'ttl', 'd', 'w')
  if v[1] ~= '1' then refuse('FORMAT', 'key ' .. T .. ' has format version ' .. (v[1] or 'none')) end
  rec = {former = true, seq = tonumber(v[2]), nlog = tonumber(v[3] or 0), changes = tonumber(v[4]), put = tonumber(v[5]),
    told = tonumber(v[6]) or false, ttl = tonumber(v[7]) or false, ends = tonumber(v[8]) or false}
  for k, needed in pairs({[2] = true, [3] = true, [6] = v[9]}) do
    if needed and call('EXISTS', KEYS[k]) == 0 then evicted(KEYS[k]) end
  end
  if call('EXISTS', L) == 1 then return end
  for n = 1, rec.nlog do
    local g = call('HGET', T, 'g' .. n)
    g = g and unpacked(g, 'log ' .. n)
    if g and g[3] > g[2] then evicted(L) end
  end
end

-- open reads the record and, where ns is given, the packed newest checkpoint of that
-- namespace. It returns whether the thread exists. Nothing is written here.
local function open(ns)
  local there = call('EXISTS', T, R, I, L, V, W)
  local got = call('HMGET', T, 'p', 'H' .. (ns or ''))
  if got[1] then
    local p = unpacked(got[1], 'the record in key ' .. T)
    if p[1] ~= VERSION then refuse('FORMAT', 'key ' .. T .. ' has format version ' .. tostring(p[1])) end
    rec = {seq = p[2], nlog = p[3], changes = p[4], put = p[5], told = p[6], ttl = p[7], ends = p[8]}
    if there == 6 then return true, got[2] end
    for _, key in ipairs(THREAD) do
      if call('EXISTS', key) == 0 then evicted(key) end
    end
  end
  if there == 0 or there == 1 and call('EXISTS', W) == 1 then
    rec = {seq = 0, nlog = 0, changes = 0, put = 0, told = false, ttl = false, ends = false, early = there == 1}
    return false
  end
  if call('EXISTS', T) == 0 then evicted(T) end
  former()
  return true
end

-- rowof reads what is stored of the row key.
local function rowof(key, data)
  local r = unpacked(data, 'row ' .. key)
  if #r ~= 8 and #r ~= 11 then refuse('FORMAT', 'row ' .. key .. ' cannot be read') end
  return {seq = r[1], parent = r[2], log = r[3], len = r[4], map = r[5], time = r[6], meta = r[7], digest = r[8],
    turned = r[9] or 0, named = r[10] or nil, removed = r[11] or nil}
end

local function row(key)
  local data = call('HGET', R, key)
  return data and rowof(key, data) or nil
end

-- expire lets every key of the thread end at the same moment; false pins them.
local function expire(deadline)
  for _, key in ipairs(THREAD) do
    if deadline then call('PEXPIREAT', key, deadline) else call('PERSIST', key) end
  end
end

-- due returns whether the index of threads must be told of the last put: 0 no, 1 its
-- activity is old, 2 it does not know the thread; and the time of that put.
local function due()
  if not rec.told then return {'OK', 2, rec.put} end
  return {'OK', rec.put - rec.told > FRESH and 1 or 0, rec.put}
end
