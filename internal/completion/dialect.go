package completion

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Dialect is what differs between endpoints that all call themselves compatible.
type Dialect struct {
	// Plain: it refuses "stream".
	Plain bool
	// Modern: it refuses "max_tokens" and wants "max_completion_tokens".
	Modern bool
	// Without are the fields that it has refused by name, so they are not sent.
	Without []string
}

// Adapt changes d after a refusal of the request's form, and reports whether there was
// something left to change. own are the fields that were sent beside those of every request
// and may be left out; streams says that a stream was asked for.
func (d *Dialect) Adapt(r *Refusal, own []string, streams bool) bool {
	if r.Status != http.StatusBadRequest && r.Status != http.StatusUnprocessableEntity {
		return false
	}
	name := d.named(r, own)
	switch {
	case name == "max_tokens" && !d.Modern:
		d.Modern = true
	case name != "" && name != "stream":
		d.Without = append(slices.Clip(d.Without), name)
	case !d.Plain && streams:
		d.Plain = true
	default:
		return false
	}
	return true
}

// named is the field that a refusal names, in its place for that or quoted in its words, also
// as a field of a message ("messages.2.reasoning"); empty when it is none that can be left out.
func (d *Dialect) named(r *Refusal, own []string) string {
	for _, name := range append([]string{"max_tokens", "max_completion_tokens", "stream_options", "stream"}, own...) {
		if slices.Contains(d.Without, name) {
			continue
		}
		if r.Param == name || strings.HasSuffix(r.Param, "."+name) {
			return name
		}
		for _, quote := range []string{"'", "\"", "`"} {
			if strings.Contains(r.Message, quote+name+quote) || strings.Contains(r.Message, "."+name+quote) {
				return name
			}
		}
	}
	return ""
}

// Rewrite gives req the body that edit makes of its fields, without those that were refused.
func (d *Dialect) Rewrite(req *http.Request, edit func(fields map[string]any)) error {
	var all map[string]any
	dec := json.NewDecoder(req.Body)
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		return err
	}
	edit(all)
	for _, name := range d.Without {
		delete(all, name)
	}
	body, err := json.Marshal(all)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}
