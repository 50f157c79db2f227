local ok, answer = pcall(main)
if ok then return answer end
if type(answer) == 'table' and answer.refuse then return answer.refuse end
-- An error of a command. Before version 7 it is text, some of it behind the place.
local text = type(answer) == 'table' and answer.err or answer
if string.find(text, 'WRONGTYPE', 1, true) then
  for k, want in ipairs(TYPES) do
    local kind = KEYS[k] and call('TYPE', KEYS[k]).ok or 'none'
    if kind ~= 'none' and kind ~= want then
      return {'FORMAT', 'key ' .. KEYS[k] .. ' holds a ' .. kind .. ', not a ' .. want}
    end
  end
end
-- An error of Lua itself, not of a command, means data of a form not thought of.
if string.find(text, '^user_script') then return {'FORMAT', text} end
if type(answer) == 'table' then return answer end
return {err = string.match(answer, '^@user_script: %d+: %-?(.-)%s*$') or answer}
