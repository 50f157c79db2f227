-- lock: ID. KEYS: the fencing token. Answer: OK and the token, or WAIT and the place.
local function main()
  local place, t = take(KEYS[1], arg(), now())
  if place > 0 then return {'WAIT', place} end
  return {'OK', t}
end
