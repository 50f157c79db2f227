-- stage: LIFE COMMAND, then counted (field, value). KEYS: what is on its way into a new
-- thread. COMMAND is HSET or, for (score, member), ZADD.
local function main()
  local life, command, list = arg(), arg(), {}
  for _ = 1, int() do
    local field, value = arg(), arg()
    list[#list + 1] = field
    list[#list + 1] = value
  end
  for k = 1, #list, 1000 do call(command, KEYS[1], unpack(list, k, math.min(k + 999, #list))) end
  call('PEXPIRE', KEYS[1], life)
  return {'OK'}
end
