package lifecycle_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/lifecycle"
)

// holderEnv makes this binary a second process that holds the thread t of the SQLite file
// it names.
const holderEnv = "LANGROOMS_TEST_HOLDER"

// holder takes a turn that lasts until its input ends.
func holder(path string) {
	err := func() error {
		ctx := context.Background()
		s, err := sqlitesaver.Open(ctx, sqlitesaver.Config{Path: path})
		if err != nil {
			return err
		}
		turn, err := exchange.Begin(ctx, s, "t")
		if err != nil {
			return errors.Join(err, s.Close())
		}
		fmt.Println("held")
		_, err = io.Copy(io.Discard, os.Stdin)
		return errors.Join(err, turn.Put("input", said("from the other process")...), turn.End(), s.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// waiting is a store that says when somebody is about to wait for a lease.
type waiting struct {
	store
	waits chan string
}

func (w waiting) Lock(ctx context.Context, thread string) (checkpointer.Lease, error) {
	w.waits <- thread
	return w.store.Lock(ctx, thread)
}

// operations are all of them, on the thread t, and what they show of having waited for a
// turn that said "later" after "first".
var operations = map[string]func(ctx context.Context, s checkpointer.Saver, first string) (string, error){
	"rewind": func(ctx context.Context, s checkpointer.Saver, first string) (string, error) {
		n, err := threadsOf(s).Rewind(ctx, "t", first)
		return fmt.Sprint("dropped ", n), err
	},
	"delete": func(ctx context.Context, s checkpointer.Saver, _ string) (string, error) {
		return "deleted", threadsOf(s).Delete(ctx, "t")
	},
	"fork": func(ctx context.Context, s checkpointer.Saver, _ string) (string, error) {
		err := threadsOf(s).Fork(ctx, "t", "u", "")
		cp, gerr := s.Get(ctx, checkpointer.Ref{Thread: "u"})
		return fmt.Sprint("forked ", cp.Length), errors.Join(err, gerr)
	},
	"compact": func(ctx context.Context, s checkpointer.Saver, _ string) (string, error) {
		n, err := threadsOf(s).Compact(ctx, "t", 0, "short")
		return fmt.Sprint("replaced ", n), err
	},
	"export": func(ctx context.Context, s checkpointer.Saver, _ string) (string, error) {
		var out bytes.Buffer
		err := threadsOf(s).Export(ctx, "t", lifecycle.Markdown, &out)
		return fmt.Sprint("exported ", strings.Count(out.String(), "**operator**")), err
	},
	"import": func(ctx context.Context, s checkpointer.Saver, _ string) (string, error) {
		_, err := threadsOf(s).Import(ctx, "t", strings.NewReader(oneMessage))
		if errors.Is(err, checkpointer.ErrConflict) {
			return "conflict", nil
		}
		return "imported", err
	},
}

// waited is what each operation comes to when it has waited for the second message.
var waited = map[string]string{"rewind": "dropped 1", "delete": "deleted", "fork": "forked 2",
	"compact": "replaced 2", "export": "exported 2", "import": "conflict"}

// A running turn makes every operation wait.
func TestWaitsForTheTurn(t *testing.T) {
	for name, operate := range operations {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, s store) {
				first := said("first")
				say(t, s, "t", first...)
				turn, err := exchange.Begin(t.Context(), s, "t")
				if err != nil {
					t.Fatal(err)
				}
				w := waiting{s, make(chan string, 2)}
				result := make(chan string)
				go func() {
					got, err := operate(t.Context(), w, first[0].ID)
					if err != nil {
						got = err.Error()
					}
					result <- got
				}()
				<-w.waits
				if err := errors.Join(turn.Put("input", said("later")...), turn.End()); err != nil {
					t.Error(err)
				}
				expect(t, "result", waited[name], <-result)
				if name == "delete" {
					expect(t, "thread", []string(nil), texts(t, s, "t"))
				}
			})
		})
	}
}

// A stop of the waiting leaves the thread as it was.
func TestStopsWaiting(t *testing.T) {
	for name, operate := range operations {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, s store) {
				ids := say(t, s, "t", said("first", "second")...)
				turn, err := exchange.Begin(t.Context(), s, "t")
				if err != nil {
					t.Fatal(err)
				}
				w := waiting{s, make(chan string, 2)}
				ctx, cancel := context.WithCancel(t.Context())
				failed := make(chan error)
				go func() {
					_, err := operate(ctx, w, ids[0])
					failed <- err
				}()
				<-w.waits
				cancel()
				fails(t, <-failed, context.Canceled)
				if err := turn.End(); err != nil {
					t.Error(err)
				}
				expect(t, "thread", []string{"human: first", "human: second"}, texts(t, s, "t"))
			})
		})
	}
}

// So does a turn in another process.
func TestWaitsForAnotherProcess(t *testing.T) {
	for name, operate := range operations {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "threads.db")
			saver, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path})
			s := closing(t, saver, err)
			first := said("first")
			say(t, s, "t", first...)
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env, cmd.Stderr = append(os.Environ(), holderEnv+"="+path), os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
				t.Fatalf("the other process: %q, %v", line, err)
			}
			w := waiting{s, make(chan string, 2)}
			result := make(chan string)
			go func() {
				got, err := operate(t.Context(), w, first[0].ID)
				if err != nil {
					got = err.Error()
				}
				result <- got
			}()
			<-w.waits
			in.Close()
			expect(t, "result", waited[name], <-result)
			if err := cmd.Wait(); err != nil {
				t.Errorf("the other process: %v", err)
			}
		})
	}
}
