local ok, answer = pcall(main)
if ok then return answer end
if type(answer) == 'table' and answer.refuse then return answer.refuse end
-- An error of Lua itself, not of a command, means data of a form not thought of.
if type(answer) == 'string' and string.find(answer, '^user_script') then return {'FORMAT', answer} end
-- An error of a command. Before version 7 it is text, some of it behind the place.
if type(answer) == 'string' then answer = {err = string.match(answer, '^@user_script: %d+: %-?(.-)%s*$') or answer} end
return answer
