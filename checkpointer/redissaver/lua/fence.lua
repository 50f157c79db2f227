-- What a script of a thread does with its caller's fencing token, '' for none.
local given, stored = '', nil

-- fence refuses a token that is older than the stored one, or so old that the store
-- has forgotten which came after it.
local function fence(mine)
  given = mine
  if mine == '' then return end
  stored = token(F)
  -- Where nothing is stored the fence is 0.
  if string.sub(mine, 1, 1) == '-' or stored and older(mine, stored) then refuse('FENCED') end
  local age = not stored and tonumber(mine) > 1e12 and now() - mine
  if age and age > FENCE_LIFE then refuse('FENCED') end
end

-- seen ends a write: it tells who watches the thread, and remembers a token that is newer than the
-- stored one, and gives the stored one a new day of life. A user that may not publish still writes.
local function seen()
  redis.pcall('PUBLISH', KEYS[1], '')
  if given == '' then return end
  if stored == given then call('PEXPIRE', F, FENCE_LIFE) else call('SET', F, given, 'PX', FENCE_LIFE) end
end
