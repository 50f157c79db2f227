package langrooms

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encodeQuickly writes the stored form of a message of ordinary shape (see quickly), the
// same bytes as encoding/json. It returns nil for any other.
func (m Message) encodeQuickly() []byte {
	if m.Summary != nil || len(m.Parts) == 0 || m.Stamp != nil && len(m.Stamp.Extra) > 0 {
		return nil
	}
	size := 200
	for _, p := range m.Parts {
		if p.Kind != PartText || p.URL != "" || p.Detail != "" || p.MIMEType != "" || len(p.Data) > 0 || p.Name != "" || p.ToolCall != nil || p.ToolResult != nil || len(p.Extra) > 0 {
			return nil
		}
		size += len(p.Text) + len(p.Text)/8 + 40
	}
	e := &encoder{out: make([]byte, 0, size)}
	e.text(`{"id":`, m.ID)
	e.out = append(e.out, `,"time":"`...)
	var err error
	if e.out, err = m.Time.AppendText(e.out); err != nil {
		return nil
	}
	e.text(`","role":`, string(m.Role))
	for i, p := range m.Parts {
		start := `,"parts":[{"kind":"text","text":`
		if i > 0 {
			start = `},{"kind":"text","text":`
		}
		e.text(start, p.Text)
	}
	e.out = append(e.out, `}]`...)
	if m.Stamp != nil {
		e.stamp(m.Stamp)
	}
	e.usage(m.Usage)
	if e.bad {
		return nil
	}
	data, err := withExtra(append(e.out, '}'), m.Extra, messageFields)
	if err != nil {
		return nil
	}
	return data
}

type encoder struct {
	out []byte
	bad bool
}

func (e *encoder) stamp(s *Stamp) {
	e.text(`,"stamp":{"from":`, s.From)
	for i, name := range s.To {
		start := `,"to":[`
		if i > 0 {
			start = `,`
		}
		e.text(start, name)
	}
	if len(s.To) > 0 {
		e.out = append(e.out, ']')
	}
	if s.Exchange != "" {
		e.text(`,"exchange":`, s.Exchange)
	}
	if s.Round != 0 {
		e.out = strconv.AppendInt(append(e.out, `,"round":`...), int64(s.Round), 10)
	}
	for _, flag := range []struct {
		set  bool
		text string
	}{{s.Failed, `,"failed":true`}, {s.Late, `,"late":true`}, {s.Incognito, `,"incognito":true`}, {s.Incomplete, `,"incomplete":true`}} {
		if flag.set {
			e.out = append(e.out, flag.text...)
		}
	}
	if s.Seen != 0 {
		e.out = strconv.AppendInt(append(e.out, `,"seen":`...), s.Seen, 10)
	}
	if s.ErrorKind != "" {
		e.text(`,"error_kind":`, string(s.ErrorKind))
	}
	if s.Task != "" {
		e.text(`,"task":`, s.Task)
	}
	e.usage(s.Usage)
	e.out = append(e.out, '}')
}

func (e *encoder) usage(u *Usage) {
	if u == nil {
		return
	}
	data, err := json.Marshal(u)
	e.bad = e.bad || err != nil
	e.out = append(append(e.out, `,"usage":`...), data...)
}

// text writes start and then s as a JSON string. Of what encoding/json writes otherwise than
// it stands, only quotes, backslashes and line breaks are ordinary.
func (e *encoder) text(start, s string) {
	e.out = append(append(e.out, start...), '"')
	if !utf8.ValidString(s) || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		e.bad = true
		return
	}
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		e.out = append(e.out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			e.out = append(e.out, '\\', c)
		case '\n':
			e.out = append(e.out, `\n`...)
		case '\t':
			e.out = append(e.out, `\t`...)
		case '\r':
			e.out = append(e.out, `\r`...)
		default:
			e.bad = true
			return
		}
	}
	e.out = append(append(e.out, s[from:]...), '"')
}
