-- stage: LIFE, then counted (field, value). KEYS: the staged log of a fork, with the
-- fields of log 1.
local function main()
  local life, list = arg(), {}
  for _ = 1, int() do
    local field, value = arg(), arg()
    list[#list + 1] = field
    list[#list + 1] = value
  end
  for k = 1, #list, 1000 do call('HSET', KEYS[1], unpack(list, k, math.min(k + 999, #list))) end
  call('PEXPIRE', KEYS[1], life)
  return {'OK'}
end
