package langrooms

import (
	"encoding/json"
	"strings"
)

// earlierKinds are the words by which earlier versions told the kinds of [ErrorKind.Ours]; in an
// outcome, beside the kind "canceled".
var earlierKinds = map[string]ErrorKind{
	"stopped by the operator":                           ErrorStopped,
	"stopped: the client went away":                     ErrorDisconnected,
	"stopped: the time for it was up":                   ErrorDeadline,
	"stopped: the program ended":                        ErrorShutdown,
	"stopped: the hold on the thread was lost":          ErrorInterrupted,
	"interrupted: no answer was stored":                 ErrorInterrupted,
	"stopped before it was asked":                       ErrorUnasked,
	"stopped: the answer before it could not be stored": ErrorUnasked,
}

// UnmarshalJSON reads an outcome, also of an earlier version: with the cause in the place of
// Unrecorded, and a kind that only the words told.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	type plain Outcome
	read := struct {
		*plain
		Unrecorded json.RawMessage `json:"unrecorded"`
	}{plain: (*plain)(o)}
	*o = Outcome{}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	if kind, told := earlierKinds[o.Error]; told && o.ErrorKind == ErrorCanceled {
		o.ErrorKind = kind
	}
	switch {
	case len(read.Unrecorded) == 0:
	case read.Unrecorded[0] == '"':
		o.Unrecorded = true
		return json.Unmarshal(read.Unrecorded, &o.UnrecordedCause)
	default:
		return json.Unmarshal(read.Unrecorded, &o.Unrecorded)
	}
	return nil
}

// tellEarlier gives the record of a failed dispatch of an earlier version its kind, where the
// words told one.
func (m *Message) tellEarlier() {
	if s := m.Stamp; s != nil && s.Failed && s.ErrorKind == "" {
		text := m.Text()
		s.ErrorKind = earlierKinds[strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")]
	}
}
