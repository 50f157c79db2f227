local function main() return answer() end
