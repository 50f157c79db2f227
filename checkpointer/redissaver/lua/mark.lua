-- mark: TIME. The index of threads has been told of the put at TIME.
local function main()
  if call('EXISTS', KEYS[1]) == 1 then call('HSET', KEYS[1], 'x', arg()) end
  return {'OK'}
end
