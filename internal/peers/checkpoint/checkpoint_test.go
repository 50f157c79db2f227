package checkpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/checkpointer/redissaver"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
	"github.com/langrooms/langrooms/internal/redistest"
)

// storeVariable makes the test's program a bridge to a store: memory, a path of a file or a URL
// of Redis.
const storeVariable = "CHECKPOINT_STORE"

func TestMain(m *testing.M) {
	if store := os.Getenv(storeVariable); store != "" {
		if err := bridge(context.Background(), store); err != nil {
			fmt.Fprintln(os.Stderr, "bridge:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// cases is how many cases LangGraph's suite has, the opt-in ones of delta channels included.
const cases = 726

// LangGraph's suite passes on each store; what the bridge adds to the calls of the port stands in
// saver.mjs, marked, and in docs/langgraph.md.
func TestLangGraphConformance(t *testing.T) {
	need(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"memory", "sqlite", "redis"} {
		t.Run(kind, func(t *testing.T) {
			store := kind
			switch kind {
			case "sqlite":
				store = filepath.Join(t.TempDir(), "threads.db")
			case "redis":
				store = "redis://" + redistest.Start(t).Addr
			}
			run(t, "conformance.test.mjs", cases, "BRIDGE="+program, storeVariable+"="+store)
		})
	}
}

// LangGraph does what docs/langgraph.md says of it, where its saver in memory can tell.
func TestWhatLangGraphDoes(t *testing.T) {
	need(t)
	run(t, "semantics.test.mjs", 9)
}

func need(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the suite is not installed: npm ci in internal/peers/checkpoint")
		}
		t.Skip("the suite is not installed: npm ci in internal/peers/checkpoint")
	}
}

// run runs the cases of a file, all of which must pass.
func run(t *testing.T, file string, cases int, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "run.mjs", file)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var report struct {
		Passed int
		Failed []struct{ Name, State, Error string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range report.Failed[:min(len(report.Failed), 20)] {
		t.Errorf("%s: %s %s", f.Name, f.State, f.Error)
	}
	if report.Passed != cases {
		t.Errorf("%d cases passed and %d did not, want %d", report.Passed, len(report.Failed), cases)
	}
}

// request is a line that the bridge reads.
type request struct {
	Call       int
	Op         string
	Thread, NS *string
	ID, Parent string
	Before     string
	Limit      *int
	Filter     checkpointer.Metadata
	Metadata   checkpointer.Metadata
	Set        map[string][]byte
	Remove     []string
	Task, Path string
	Writes     []write
}

type write struct {
	Task    string `json:"task"`
	Channel string `json:"channel"`
	Value   []byte `json:"value"`
}

type stored struct {
	Thread   string                `json:"thread"`
	NS       string                `json:"ns"`
	ID       string                `json:"id"`
	Parent   string                `json:"parent"`
	Metadata checkpointer.Metadata `json:"metadata"`
	Channels map[string][]byte     `json:"channels"`
	Writes   []write               `json:"writes"`
}

func storedOf(cp checkpointer.Checkpoint) *stored {
	s := &stored{cp.Ref.Thread, cp.Ref.Namespace, cp.Ref.ID, cp.Parent, cp.Metadata, cp.Channels, []write{}}
	for _, w := range cp.Writes {
		s.Writes = append(s.Writes, write{w.Task.ID, w.Channel, w.Value})
	}
	return s
}

// bridge answers requests on standard input, a line each, until its end.
func bridge(ctx context.Context, store string) (err error) {
	saver, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, saver.Close()) }()
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		result, err := answer(ctx, saver, r)
		reply := map[string]any{"call": r.Call, "result": result}
		if err != nil {
			reply["error"] = map[string]string{"text": err.Error()}
		}
		if err := out.Encode(reply); err != nil {
			return err
		}
	}
	return errors.Join(in.Err(), empty(ctx, saver))
}

// empty deletes all threads: each part of the suite wants a store of its own.
func empty(ctx context.Context, saver checkpointer.Saver) error {
	var names []string
	for info, err := range saver.(checkpointer.Lister).Threads(ctx) {
		if err != nil {
			return err
		}
		names = append(names, info.Thread)
	}
	for _, name := range names {
		if err := saver.DeleteThread(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func open(ctx context.Context, store string) (checkpointer.Saver, error) {
	switch {
	case store == "memory":
		return memorysaver.New(), nil
	case strings.HasPrefix(store, "redis:"):
		return redissaver.Open(store)
	}
	return sqlitesaver.Open(ctx, sqlitesaver.Config{Path: store})
}

func answer(ctx context.Context, saver checkpointer.Saver, r request) (any, error) {
	at := checkpointer.Ref{ID: r.ID}
	if r.Thread != nil {
		at.Thread = *r.Thread
	}
	if r.NS != nil {
		at.Namespace = *r.NS
	}
	switch r.Op {
	case "put":
		at.ID = r.Parent
		_, err := saver.Put(ctx, at, checkpointer.Step{ID: r.ID, Fork: true, Channels: r.Set, Remove: r.Remove, Metadata: r.Metadata})
		return nil, err
	case "writes":
		writes := make([]checkpointer.Write, len(r.Writes))
		for i, w := range r.Writes {
			writes[i] = checkpointer.Write{Channel: w.Channel, Value: w.Value}
		}
		return nil, saver.PutWrites(ctx, at, checkpointer.Task{ID: r.Task, Path: r.Path}, writes)
	case "get":
		cp, err := saver.Get(ctx, at)
		if errors.Is(err, checkpointer.ErrNotFound) {
			return nil, nil
		}
		return storedOf(cp), err
	case "list":
		return list(ctx, saver, at.Thread, r)
	case "delete":
		return nil, saver.DeleteThread(ctx, at.Thread)
	}
	return nil, fmt.Errorf("there is no %q", r.Op)
}

// list answers a listing. LangGraph's knows no error for what is not there.
func list(ctx context.Context, saver checkpointer.Saver, thread string, r request) (any, error) {
	q := checkpointer.Query{Thread: thread, Namespace: r.NS, BeforeID: r.Before, Filter: r.Filter, Limit: r.Limit,
		Select: checkpointer.Selection{Writes: true}}
	var found iter.Seq2[checkpointer.Checkpoint, error]
	if r.Thread == nil {
		found = checkpointer.ListAll(ctx, saver, q)
	} else {
		found = saver.List(ctx, q)
	}
	all := []*stored{}
	for cp, err := range found {
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, storedOf(cp))
	}
	return all, nil
}
