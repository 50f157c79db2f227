-- info: what a listing of threads shows of one, and its change counter.
local function main()
  local exists, packed = open('')
  if not exists then refuse('NOTFOUND') end
  local head = newest('', packed)
  return {'OK', rec.put, head and head.len or 0, rec.changes}
end
