package setup_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setup"
)

// own is a delegate of the program's own.
type own struct {
	name   string
	closed atomic.Int32
}

func (o *own) Info() delegate.Info { return delegate.Info{Name: o.name, Type: "own"} }

func (o *own) Ask(context.Context, delegate.Request) (delegate.Reply, error) {
	return delegate.Reply{Text: "mine"}, nil
}

func (o *own) Probe(context.Context) (delegate.Health, error) { return delegate.Health{}, nil }

func (o *own) Close() error {
	o.closed.Add(1)
	return nil
}

// A delegate of the program's own stays on the roster through every save, and its name is
// its own.
func TestOwnDelegates(t *testing.T) {
	f := newFile(t, twoDelegates)
	mine := &own{name: "mine"}
	a := open(t, setup.Options{Path: f.path, Delegates: []delegate.Delegate{mine}})
	expect(t, "roster", []string{"a", "b", "mine"}, a.Roster.Current().Names())
	if err := hotreload.Set(f.path, "room.max_rounds", "2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if rounds(a.App) != 2 {
			return errors.New("the change is not in force")
		}
		return nil
	})
	expect(t, "roster after a save", []string{"a", "b", "mine"}, a.Roster.Current().Names())
	if err := hotreload.AddDelegate(f.path, hotreload.Delegate{Name: "mine", Type: "openai", Settings: &openaiagent.Settings{URL: "http://127.0.0.1:1", Model: "m"}}); err != nil {
		t.Fatal(err)
	}
	a.wait(t, `Delegate "mine" is left out`, "of its own")
	got, _ := a.Roster.Current().Get("mine")
	expect(t, "it is the same", true, got == delegate.Delegate(mine))
	expect(t, "closed", int32(0), mine.closed.Load())
	expect(t, "Close", nil, a.Close())
	expect(t, "closed with the app", int32(1), mine.closed.Load())
}

// What Open refuses, it closes.
func TestOwnDelegatesRefused(t *testing.T) {
	f := newFile(t, twoDelegates)
	for want, all := range map[string][]*own{"a second entry": {{name: "x"}, {name: "x"}}, "operator": {{name: "operator"}}} {
		var delegates []delegate.Delegate
		for _, d := range all {
			delegates = append(delegates, d)
		}
		_, err := setup.Open(t.Context(), setup.Options{Path: f.path, Delegates: delegates})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Options.Delegates") {
			t.Errorf("%s: %v", want, err)
		}
		for _, d := range all {
			expect(t, "closed", int32(1), d.closed.Load())
		}
	}
}

// ownStore counts how often it was closed.
type ownStore struct {
	checkpointer.Saver
	closed int
}

func (s *ownStore) Close() error {
	s.closed++
	return s.Saver.Close()
}

type ownModel struct{ llms.Model }

func (ownModel) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "my words"}}}, nil
}

// A store and a model of the program's own take the place of the file's, whose store may even
// be out of reach.
func TestOwnStoreAndModel(t *testing.T) {
	f := newFile(t, "checkpointer: {url: \"redis://127.0.0.1:1\"}\nmodel: {provider: openai, url: \"http://127.0.0.1:1\", model: m}\n")
	store := &ownStore{Saver: memorysaver.New()}
	a := open(t, setup.Options{Path: f.path, Saver: store, Model: ownModel{}})
	expect(t, "the store", true, a.Saver == checkpointer.Saver(store))
	model, err := a.Model()
	if err != nil {
		t.Fatal(err)
	}
	response, err := model.GenerateContent(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the model", "my words", response.Choices[0].Content)
	expect(t, "Close", nil, a.Close())
	expect(t, "closes of the store", 0, store.closed)
	expect(t, "its own Close", nil, store.Close())
}
