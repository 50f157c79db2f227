package roomsapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/langrooms/langrooms/sharedsession"
)

// The refusals of a body beside those of package sharedsession.
var (
	errJSON   = &sharedsession.Error{Code: "invalid_json", Message: "the body cannot be read as JSON"}
	errBody   = &sharedsession.Error{Code: "invalid_request", Message: "the body is not an object with usable values"}
	errStatus = &sharedsession.Error{Code: "invalid_status", Message: `status can only be "open"`}
	errKey    = &sharedsession.Error{Code: "invalid_idempotency_key", Message: "an Idempotency-Key has at most 255 characters"}
)

// maxBody bounds a body in bytes.
const maxBody = 1 << 20

// fields are those of a body's object that are not null, or that are.
type fields map[string]json.RawMessage

// body reads a request's object; an empty body is an empty object where optional.
func body(w http.ResponseWriter, r *http.Request, optional bool) (fields, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, sharedsession.ErrTooLarge
	case err != nil:
		return nil, errJSON
	case optional && len(bytes.TrimSpace(data)) == 0:
		return fields{}, nil
	case !json.Valid(data):
		return nil, errJSON
	}
	var f fields
	if err := json.Unmarshal(data, &f); err != nil || f == nil {
		return nil, errBody
	}
	return f, nil
}

func (f fields) has(name string) bool {
	raw, ok := f[name]
	return ok && string(raw) != "null"
}

// get reads a field into into, which stays what it is where the field is absent or null;
// refusal is what a value of another type is answered with.
func (f fields) get(name string, into any, refusal error) error {
	if !f.has(name) {
		return nil
	}
	if json.Unmarshal(f[name], into) != nil {
		return refusal
	}
	return nil
}

// change reads a field that may also be taken away by null.
func change[T any](f fields, name string, into *sharedsession.Change[T], refusal error) error {
	if _, ok := f[name]; !ok {
		return nil
	}
	into.Set = true
	if !f.has(name) {
		return nil
	}
	into.Value = new(T)
	return f.get(name, into.Value, refusal)
}

// invitee is a name, or a name with a role.
type invitee sharedsession.Invitee

// UnmarshalJSON reads both forms.
func (i *invitee) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &i.Name) == nil {
		return nil
	}
	var o struct {
		Name string
		Role sharedsession.Role
	}
	err := json.Unmarshal(data, &o)
	i.Name, i.Role = o.Name, o.Role
	return err
}
