local ok, answer = pcall(main)
if ok then return answer end
if type(answer) == 'table' and answer.refuse then return answer.refuse end
return error(answer, 0)
