-- scan: COMMAND CURSOR COUNT. A page of a key that does not change. Answer: OK, the next
-- cursor or 0, {field, value, …}.
local function main()
  local command, cursor, count = arg(), arg(), arg()
  local got = call(command, KEYS[1], cursor, 'COUNT', count)
  return {'OK', got[1], got[2]}
end
