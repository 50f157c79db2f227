package names

// Distance is the number of insertions, deletions and substitutions of code points that make
// b of a, or bound+1 when it is more than bound.
func Distance(a, b string, bound int) int {
	from, to := []rune(a), []rune(b)
	if d := len(from) - len(to); d > bound || -d > bound {
		return bound + 1
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range to {
			cost := diagonal
			if ra != rb {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(to)], bound+1)
}
