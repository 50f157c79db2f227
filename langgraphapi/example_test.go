package langgraphapi_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/langgraphapi"
	"github.com/langrooms/langrooms/runs"
)

func Example() {
	store := memorysaver.New()
	defer store.Close()
	// The turns of a real server go through the graph's nodes.
	m, err := runs.New(runs.Config{Saver: store, Turn: func(context.Context, runs.Run, runs.Input, runs.Feed) (langrooms.Result, error) {
		return langrooms.Result{}, nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	s, err := langgraphapi.New(langgraphapi.Config{Saver: store, Runs: m, Names: func() []string { return []string{"proto"} },
		Delete: store.DeleteThread,
		Branch: func(context.Context, string, string, *int64, []checkpointer.Entry) error { return nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/ok", "/threads/nobody"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 {"ok":true}
	// 404 {"detail":"there is no thread \"nobody\""}
}
