-- stage: LIFE, then counted (field, value). KEYS: the staged log of a fork.
local function main()
  local life = arg()
  for _ = 1, int() do
    local field, value = arg(), arg()
    call('HSET', KEYS[1], field, value)
  end
  call('PEXPIRE', KEYS[1], life)
  return {'OK'}
end
