-- Fencing tokens are whole numbers up to 2^63 - 1 and are compared and raised as text: Lua's
-- numbers are exact up to 2^53 only. The key F holds the token and, behind it, the lease.
local function token(key)
  local text = call('GET', key)
  return text and (string.match(text, '^%d+') or refuse('FORMAT', 'key ' .. key .. ' holds no fencing token')), text
end

-- older says that a token comes before another.
local function older(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

-- above is the least token after t that is not below the clock, in ms.
local function above(t, clock)
  clock = string.format('%.0f', clock)
  if not t or older(t, clock) then return clock end
  if t == '9223372036854775807' then refuse('FORMAT', 'there is no fencing token above ' .. t) end
  local digits, nines = string.match(t, '^(%d-)(9*)$')
  local head, last = string.match(digits, '^(%d-)(%d?)$')
  return head .. (last == '' and '1' or last + 1) .. string.rep('0', #nines)
end
