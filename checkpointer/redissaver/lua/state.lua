-- Metadata and channels of rows, as they are answered.

-- quoted writes text as the client writes it in JSON.
local ESCAPES = {['"'] = '\\"', ['\\'] = '\\\\', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n', ['\r'] = '\\r', ['\t'] = '\\t'}
local function quoted(text)
  text = string.gsub(text, '[%z\1-\31"\\<>&]', function(c) return ESCAPES[c] or string.format('\\u%04x', string.byte(c)) end)
  text = string.gsub(text, '\226\128([\168\169])', function(c) return string.format('\\u20%02x', string.byte(c) - 128) end)
  return '"' .. text .. '"'
end

-- metadata returns a row's metadata as the client packs it: key, JSON, … each behind its
-- length. In format 1 it is a table of texts, and what is no text stands behind a NUL.
local function metadata(r)
  if type(r.meta) == 'string' then return r.meta end
  local out = {}
  for k, v in pairs(r.meta) do out[#out + 1] = pair(k, '') .. pair(string.byte(v) == 0 and string.sub(v, 2) or quoted(v), '') end
  return table.concat(out)
end

-- held takes packed metadata apart.
local function held(meta)
  local out, p, text = {}, 1, {}
  while p <= #meta do
    for k = 1, 2 do
      local size, next = string.match(meta, '^(%d+):()', p)
      if not size then refuse('FORMAT', 'metadata cannot be read') end
      p = next + size
      text[k] = string.sub(meta, next, p - 1)
    end
    out[text[1]] = text[2]
  end
  return out
end

-- loaded holds the channel maps that were read. Values are read once, whatever rows share
-- them: known names those that an answer has.
local loaded, known = {[0] = {}}, {}

local function loadmaps(rows)
  local maps, fields = {}, {}
  for _, r in ipairs(rows) do
    if not loaded[r.map] then
      loaded[r.map] = true
      maps[#maps + 1] = r.map
      fields[#fields + 1] = 'm' .. r.map
    end
  end
  for i, data in ipairs(hmget(V, fields)) do
    loaded[maps[i]] = unpacked(data or '', 'channel map ' .. maps[i])
  end
end

-- selected reads a selection of channels from the arguments: * for all, or counted names.
-- It returns nil for all, else a set.
local function selected()
  local n, names = arg(), {}
  if n == '*' then return nil end
  for _ = 1, n do names[arg()] = true end
  return names
end

-- logsof returns {name, length, version, …} of a row's logs, '' for the messages.
local function logsof(r)
  local out = {'', r.len, r.turned}
  for name, l in pairs(r.named or {}) do
    for _, v in ipairs({name, l[2], l[3]}) do out[#out + 1] = v end
  end
  return out
end

-- channels returns {name, seq, …} of what is in force at a row whose map is loaded, and
-- adds the wanted values that are not known yet to out, as {seq:name, value, …}. It
-- returns too how many bytes these are.
local function channels(r, out, wanted)
  local list, fields, names, size = {}, {}, {}, 0
  for name, seq in pairs(loaded[r.map]) do
    list[#list + 1] = name
    list[#list + 1] = seq
    local place = seq .. ':' .. name
    if not known[place] and (not wanted or wanted[name]) then
      known[place] = true
      names[#names + 1] = place
      fields[#fields + 1] = 'c' .. place
    end
  end
  for i, value in ipairs(hmget(V, fields)) do
    if not value then refuse('FORMAT', 'the value of channel ' .. names[i] .. ' is missing') end
    out[#out + 1] = names[i]
    out[#out + 1] = value
    size = size + #value
  end
  return list, size
end

-- rowreply is how a checkpoint stands in an answer.
local function rowreply(key, r, values, wanted)
  local names, size = channels(r, values, wanted)
  return {key, r.parent, r.seq, r.time, metadata(r), names, r.removed or {}, logsof(r)}, size
end
