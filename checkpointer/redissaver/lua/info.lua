-- info: what a listing of threads shows of one.
local function main()
  if not open() then refuse('NOTFOUND') end
  local r = find('', '')
  return {'OK', tonumber(rec.u), r and r.len or 0}
end
