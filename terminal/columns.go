package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// clip returns text on one row of at most so many columns, with an ellipsis where something
// is left out.
func clip(text string, columns int) string {
	text = strings.NewReplacer("\r", "", "\n", " ", "\t", " ").Replace(text)
	return ansi.Truncate(text, max(columns, 0), "…")
}

// tabStop is how far the tabs of text move on a screen.
const tabStop = 8

// rows breaks text into rows of at most so many columns, at white space where there is some.
// Tabs become spaces. A row never ends a character's or a style's middle.
func rows(text string, columns int) []string {
	text = expandTabs(text)
	if columns > 0 {
		text = ansi.Wrap(text, columns, "")
	}
	return strings.Split(text, "\n")
}

func expandTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for j, piece := range strings.Split(line, "\t") {
			if j > 0 {
				n := tabStop - column%tabStop
				b.WriteString(strings.Repeat(" ", n))
				column += n
			}
			b.WriteString(piece)
			column += ansi.StringWidth(piece)
		}
	}
	return b.String()
}
