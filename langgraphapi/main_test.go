package langgraphapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a server over a store in memory whose turns echo: "@proto hi" is answered by proto,
// anything else by the lead.
func stand(t testing.TB) (*Server, checkpointer.Saver) {
	t.Helper()
	saver := memorysaver.New()
	t.Cleanup(func() { saver.Close() })
	take := func(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
		if in.Text == "" {
			return langrooms.Result{}, nil
		}
		hold, err := exchange.Hold(ctx, saver, r.Thread)
		if err != nil {
			return langrooms.Result{}, err
		}
		defer hold.End()
		hold.Observe(feed.Stored)
		text, member := strings.CutPrefix(in.Text, "@proto ")
		if !member {
			asked := langrooms.NewMessage(langrooms.RoleHuman, text).As(in.Message)
			err = hold.Put(thread.Step{Source: "input", Messages: []langrooms.Message{asked}})
			if err == nil {
				err = hold.Put(thread.Step{Source: "loop", Messages: []langrooms.Message{langrooms.NewMessage(langrooms.RoleAI, "echo "+text)}})
			}
			return langrooms.Result{Text: text}, err
		}
		asked := room.NewAddress(langrooms.Operator, []string{"proto"}, "x", text, in.Incognito).As(in.Message)
		reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 1}, "echo "+text)
		err = hold.Put(thread.Step{Source: "room", Messages: []langrooms.Message{asked}})
		for _, piece := range []string{"ec", "ho " + text} {
			feed.Events(langrooms.Event{Type: langrooms.EventProgress, Member: "proto", Round: 1, MessageID: reply.ID,
				Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: piece}})
		}
		if err == nil {
			err = hold.Put(thread.Step{Source: "room", Messages: []langrooms.Message{reply}})
		}
		return langrooms.Result{Handled: true, Text: text}, err
	}
	m, err := runs.New(runs.Config{Saver: saver, Turn: take})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	s, err := New(Config{Saver: saver, Runs: m, Names: func() []string { return []string{"proto"} }, Delete: saver.DeleteThread,
		Branch: func(context.Context, string, string, *int64, []checkpointer.Entry) error { return nil }, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s, saver
}

// ask sends a request and returns the status and the body.
func ask(t testing.TB, h http.Handler, method, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.Code, strings.TrimSpace(w.Body.String())
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
