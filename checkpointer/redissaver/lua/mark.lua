-- mark: TIME. The index of threads has been told of the put at TIME.
local function main()
  if open() and not rec.former then
    rec.told = int()
    flush()
  end
  return {'OK'}
end
