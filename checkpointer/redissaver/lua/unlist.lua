-- unlist: THREAD SCORE EXACT. KEYS: the index of threads. Takes a thread out unless it
-- was put to since: EXACT 1 asks for just this score, 0 for one below it.
local function main()
  local thread, score, exact = arg(), int(), arg() == '1'
  local s = tonumber(call('ZSCORE', KEYS[1], thread))
  if s and (exact and s == score or not exact and s < score) then call('ZREM', KEYS[1], thread) end
  return {'OK'}
end
