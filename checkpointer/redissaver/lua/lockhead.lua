-- lockhead: LEASE, then as read. Answer: WAIT and the place; or OK, the token, and the
-- answer of the read.
local function main()
  local id = arg()
  local place, t = take(F, id, now())
  if place > 0 then return {'WAIT', place} end
  local ok, read = pcall(answer)
  if ok then return {'OK', t, read} end
  if type(read) == 'table' and read.refuse and read.refuse[1] == 'NOTFOUND' then return {'OK', t, read.refuse} end
  error(read, 0)
end
