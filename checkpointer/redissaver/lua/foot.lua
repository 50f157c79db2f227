local ok, answer = pcall(main)
if ok then return answer end
if type(answer) == 'table' and answer.refuse then return answer.refuse end
-- An error of Lua itself, not of a command, means data of a form not thought of.
if type(answer) == 'string' and string.find(answer, '^user_script') then return {'FORMAT', answer} end
return error(answer, 0)
