package httpapi

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/consent"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/lifecycle"
	"github.com/langrooms/langrooms/thread"
)

// refusal is an answer that is not the one hoped for.
type refusal struct {
	status        int
	code, message string
}

func (e *refusal) Error() string { return e.message }

// known says how an error is told. A message that is empty is the error's own words.
type known struct {
	err           error
	status        int
	code, message string
}

// table has the errors of the packages below, the first that fits counts. What it does not have
// is the server's own failure, of which nothing is told.
var table = []known{
	{thread.ErrNone, http.StatusNotFound, "thread_not_found", "there is no such thread"},
	{lifecycle.ErrNoMessage, http.StatusNotFound, "message_not_found", "there is no such message on the thread"},
	{lifecycle.ErrNoSummary, http.StatusUnprocessableEntity, "no_summary", "no model has written a summary; give its text"},
	{lifecycle.ErrImport, http.StatusUnprocessableEntity, "not_an_export", ""},
	{thread.ErrNotKept, http.StatusConflict, "not_kept", "what the summary replaced is not kept any more"},
	{thread.ErrNotErased, http.StatusConflict, "not_erased", "what was dropped can still be read at an older checkpoint that waits for an interrupt"},
	{thread.ErrNoAbility, http.StatusNotImplemented, "not_able", "the store cannot do this"},
	{langrooms.ErrThreadID, http.StatusUnprocessableEntity, "invalid_thread_id", ""},
	{langrooms.ErrText, http.StatusUnprocessableEntity, "invalid_request", ""},
	{consent.ErrChoice, http.StatusUnprocessableEntity, "invalid_answer", "answer must be one of the question's choices"},
	{consent.ErrUnknown, http.StatusNotFound, "question_not_found", "there is no such question, or its turn has ended"},
	{ErrNoText, http.StatusUnprocessableEntity, "invalid_request", "q is the text to search for"},
	{hotreload.ErrChanged, http.StatusConflict, "changed", ""},
	{hotreload.ErrAboveCeiling, http.StatusUnprocessableEntity, "above_ceiling", ""},
	{hotreload.ErrWrongType, http.StatusUnprocessableEntity, "invalid_value", ""},
	{hotreload.ErrUnknownKey, http.StatusUnprocessableEntity, "invalid_value", ""},
	{hotreload.ErrBadDelegate, http.StatusUnprocessableEntity, "invalid_delegate", ""},
	{hotreload.ErrUnknownDelegate, http.StatusNotFound, "delegate_not_found", ""},
	{hotreload.ErrNotEditable, http.StatusUnprocessableEntity, "not_editable", ""},
	{hotreload.ErrUnusable, http.StatusConflict, "unusable_file", ""},
	{thread.ErrBusy, http.StatusConflict, "busy", "the thread is busy"},
	{checkpointer.ErrUnavailable, http.StatusServiceUnavailable, "store_unavailable", "the store cannot be reached"},
	{checkpointer.ErrTooLarge, http.StatusRequestEntityTooLarge, "too_large", "the store does not take as much at once"},
	{checkpointer.ErrConflict, http.StatusConflict, "conflict", "the thread exists, or another writer was first"},
	{checkpointer.ErrFenced, http.StatusConflict, "conflict", "the thread exists, or another writer was first"},
	{checkpointer.ErrInvalid, http.StatusUnprocessableEntity, "invalid_request", ""},
	{fs.ErrPermission, http.StatusForbidden, "read_only_file", ""},
	{fs.ErrNotExist, http.StatusConflict, "no_file", ""},
}

// refused is how err is told.
func refused(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	for _, k := range table {
		if errors.Is(err, k.err) {
			return &refusal{k.status, k.code, cmp.Or(k.message, err.Error())}
		}
	}
	return &refusal{http.StatusInternalServerError, "internal", "the server failed"}
}

var errNoThread = refused(thread.ErrNone)

// Cause is the other way of the table: the error that a refusal's code stands for, the first where
// there are several, or nil.
func Cause(code string) error {
	for _, k := range table {
		if k.code == code && code != "invalid_request" { // which says too little
			return k.err
		}
	}
	return nil
}
