package setup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/internal/redistest"
	"github.com/langrooms/langrooms/setup"
)

func TestMain(m *testing.M) {
	demo.Main() // the demo's ACP agent is this binary again
	// go-redis looks for a server that is away until a second after its client was closed.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// file is a configuration file in a folder of its own.
type file struct {
	t    *testing.T
	path string
}

func newFile(t *testing.T, text string) *file {
	t.Helper()
	f := &file{t, filepath.Join(t.TempDir(), "langgraph-config.yaml")}
	f.write(text)
	return f
}

// write replaces the file as editors do.
func (f *file) write(text string) {
	f.t.Helper()
	next := f.path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(next, f.path); err != nil {
		f.t.Fatal(err)
	}
}

// told is what the operator was told.
type told struct {
	mu    sync.Mutex
	texts []string
}

func (n *told) notify(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
}

func (n *told) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.texts, "\n")
}

// wait waits until all of these have been told.
func (n *told) wait(t *testing.T, pieces ...string) {
	t.Helper()
	eventually(t, func() error {
		for _, piece := range pieces {
			if all := n.all(); !strings.Contains(all, piece) {
				return fmt.Errorf("%q was not told:\n%s", piece, all)
			}
		}
		return nil
	})
}

// app is an App that ends with the test.
type app struct {
	*setup.App
	t *testing.T
	told
}

func open(t *testing.T, o setup.Options) *app {
	t.Helper()
	a := &app{t: t}
	o.Notify = a.notify
	var err error
	if a.App, err = setup.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { expect(t, "Close", nil, a.Close()) })
	return a
}

// openFile opens what a file of this text says.
func openFile(t *testing.T, text string) (*app, *file) {
	t.Helper()
	f := newFile(t, text)
	return open(t, setup.Options{Path: f.path, Required: true}), f
}

// has waits until the roster is this one.
func (a *app) has(names ...string) {
	a.t.Helper()
	eventually(a.t, func() error {
		if diff := cmp.Diff(names, a.Roster.Current().Names(), cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("the roster (-want +got):\n%s", diff)
		}
		return nil
	})
}

func (a *app) delegate(name string) delegate.Delegate {
	a.t.Helper()
	d, ok := a.Roster.Current().Get(name)
	if !ok {
		a.t.Fatalf("there is no @%s", name)
	}
	return d
}

func eventually(t *testing.T, ok func() error) {
	t.Helper()
	if err := redistest.Eventually(10*time.Second, ok); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// says checks that an error or a text holds all of these, and none that begins with "!".
func says(t *testing.T, text any, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if not, ok := strings.CutPrefix(piece, "!"); ok {
			if strings.Contains(fmt.Sprint(text), not) {
				t.Errorf("%v\nsays %q", text, not)
			}
		} else if !strings.Contains(fmt.Sprint(text), piece) {
			t.Errorf("%v\ndoes not say %q", text, piece)
		}
	}
}
