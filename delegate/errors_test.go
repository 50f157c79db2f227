package delegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCauseSaysTheInnermostWords(t *testing.T) {
	refused := &url.Error{Op: "Post", URL: "http://127.0.0.1:9", Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}
	tests := []struct {
		err  error
		want string
	}{
		{nil, ""},
		{refused, "connection refused"},
		{fmt.Errorf("asking: %w", refused), "connection refused"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.invalid", Err: "no such host"}}, "nowhere.invalid: no such host"},
		{&exec.Error{Name: "nope", Err: exec.ErrNotFound}, "nope: executable file not found in $PATH"},
		{&os.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EACCES}, "/x: permission denied"},
		{errors.New("two\r\nlines\tand\x1b[31mcolour\u2028end"), "two lines and [31mcolour end"},
		{errors.New("half \xff"), "half \uFFFD"},
	}
	for _, test := range tests {
		if got := Cause(test.err); got != test.want {
			t.Errorf("Cause(%v) = %q, want %q", test.err, got, test.want)
		}
	}
	if got := Cause(errors.New(strings.Repeat("é", 3000))); utf8.RuneCountInString(got) != MaxCause+1 || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long cause has %d code points", utf8.RuneCountInString(got))
	}
}

func TestErrorIsWhatTheOperatorIsTold(t *testing.T) {
	e := &Error{Delegate: "proto", Kind: KindUnreachable, Err: syscall.ECONNREFUSED}
	if got := e.Error(); got != "Delegate @proto failed: connection refused" {
		t.Errorf("Error = %q", got)
	}
	if !errors.Is(e, syscall.ECONNREFUSED) {
		t.Error("the cause cannot be found by identity")
	}
}

func TestAsError(t *testing.T) {
	own := &Error{Delegate: "proto", Kind: KindRefused, Err: errors.New("no")}
	tests := []struct {
		err  error
		kind Kind
	}{
		{own, KindRefused},
		{fmt.Errorf("wrapped: %w", own), KindRefused},
		{fmt.Errorf("wrapped: %w", context.Canceled), KindCanceled},
		{fmt.Errorf("wrapped: %w", context.DeadlineExceeded), KindTimeout},
		{errors.New("odd"), KindFailed},
	}
	for _, test := range tests {
		if e := AsError("proto", test.err); e.Kind != test.kind || e.Delegate != "proto" {
			t.Errorf("AsError(%v) = %+v", test.err, e)
		}
	}
}

func TestErrorWorking(t *testing.T) {
	for _, test := range []struct {
		e    Error
		want bool
	}{
		{Error{Kind: KindStillRunning, Task: "k1"}, true},
		{Error{Kind: KindTimeout, Task: "k1"}, true},
		{Error{Kind: KindProtocol, Task: "k1"}, true},
		{Error{Kind: KindCanceled, Task: "k1"}, false},
		{Error{Kind: KindTimeout}, false},
	} {
		if got := test.e.Working(); got != test.want {
			t.Errorf("%+v: Working = %v", test.e, got)
		}
	}
}

func TestDecodeCause(t *testing.T) {
	var peer struct {
		Choices []struct{ Text string } `json:"choices"`
	}
	for body, want := range map[string]string{
		`{"choices":"x"}`:          `a JSON string is out of place in its field "choices"`,
		`{"choices":[{"Text":7}]}`: `a JSON number is out of place in its field "choices.Text"`,
		`[]`:                       `a JSON array is out of place`,
		`{`:                        `unexpected end of JSON input`,
	} {
		if err := DecodeCause(json.Unmarshal([]byte(body), &peer)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\nb", 10)
	f.Add("\xff\u2028\x1b", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, limit%100)
		got := OneLine(text, limit)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00\x1b\u2028\u0085") || utf8.RuneCountInString(got) > limit+1 {
			t.Errorf("OneLine(%q, %d) = %q", text, limit, got)
		}
	})
}

// Callers tell a credential that is refused, and a peer that is busy, from other refusals.
func TestErrorStatus(t *testing.T) {
	for _, tt := range []struct {
		e                Error
		credential, busy bool
	}{
		{Error{Status: 401}, true, false},
		{Error{Status: 403}, true, false},
		{Error{Status: 429}, false, true},
		{Error{Status: 503, RetryAfter: time.Second}, false, true},
		{Error{Status: 503}, false, false},
		{Error{Status: 400}, false, false},
		{Error{}, false, false},
	} {
		err := fmt.Errorf("asking: %w", &tt.e)
		if got := errors.Is(err, ErrCredential); got != tt.credential {
			t.Errorf("status %d: ErrCredential %t", tt.e.Status, got)
		}
		if got := errors.Is(err, ErrBusy); got != tt.busy {
			t.Errorf("status %d: ErrBusy %t", tt.e.Status, got)
		}
	}
}
