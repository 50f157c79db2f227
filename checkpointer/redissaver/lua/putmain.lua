local function main() return put() end
