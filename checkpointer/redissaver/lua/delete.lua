-- delete: TOKEN. Removes the thread and leaves the fence behind, raised unless the
-- caller holds the lease that it stands for.
local function main()
  local token = arg()
  open(true)
  fence(token)
  local stored = tonumber(string.match(call('GET', F) or '', '^%d+'))
  local gone, time = call('UNLINK', unpack(THREAD)), now()
  if token ~= '' then
    call('SET', F, token, 'PX', FENCE_LIFE)
  elseif gone > 0 or stored then
    call('SET', F, math.max((stored or 0) + 1, time), 'PX', FENCE_LIFE)
  end
  return {'OK', micros()}
end
