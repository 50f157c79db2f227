package langrooms

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// decoder reads the stored form of a message as MarshalJSON writes it, a tenth of the
// time that encoding/json takes: a window is mostly decoding. Whatever it does not expect,
// in the order it expects it, makes it give up, and encoding/json reads the message.
type decoder struct {
	rest []byte
	bad  bool
}

// quickly reads a message of ordinary shape: text parts, a stamp or none, no Extra and no
// Summary. It reports false, and leaves m alone, for any other.
func (m *Message) quickly(data []byte) bool {
	d := &decoder{rest: data}
	var read Message
	d.literal(`{"id":`)
	read.ID = d.text()
	d.literal(`,"time":"`)
	read.Time = d.time()
	d.literal(`,"role":`)
	read.Role = Role(d.text())
	d.literal(`,"parts":[`)
	for more := true; more && !d.bad; more = d.next(`,`) {
		d.literal(`{"kind":"text","text":`)
		read.Parts = append(read.Parts, Part{Kind: PartText, Text: d.text()})
		d.literal(`}`)
	}
	d.literal(`]`)
	if d.next(`,"stamp":`) {
		read.Stamp = d.stamp()
	}
	read.Usage = d.usage()
	d.literal(`}`)
	if d.bad || len(d.rest) > 0 {
		return false
	}
	*m = read
	return true
}

func (d *decoder) stamp() *Stamp {
	var s Stamp
	d.literal(`{"from":`)
	s.From = d.text()
	if d.next(`,"to":[`) {
		for more := true; more && !d.bad; more = d.next(`,`) {
			s.To = append(s.To, d.text())
		}
		d.literal(`]`)
	}
	if d.next(`,"exchange":`) {
		s.Exchange = d.text()
	}
	if d.next(`,"round":`) {
		s.Round = int(d.number())
	}
	s.Failed = d.next(`,"failed":true`)
	s.Late = d.next(`,"late":true`)
	s.Incognito = d.next(`,"incognito":true`)
	s.Incomplete = d.next(`,"incomplete":true`)
	if d.next(`,"seen":`) {
		s.Seen = d.number()
	}
	if d.next(`,"error_kind":`) {
		s.ErrorKind = ErrorKind(d.text())
	}
	if d.next(`,"task":`) {
		s.Task = d.text()
	}
	s.Usage = d.usage()
	d.literal(`}`)
	return &s
}

// usage reads a usage, if one comes next: an object of numbers.
func (d *decoder) usage() *Usage {
	const name = `,"usage":`
	if d.bad || !bytes.HasPrefix(d.rest, []byte(name+"{")) {
		return nil
	}
	object := d.rest[len(name):]
	end := bytes.IndexByte(object, '}') + 1
	var u Usage
	if d.bad = json.Unmarshal(object[:end], &u) != nil; d.bad {
		return nil
	}
	d.rest = object[end:]
	return &u
}

// next skips text where it comes next, and says whether it does.
func (d *decoder) next(text string) bool {
	if d.bad || len(d.rest) < len(text) || string(d.rest[:len(text)]) != text {
		return false
	}
	d.rest = d.rest[len(text):]
	return true
}

func (d *decoder) literal(text string) { d.bad = !d.next(text) }

// number reads a few digits; longer numbers are not expected.
func (d *decoder) number() int64 {
	n := 0
	for n < len(d.rest) && d.rest[n] >= '0' && d.rest[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(string(d.rest[:n]), 10, 64)
	d.bad = d.bad || err != nil || n > 18 || n > 1 && d.rest[0] == '0'
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) time() time.Time {
	end := bytes.IndexByte(d.rest, '"')
	var t time.Time
	if d.bad = d.bad || end < 0 || t.UnmarshalText(d.rest[:max(end, 0)]) != nil; !d.bad {
		d.rest = d.rest[end+1:]
	}
	return t
}

// text reads a string.
func (d *decoder) text() string {
	if d.literal(`"`); d.bad {
		return ""
	}
	for i, c := range d.rest {
		switch {
		case c == '"':
			text := d.rest[:i]
			d.rest = d.rest[i+1:]
			d.bad = !utf8.Valid(text)
			return string(text)
		case c == '\\':
			return d.escaped(i)
		case c < ' ':
			d.bad = true
			return ""
		}
	}
	d.bad = true
	return ""
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a string whose first escape is at i.
func (d *decoder) escaped(i int) string {
	text := append(make([]byte, 0, 2*i+64), d.rest[:i]...)
	for ; i < len(d.rest); i++ {
		switch c := d.rest[i]; {
		case c == '"':
			d.rest = d.rest[i+1:]
			d.bad = !utf8.Valid(text)
			return string(text)
		case c == '\\' && i+1 < len(d.rest):
			i++
			plain := escapes[d.rest[i]]
			if d.bad = plain == 0; d.bad {
				return ""
			}
			text = append(text, plain)
		case c < ' ' || c == '\\':
			d.bad = true
			return ""
		default:
			text = append(text, c)
		}
	}
	d.bad = true
	return ""
}
