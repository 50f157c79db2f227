package langrooms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The wire forms: the public types without their methods. Fields that they do not know are
// carried beside the known ones.

type messageJSON Message

var messageFields = fieldsOf[Message]()

// MarshalJSON writes the stored form of m.
func (m Message) MarshalJSON() ([]byte, error) {
	if data := m.encodeQuickly(); data != nil {
		return data, nil
	}
	return m.encodeThoroughly()
}

func (m Message) encodeThoroughly() ([]byte, error) {
	return marshalWith(m.Extra, messageJSON(m), messageFields)
}

// UnmarshalJSON reads the stored form. Fields it does not know go to m.Extra.
func (m *Message) UnmarshalJSON(data []byte) error {
	if !m.quickly(data) {
		if err := m.thoroughly(data); err != nil {
			return err
		}
	}
	m.tellEarlier()
	return nil
}

func (m *Message) thoroughly(data []byte) error {
	var j messageJSON
	extra, err := unmarshalWith(data, &j, messageFields)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	*m = Message(j)
	m.Extra = extra
	return nil
}

type stampJSON Stamp

var stampFields = fieldsOf[Stamp]()

// MarshalJSON writes the stored form of s.
func (s Stamp) MarshalJSON() ([]byte, error) { return marshalWith(s.Extra, stampJSON(s), stampFields) }

// UnmarshalJSON reads the stored form. Fields it does not know go to s.Extra.
func (s *Stamp) UnmarshalJSON(data []byte) error {
	var j stampJSON
	extra, err := unmarshalWith(data, &j, stampFields)
	if err != nil {
		return fmt.Errorf("stamp: %w", err)
	}
	*s = Stamp(j)
	s.Extra = extra
	return nil
}

// fieldsOf lists the JSON names of the fields of T.
func fieldsOf[T any]() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

type partJSON struct {
	Kind       PartKind    `json:"kind"`
	Text       *string     `json:"text,omitempty"`
	URL        string      `json:"url,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	MIMEType   string      `json:"mime_type,omitempty"`
	Data       []byte      `json:"data,omitempty"`
	Name       string      `json:"name,omitempty"`
	ToolCall   *ToolCall   `json:"tool_call,omitempty"`
	ToolResult *ToolResult `json:"tool_result,omitempty"`
}

var partFields = []string{"kind", "text", "url", "detail", "mime_type", "data", "name", "tool_call", "tool_result"}

// MarshalJSON writes the stored form of p.
func (p Part) MarshalJSON() ([]byte, error) {
	j := partJSON{p.Kind, nil, p.URL, p.Detail, p.MIMEType, p.Data, p.Name, p.ToolCall, p.ToolResult}
	if p.Text != "" || p.Kind == PartText {
		j.Text = &p.Text
	}
	return marshalWith(p.Extra, j, partFields)
}

// UnmarshalJSON reads the stored form. Fields it does not know go to p.Extra.
func (p *Part) UnmarshalJSON(data []byte) error {
	var j partJSON
	extra, err := unmarshalWith(data, &j, partFields)
	if err != nil {
		return fmt.Errorf("part: %w", err)
	}
	*p = Part{Kind: j.Kind, URL: j.URL, Detail: j.Detail, MIMEType: j.MIMEType, Data: j.Data, Name: j.Name,
		ToolCall: j.ToolCall, ToolResult: j.ToolResult, Extra: extra}
	if j.Text != nil {
		p.Text = *j.Text
	}
	return nil
}

// marshalWith writes known as an object and behind it the fields of extra whose names are not
// listed, which are known's own.
func marshalWith(extra map[string]json.RawMessage, known any, listed []string) ([]byte, error) {
	data, err := marshalPlain(known)
	if err != nil {
		return nil, err
	}
	return withExtra(data, extra, listed)
}

// withExtra adds fields to an object, in order of their names.
func withExtra(object []byte, extra map[string]json.RawMessage, listed []string) ([]byte, error) {
	if len(extra) == 0 {
		return object, nil
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(object, []byte("}")))
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(listed, name) {
			continue
		}
		key, err := marshalPlain(name)
		if err != nil {
			return nil, err
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(key)
		out.WriteByte(':')
		value := extra[name]
		if value == nil {
			value = json.RawMessage("null")
		}
		if err := json.Compact(out, value); err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// marshalPlain is json.Marshal without the HTML escapes, which would make every
// "<" of a stored text six bytes long.
func marshalPlain(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// unmarshalWith fills known and returns the object's fields that are not listed.
func unmarshalWith(data []byte, known any, listed []string) (map[string]json.RawMessage, error) {
	if err := json.Unmarshal(data, known); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for _, name := range listed {
		delete(fields, name)
	}
	if len(fields) == 0 {
		return nil, nil
	}
	for name, raw := range fields { // the known fields have had the same done by the decoder
		fields[name] = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return fields, nil
}

func cloneExtra(extra map[string]json.RawMessage) map[string]json.RawMessage {
	if extra == nil {
		return nil
	}
	c := make(map[string]json.RawMessage, len(extra))
	for k, v := range extra {
		c[k] = bytes.Clone(v)
	}
	return c
}
