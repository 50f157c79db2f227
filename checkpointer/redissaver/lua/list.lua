-- list: ANY NS BEFORENS BEFOREID CURSOR LIMIT BYTES, then counted filter (key, value).
-- A page of checkpoints, newest first. ANY 1 takes every namespace; CURSOR is the seq
-- to go on below, 0 at the first page. Answer: OK, next cursor or 0, rows.
local BUDGET = 2000

local function matches(meta, filter)
  for k, v in pairs(filter) do if meta[k] ~= v then return false end end
  return true
end

local function main()
  local any, ns, bns, bid = arg() == '1', arg(), arg(), arg()
  local cursor, limit, bytes = int(), int(), int()
  local filter = {}
  for _ = 1, int() do local k = arg(); filter[k] = arg() end
  local exists = open()
  if cursor == 0 and bid ~= '' then
    local b = row(pair(bns, bid))
    if not b then refuse('NOTFOUND', 'no such checkpoint to list before') end
    cursor = b.seq
  end
  if not exists then return {'OK', 0, {}} end
  local max = cursor > 0 and '(' .. cursor or '+inf'
  local rows, size, prefix = {}, 0, pair(ns, '')
  local ask = any and next(filter) == nil and limit or BUDGET
  local keys = call('ZREVRANGEBYSCORE', I, max, '-inf', 'LIMIT', 0, ask)
  for _, key in ipairs(keys) do
    if any or string.sub(key, 1, #prefix) == prefix then
      local r = row(key)
      if not r then refuse('FORMAT', 'row ' .. key .. ' is missing') end
      cursor = r.seq
      if matches(r.meta, filter) then
        local set = channels(r)
        for _, v in ipairs(set) do size = size + #v end
        rows[#rows + 1] = {key, r.parent, r.seq, r.len, r.time, flat(r.meta), set}
        if #rows >= limit or size >= bytes then return {'OK', cursor, rows} end
      end
    end
  end
  if #keys < ask then return {'OK', 0, rows} end
  return {'OK', tonumber(call('ZSCORE', I, keys[#keys])), rows}
end
