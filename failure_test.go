package langrooms_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
)

// Why work was ended is a value, whatever it is wrapped in.
func TestStopOf(t *testing.T) {
	deadline, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	canceled := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		return ctx
	}
	for _, tt := range []struct {
		ctx      context.Context
		want     langrooms.Stop
		sentence string
	}{
		{canceled(nil), langrooms.Stop{Kind: langrooms.ErrorStopped}, "Stopped by the operator."},
		{canceled(errors.New("odd")), langrooms.Stop{Kind: langrooms.ErrorStopped}, "Stopped by the operator."},
		{canceled(langrooms.Stop{Kind: langrooms.ErrorStopped, By: "ann"}), langrooms.Stop{Kind: langrooms.ErrorStopped, By: "ann"}, "Stopped by ann."},
		{canceled(fmt.Errorf("http: %w", langrooms.ErrDisconnected)), langrooms.ErrDisconnected, "Stopped: the client went away."},
		{canceled(langrooms.ErrShutdown), langrooms.ErrShutdown, "Stopped: the program ended."},
		{canceled(langrooms.ErrHoldLost), langrooms.ErrHoldLost, "Stopped: the hold on the thread was lost."},
		{deadline, langrooms.Stop{Kind: langrooms.ErrorDeadline}, "Stopped: the time for it was up."},
	} {
		if got := langrooms.StopOf(tt.ctx); got != tt.want || got.Sentence() != tt.sentence || !got.Kind.Ours() {
			t.Errorf("%v: %+v, %q", context.Cause(tt.ctx), got, got.Sentence())
		}
	}
	for _, kind := range []langrooms.ErrorKind{"", langrooms.ErrorCanceled, langrooms.ErrorTimeout, langrooms.ErrorFailed} {
		if kind.Ours() {
			t.Errorf("%q is no end from our side", kind)
		}
	}
}

// Outcomes that earlier versions have stored get the kinds that only their words told.
func TestOutcomesOfEarlierVersionsAreRead(t *testing.T) {
	for stored, want := range map[string]langrooms.Outcome{
		`{"error_kind":"canceled","error":"stopped by the operator"}`:                           {ErrorKind: langrooms.ErrorStopped, Error: "stopped by the operator"},
		`{"error_kind":"canceled","error":"stopped: the client went away"}`:                     {ErrorKind: langrooms.ErrorDisconnected, Error: "stopped: the client went away"},
		`{"error_kind":"canceled","error":"stopped: the program ended"}`:                        {ErrorKind: langrooms.ErrorShutdown, Error: "stopped: the program ended"},
		`{"error_kind":"canceled","error":"stopped: the time for it was up"}`:                   {ErrorKind: langrooms.ErrorDeadline, Error: "stopped: the time for it was up"},
		`{"error_kind":"canceled","error":"stopped: the hold on the thread was lost"}`:          {ErrorKind: langrooms.ErrorInterrupted, Error: "stopped: the hold on the thread was lost"},
		`{"error_kind":"canceled","error":"stopped before it was asked"}`:                       {ErrorKind: langrooms.ErrorUnasked, Error: "stopped before it was asked"},
		`{"error_kind":"canceled","error":"stopped: the answer before it could not be stored"}`: {ErrorKind: langrooms.ErrorUnasked, Error: "stopped: the answer before it could not be stored"},
		`{"error_kind":"canceled","error":"the task was canceled"}`:                             {ErrorKind: langrooms.ErrorCanceled, Error: "the task was canceled"},
		`{"error_kind":"failed","error":"stopped by the operator"}`:                             {ErrorKind: langrooms.ErrorFailed, Error: "stopped by the operator"},
		`{"unrecorded":"disk full"}`:                                                            {Unrecorded: true, UnrecordedCause: "disk full"},
		`{"unrecorded":true,"unrecorded_cause":"disk full"}`:                                    {Unrecorded: true, UnrecordedCause: "disk full"},
		`{"unrecorded":null}`: {},
	} {
		var got langrooms.Outcome
		if err := json.Unmarshal([]byte(stored), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v", stored, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"unrecorded":{}}`), new(langrooms.Outcome)); err == nil {
		t.Error("an object is no cause")
	}
}
