package langgraphapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 16 << 20

// timeForm is how the API writes times: RFC 3339, UTC, milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

func stamp(t time.Time) string { return t.UTC().Format(timeForm) }

// problem is an answer that is not the one hoped for.
type problem struct {
	status int
	words  string
}

func (p *problem) Error() string { return p.words }

func refused(status int, format string, args ...any) error {
	return &problem{status, fmt.Sprintf(format, args...)}
}

// statuses maps the errors of the layers below to those of the API. Where there are words they
// stand in for the error's own, which say more of the server than a client should read.
var statuses = []struct {
	err    error
	status int
	words  string
}{
	{checkpointer.ErrNotFound, http.StatusNotFound, ""},
	{runs.ErrUnknown, http.StatusNotFound, ""},
	{runs.ErrGone, http.StatusNotFound, ""},
	{runs.ErrBusy, http.StatusConflict, ""},
	{runs.ErrLive, http.StatusConflict, ""},
	{checkpointer.ErrConflict, http.StatusConflict, ""},
	{checkpointer.ErrFenced, http.StatusConflict, ""},
	{checkpointer.ErrTooLarge, http.StatusRequestEntityTooLarge, ""},
	{checkpointer.ErrInvalid, http.StatusUnprocessableEntity, ""},
	{langrooms.ErrThreadID, http.StatusUnprocessableEntity, ""},
	{langrooms.ErrText, http.StatusUnprocessableEntity, ""},
	{runs.ErrKeyReused, http.StatusUnprocessableEntity, ""},
	{errors.ErrUnsupported, http.StatusUnprocessableEntity, ""},
	{runs.ErrDraining, http.StatusServiceUnavailable, ""},
	{checkpointer.ErrUnavailable, http.StatusServiceUnavailable, "the store cannot be reached"},
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, err error) {
	var p *problem
	if errors.As(err, &p) {
		refuse(w, p.status, "%s", p.words)
		return
	}
	for _, known := range statuses {
		if !errors.Is(err, known.err) {
			continue
		}
		if known.status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5") // by then another process, or this one, is there again
		}
		if words := known.words; words != "" {
			s.cfg.Failed(err)
			refuse(w, known.status, "%s", words)
		} else {
			refuse(w, known.status, "%s", err)
		}
		return
	}
	s.cfg.Failed(err)
	refuse(w, http.StatusInternalServerError, "the server failed")
}

// answer ends a request: with the error, with v, or with 204 where there is neither.
func (s *Server) answer(w http.ResponseWriter, v any, err error) {
	switch {
	case err != nil:
		s.fail(w, err)
	case v == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		reply(w, v)
	}
}

// refuse answers with words in the API's shape.
func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	write(w, status, map[string]string{"detail": fmt.Sprintf(format, args...)})
}

func reply(w http.ResponseWriter, v any) { write(w, http.StatusOK, v) }

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // who asked may have gone
}

// read decodes a body as JSON whatever its content type says; an empty one is {}. It answers
// what cannot be read itself, and reports false then.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", maxBody)
		return false
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body cannot be read")
		return false
	case len(data) == 0:
		data = []byte("{}")
	}
	err = json.Unmarshal(data, v)
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typ):
		refuse(w, http.StatusUnprocessableEntity, "%s cannot be a JSON %s", field(typ.Field), typ.Value)
	case err != nil:
		var p *problem
		if errors.As(err, &p) {
			refuse(w, p.status, "%s", p.words)
		} else {
			refuse(w, http.StatusBadRequest, "the body is not valid JSON")
		}
	}
	return err == nil
}

func field(name string) string {
	if name == "" {
		return "the body"
	}
	return name
}

// page is the part of a list that limit and offset name.
func page[T any](all []T, limit, offset int) []T {
	offset = min(max(offset, 0), len(all))
	return all[offset:min(offset+limit, len(all))]
}

// limitOf reads a limit: absent means 10, more than most is refused.
func limitOf(limit *int, most int) (int, error) {
	switch {
	case limit == nil:
		return 10, nil
	case *limit < 1 || *limit > most:
		return 0, refused(http.StatusUnprocessableEntity, "limit is %d, it must be 1 to %d", *limit, most)
	}
	return *limit, nil
}
