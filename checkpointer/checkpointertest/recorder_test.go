package checkpointertest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a test that a rule may fail without failing the real one.
type recorder struct {
	testing.TB
	ctx      context.Context
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recorder) fail(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, message)
}

func (r *recorder) Helper()                           {}
func (r *recorder) Context() context.Context          { return r.ctx }
func (r *recorder) Errorf(format string, args ...any) { r.fail(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.fail(fmt.Sprint(args...))
	runtime.Goexit()
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// record runs one rule and returns its failures.
func record(t *testing.T, rule rule, open func(t testing.TB) checkpointer.Saver, cfg Config) []string {
	return recordFunc(t, func(r *recorder) {
		rule.check(&check{TB: r, rule: rule.name, open: open, cfg: cfg, patience: 2 * time.Second})
	})
}

// recordFunc runs f as a test of its own and returns its failures.
func recordFunc(t *testing.T, f func(r *recorder)) []string {
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{TB: t, ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(r.cleanups) - 1; i >= 0; i-- {
				r.cleanups[i]()
			}
		}()
		defer cancel()
		f(r)
	}()
	<-done
	return r.failures
}

// named is the rule of that name.
func named(t *testing.T, name string) rule {
	t.Helper()
	for _, r := range rules() {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("the suite has no rule %q", name)
	return rule{}
}

// Each broken store fails the rule that it breaks, and the failure says which one.
func TestBrokenStoresFail(t *testing.T) {
	for _, b := range allBroken() {
		for name := range strings.FieldsSeq(b.rules) {
			t.Run(strings.ReplaceAll(b.name, " ", "-")+"/"+name, func(t *testing.T) {
				t.Parallel()
				open, cfg := b.store()
				failures := record(t, named(t, name), open, cfg)
				if len(failures) == 0 {
					t.Fatalf("the store that %s passes the rule %s", b.name, name)
				}
				for _, f := range failures {
					if !strings.HasPrefix(f, "rule "+name+": ") {
						t.Errorf("the failure does not name the rule: %s", f)
					}
				}
			})
		}
	}
}

// A rule that no broken store fails might check nothing.
func TestEveryRuleIsBrokenByAStore(t *testing.T) {
	broken := map[string]bool{}
	for _, b := range allBroken() {
		for name := range strings.FieldsSeq(b.rules) {
			broken[name] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range rules() {
		if !broken[r.name] {
			t.Errorf("no broken store fails the rule %s", r.name)
		}
		if seen[r.name] {
			t.Errorf("there are two rules called %s", r.name)
		}
		seen[r.name] = true
	}
}

// A listed ability that the store lacks is one failure with its name, and the end of Run.
func TestAMissingAbilityEndsTheSuite(t *testing.T) {
	s := memorysaver.New()
	defer s.Close()
	for _, test := range []struct {
		name  string
		saver checkpointer.Saver
		lists []Ability
		want  string
	}{
		{"none is listed", struct{ checkpointer.Saver }{s}, nil, ""},
		{"all are there", s, AllAbilities(), ""},
		{"two are missing", struct {
			checkpointer.Saver
			checkpointer.Lister
		}{s, s}, []Ability{Locker, Lister, Watcher}, "[Locker Watcher]"},
		{"an ability that the port has not", s, []Ability{"Teleporter"}, "[Teleporter]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ended := true
			failures := recordFunc(t, func(r *recorder) {
				Config{Abilities: test.lists}.check(r, test.saver)
				ended = false
			})
			if test.want == "" {
				if len(failures) > 0 || ended {
					t.Errorf("failures = %q, ended %v", failures, ended)
				}
			} else if len(failures) != 1 || !strings.Contains(failures[0], test.want) || !ended {
				t.Errorf("failures = %q, ended %v, want one with %s", failures, ended, test.want)
			}
		})
	}
}

// The same store without a defect passes every rule.
func TestSoundStorePasses(t *testing.T) {
	b := broken{name: "has no defect", breakIt: func(*hooks) {}}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			open, cfg := b.store()
			if failures := record(t, r, open, cfg); len(failures) > 0 {
				t.Errorf("a sound store fails: %s", strings.Join(failures, "\n"))
			}
		})
	}
}
