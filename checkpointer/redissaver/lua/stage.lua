-- stage: LIFE, then counted (position, message id, json). KEYS: the staged log of a
-- fork, with the fields of log 1.
local function main()
  local life, log = arg(), KEYS[1]
  for _ = 1, int() do
    local p, id, json = arg(), arg(), arg()
    local list = call('HGET', log, 'm1:' .. id)
    call('HSET', log, 'e1:' .. p, 'a' .. json, 'm1:' .. id, list and list .. ',' .. p or p)
  end
  call('PEXPIRE', log, life)
  return {'OK'}
end
