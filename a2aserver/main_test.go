package a2aserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/a2aserver"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/thread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type callerKey struct{}

// stand is a server whose turns echo: "@proto hi" is answered by proto, "@proto hold" works
// until it is stopped, anything else is answered by the lead. Who asks stands in a header.
func stand(t testing.TB, change func(*a2aserver.Config)) string {
	saver := memorysaver.New()
	manager, err := runs.New(runs.Config{Saver: saver, Turn: turn(saver)})
	if err != nil {
		t.Fatal(err)
	}
	cfg := a2aserver.Config{Saver: saver, Runs: manager, Version: "1.2.3",
		Members: func() []a2aserver.Member { return []a2aserver.Member{{Name: "proto", Description: "echoes"}} },
		Who: func(ctx context.Context) thread.Caller {
			name, _ := ctx.Value(callerKey{}).(string)
			return thread.Caller{Name: name, Admin: name == ""}
		}}
	if change != nil {
		change(&cfg)
	}
	server, err := a2aserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, pattern := range server.Patterns() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, r.Header.Get("Who"))))
		})
	}
	web := httptest.NewServer(mux)
	t.Cleanup(func() {
		manager.Close()
		server.Close()
		web.Close()
		http.DefaultClient.CloseIdleConnections()
		saver.Close()
	})
	return web.URL
}

func turn(saver checkpointer.Saver) func(context.Context, runs.Run, runs.Input, runs.Feed) (langrooms.Result, error) {
	return func(ctx context.Context, r runs.Run, in runs.Input, feed runs.Feed) (langrooms.Result, error) {
		hold, err := exchange.Hold(ctx, saver, r.Thread)
		if err != nil {
			return langrooms.Result{}, err
		}
		defer hold.End()
		hold.Observe(feed.Stored)
		text, member := strings.CutPrefix(in.Text, "@proto ")
		if !member {
			err := hold.Put(thread.Step{Source: "input", Messages: []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, text)}})
			if err == nil {
				err = hold.Put(thread.Step{Source: "loop", Messages: []langrooms.Message{langrooms.NewMessage(langrooms.RoleAI, "echo "+text)}})
			}
			return langrooms.Result{Text: "echo " + text}, err
		}
		asked := room.NewAddress(langrooms.Operator, []string{"proto"}, "x", text, false)
		reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 1}, "echo "+text)
		reply.Parts = append(reply.Parts, in.Message.Files()...)
		if err = hold.Put(thread.Step{Source: "room", Messages: []langrooms.Message{asked}}); err != nil {
			return langrooms.Result{}, err
		}
		for _, piece := range []string{"ec", "ho " + text} {
			feed.Events(langrooms.Event{Type: langrooms.EventProgress, Member: "proto", Round: 1, MessageID: reply.ID,
				Progress: &langrooms.Progress{Kind: langrooms.ProgressText, Text: piece}})
		}
		switch text {
		case "hold":
			<-ctx.Done()
			return langrooms.Result{}, ctx.Err()
		case "fail":
			return langrooms.Result{Handled: true, Text: "the disk is full", Outcomes: []langrooms.Outcome{{Author: "proto", Error: "the disk is full"}}}, nil
		}
		err = hold.Put(thread.Step{Source: "room", Messages: []langrooms.Message{reply}})
		return langrooms.Result{Handled: true, Text: "echo " + text, Aside: "a note", Outcomes: []langrooms.Outcome{{Author: "proto", OK: true}},
			Spent: &langrooms.Spending{Answers: 2, InputTokens: 12, OutputTokens: 3, UnknownCost: 1}}, err
	}
}
