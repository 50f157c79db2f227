package terminal

import (
	"fmt"
	"strings"
)

// How many rows the parts over the editor have at most.
const (
	writtenRows = 6
	queueRows   = 3
	hintRows    = 4
)

// bottom is what stands below the conversation, and where its cursor is.
type bottom struct {
	rows []string
	x, y int
}

// below makes the rows: the words under way, what the turn is at, what is queued, the editor,
// and a hint. No row is wider than the screen.
func (s *screen) below() bottom {
	var b bottom
	columns := max(s.width-1, 1)
	if s.st.busy {
		b.rows = append(b.rows, s.written(columns)...)
		b.rows = append(b.rows, s.look.style(dim, clip(s.statusText(), columns)))
	}
	for i, text := range s.queue {
		if i == queueRows {
			b.rows = append(b.rows, s.look.style(dim, clip(fmt.Sprintf("… and %d more", len(s.queue)-i), columns)))
			break
		}
		b.rows = append(b.rows, s.look.style(dim, clip("queued: "+Clean(text), columns)))
	}
	above := len(b.rows)
	text, cursor := s.ed.view()
	b.rows = append(b.rows, strings.Split(text, "\n")...)
	if cursor != nil {
		b.x, b.y = cursor.X, cursor.Y+above
	}
	if s.ed.hint != "" {
		hint := rows(s.ed.hint, columns)
		for _, row := range hint[:min(len(hint), hintRows)] {
			b.rows = append(b.rows, s.look.style(dim, row))
		}
	}
	if over := len(b.rows) - s.height; over > 0 && s.height > 0 { // the rows of the editor stay
		over = min(over, b.y)
		b.rows, b.y = b.rows[over:], b.y-over
		b.rows = b.rows[:min(len(b.rows), s.height)]
	}
	return b
}

// statusText says what the turn is at, for how long, and how to stop it.
func (s *screen) statusText() string {
	doing := s.st.doing
	if doing == "" {
		doing = "working"
	}
	text := fmt.Sprintf("%s · %d s · Ctrl-C stops", doing, int(s.now.Sub(s.since).Seconds()))
	if s.ending {
		text += ", then the chat ends"
	}
	return text
}

// written is the end of the words under way.
func (s *screen) written(columns int) []string {
	text := strings.TrimSpace(s.st.written)
	if text == "" {
		return nil
	}
	if strings.HasPrefix(s.st.who, "@") {
		text = s.st.who + " — " + text
	}
	all := rows(text, columns)
	return all[max(0, len(all)-min(writtenRows, max(1, s.height/3))):]
}
