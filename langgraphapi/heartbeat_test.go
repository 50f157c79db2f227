package langgraphapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/runs"
)

// quietly is a server whose turns say nothing and end after 50 seconds.
func quietly(t *testing.T) *Server {
	t.Helper()
	saver := memorysaver.New()
	m, err := runs.New(runs.Config{Saver: saver, Turn: func(ctx context.Context, _ runs.Run, _ runs.Input, _ runs.Feed) (langrooms.Result, error) {
		select {
		case <-time.After(50 * time.Second):
		case <-ctx.Done():
		}
		return langrooms.Result{}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		saver.Close()
	})
	s, err := New(Config{Saver: saver, Runs: m, Names: func() []string { return nil }, Delete: saver.DeleteThread, Heartbeat: 15 * time.Second,
		Branch: func(context.Context, string, string, *int64, []checkpointer.Entry) error { return nil }, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const quietRun = `{"assistant_id":"agent","if_not_exists":"create","input":{"messages":"hi"}}`

// A quiet stream has a comment now and then, and none behind its end.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietly(t)
		_, body := ask(t, s, "POST", "/threads/t/runs/stream", quietRun)
		if n := strings.Count(body, ": heartbeat\n\n"); n != 3 {
			t.Errorf("%d comments in 50 seconds:\n%s", n, body)
		}
		<-time.After(time.Minute) // a comment now would be written to what is not the stream's any more
	})
}

// deaf is a client that takes a number of pieces and then none.
type deaf struct {
	*httptest.ResponseRecorder
	left int
}

func (d *deaf) Write(data []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("the client has gone")
	}
	return d.ResponseRecorder.Write(data)
}

// A client that is found gone by a comment ends its stream at once, not with the run.
func TestHeartbeatFindsWhoHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quietly(t)
		began := time.Now()
		s.ServeHTTP(&deaf{httptest.NewRecorder(), 2}, httptest.NewRequest(http.MethodPost, "/threads/t/runs/stream", strings.NewReader(quietRun)))
		if d := time.Since(began); d > 31*time.Second {
			t.Errorf("the stream went on for %v", d)
		}
	})
}
