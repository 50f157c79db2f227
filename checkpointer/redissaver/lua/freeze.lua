-- freeze: LIFE. KEYS: those of a thread, then as many for what it holds in this moment,
-- which does not change any more. When they are there already, this is a repetition.
-- Answer: OK and the size of each.
local function size(k, key) return call(TYPES[k] == 'zset' and 'ZCARD' or 'HLEN', key) end

local function main()
  local life = arg()
  if not open() then refuse('NOTFOUND') end
  for k = 1, 6 do size(k, KEYS[k]) end -- all are of their types
  local answer = {'OK'}
  for k = 1, 6 do
    call('COPY', KEYS[k], KEYS[6 + k])
    call('PEXPIRE', KEYS[6 + k], life)
    answer[k + 1] = size(k, KEYS[6 + k])
  end
  return answer
end
