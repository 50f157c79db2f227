package thread_test

import (
	"errors"
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/thread"
)

// Whose a thread is decides who finds it; another's is as none.
func TestRecords(t *testing.T) {
	ctx, store := t.Context(), memorysaver.New()
	defer store.Close()
	ada, bob, admin := thread.Caller{Name: "ada"}, thread.Caller{Name: "bob"}, thread.Caller{Name: "eve", Admin: true}
	made, err := thread.Make(ctx, store, "t", ada, map[string]any{"k": "v"})
	if err != nil || made.Record.Owner != "ada" || !made.Has {
		t.Fatalf("made %+v, %v", made, err)
	}
	if _, err := thread.Make(ctx, store, "t", bob, nil); !errors.Is(err, checkpointer.ErrConflict) {
		t.Errorf("made twice: %v", err)
	}
	said := checkpointer.Append(langrooms.NewMessage(langrooms.RoleHuman, "hi"))
	if _, err := store.Put(ctx, checkpointer.Ref{Thread: "terminal"}, checkpointer.Step{ID: "1", Log: said}); err != nil {
		t.Fatal(err)
	}
	if _, err := thread.Make(ctx, store, "terminal", ada, nil); !errors.Is(err, checkpointer.ErrConflict) {
		t.Errorf("made over a thread without a record: %v", err)
	}
	for _, c := range []struct {
		id    string
		who   thread.Caller
		found bool
	}{
		{"t", ada, true}, {"t", bob, false}, {"t", admin, true}, {"t", thread.Caller{}, false},
		{"terminal", ada, false}, {"terminal", admin, true}, {"none", admin, false}, {"\xff", admin, false}, {"", admin, false},
	} {
		k, err := thread.Find(ctx, store, c.id, c.who)
		if c.found != (err == nil) || !c.found && !errors.Is(err, thread.ErrNone) {
			t.Errorf("Find(%q) for %+v = %+v, %v", c.id, c.who, k, err)
		}
	}
	one, _ := thread.ReadRecord(ctx, store, "t")
	two, _ := thread.ReadRecord(ctx, store, "t")
	one.Record.Metadata = nil
	if err := one.Save(ctx, store); err != nil {
		t.Fatal(err)
	}
	if err := two.Save(ctx, store); !errors.Is(err, checkpointer.ErrConflict) {
		t.Errorf("a lost update: %v", err)
	}
	if err := one.Save(ctx, store); err != nil {
		t.Errorf("saved again: %v", err)
	}
}
