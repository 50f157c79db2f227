package sqlitesaver_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/sqlitesaver"
)

const childEnv = "SQLITESAVER_TEST_CHILD"

// TestMain is also the main of the processes that the tests kill.
func TestMain(m *testing.M) {
	mode, path, _ := strings.Cut(os.Getenv(childEnv), ":")
	if mode == "" {
		// Most of the parallel tests only wait for a lease to run out.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		goleak.VerifyTestMain(m)
		return
	}
	if err := child(mode, path); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func child(mode, path string) error {
	ctx := context.Background()
	s, err := sqlitesaver.Open(ctx, sqlitesaver.Config{Path: path, BusyTimeout: 30 * time.Second})
	if err != nil {
		return err
	}
	defer s.Close()
	if mode == "holder" {
		return hold(ctx, s)
	}
	return keepPutting(ctx, s)
}

// keepPutting puts until its standard input ends and prints each acknowledged id.
func keepPutting(ctx context.Context, s *sqlitesaver.Saver) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, os.Stdin)
	}()
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		cp, err := s.Get(ctx, checkpointer.Ref{Thread: "t"})
		if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
			return err
		}
		id := langrooms.NewID()
		m := langrooms.NewMessage(langrooms.RoleHuman, id)
		_, err = s.Put(ctx, checkpointer.Ref{Thread: "t", ID: cp.Ref.ID}, checkpointer.Step{ID: id,
			Log: checkpointer.Append(m, m), Channels: map[string][]byte{"x": []byte(id), "y": []byte(id)}})
		if errors.Is(err, checkpointer.ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// hold takes the lease and, told so, writes under it.
func hold(ctx context.Context, s *sqlitesaver.Saver) error {
	lease, err := s.Lock(ctx, "t")
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	_, err = s.Put(context.WithoutCancel(lease.Context()), checkpointer.Ref{Thread: "t"}, checkpointer.Step{Fork: true})
	fmt.Println("fenced", errors.Is(err, checkpointer.ErrFenced))
	select {
	case <-lease.Context().Done():
		fmt.Println("ended", errors.Is(context.Cause(lease.Context()), checkpointer.ErrFenced))
	case <-time.After(20 * time.Second):
		fmt.Println("the lease's context did not end")
	}
	return lease.Release()
}

type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// start runs a child; it is killed at the end of the test if need be.
func start(t *testing.T, mode, path string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), childEnv+"="+mode+":"+path,
		"GORACE=atexit_sleep_ms=0") // the race detector's own default is a second
	p.Stderr = os.Stderr
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the child has ended: %v", p.out.Err())
	}
	if line := p.out.Text(); !strings.HasPrefix(line, "error") {
		return line
	}
	t.Fatal(p.out.Text())
	return ""
}

// rest reads what the child has printed before its end.
func (p *process) rest() (lines []string) {
	for p.out.Scan() {
		lines = append(lines, p.out.Text())
	}
	return lines
}

// whole reports when an acknowledged put is missing or any put is there by half.
func whole(t *testing.T, s *sqlitesaver.Saver, acknowledged []string) {
	t.Helper()
	there := map[string]bool{}
	puts := int64(0)
	for cp, err := range s.List(t.Context(), checkpointer.Query{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		if puts++; string(cp.Channels["x"]) != cp.Ref.ID || string(cp.Channels["y"]) != cp.Ref.ID || cp.Length%2 != 0 {
			t.Errorf("half a put: %+v", cp)
		}
		there[cp.Ref.ID] = true
	}
	messages := map[string]int{}
	n := int64(0)
	for m, err := range s.Messages(t.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		messages[m.Text()]++
		n++
	}
	if n != 2*puts {
		t.Errorf("%d messages of %d puts", n, puts)
	}
	for _, id := range acknowledged {
		if !there[id] || messages[id] != 2 {
			t.Errorf("the acknowledged put %s is lost", id)
		}
	}
}

// A writer is killed sixty times in the middle of its work.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	var acknowledged []string
	for range 60 {
		p := start(t, "writer", path)
		for range rand.IntN(8) {
			acknowledged = append(acknowledged, p.line(t))
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, p.rest()...)
		_ = p.Wait() // killed
	}
	t.Logf("60 kills, %d puts acknowledged", len(acknowledged))
	whole(t, s, acknowledged)
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	a, b := start(t, "writer", path), start(t, "writer", path)
	var acknowledged []string
	for range 40 {
		acknowledged = append(acknowledged, a.line(t), b.line(t))
	}
	for _, p := range []*process{a, b} {
		p.in.Close()
		acknowledged = append(acknowledged, p.rest()...)
		if err := p.Wait(); err != nil {
			t.Errorf("a writer failed: %v", err)
		}
	}
	whole(t, open(t, path), acknowledged)
}

// The lease of a killed process passes on within 20 seconds.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "holder", path)
	p.line(t)
	s := open(t, path)
	p.kill()
	takeOver(t, s)
}

// A stopped process loses its lease, notices when it goes on, and is refused.
func TestStoppedHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "holder", path)
	p.line(t)
	s := open(t, path)
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	lease := takeOver(t, s)
	if _, err := s.Put(lease.Context(), checkpointer.Ref{Thread: "t"}, checkpointer.Step{ID: "mine"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(p.in, "write")
	if got := []string{p.line(t), p.line(t)}; got[0] != "fenced true" || got[1] != "ended true" {
		t.Errorf("the woken holder reports %q", got)
	}
	cp, err := s.Get(t.Context(), checkpointer.Ref{Thread: "t"})
	if err != nil || cp.Ref.ID != "mine" {
		t.Errorf("the newest checkpoint is %q: %v", cp.Ref.ID, err)
	}
}

func takeOver(t *testing.T, s *sqlitesaver.Saver) checkpointer.Lease {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	lease, err := s.Lock(ctx, "t")
	if err != nil {
		t.Fatalf("the lease was not to be had in 20 s: %v", err)
	}
	t.Cleanup(func() { lease.Release() })
	t.Logf("the lease passed on after %v", time.Since(began).Round(100*time.Millisecond))
	return lease
}

// A lease is renewed: also after its first term nobody else gets it.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, other := open(t, path), open(t, path)
	lease, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 17*time.Second)
	defer cancel()
	if _, err := other.Lock(ctx, "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second holder after the first one's term: %v", err)
	}
	if lease.Context().Err() != nil {
		t.Errorf("the lease was lost: %v", context.Cause(lease.Context()))
	}
}

// A lease that cannot be renewed is given up, for both reasons.
func TestLeaseOfALockedStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlitesaver.Open(t.Context(), sqlitesaver.Config{Path: path, BusyTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lease, err := s.Lock(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	raw(t, path, "BEGIN IMMEDIATE")
	select {
	case <-lease.Context().Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the lease outlived its term")
	}
	cause := context.Cause(lease.Context())
	if !errors.Is(cause, checkpointer.ErrFenced) || !errors.Is(cause, checkpointer.ErrUnavailable) {
		t.Errorf("the lease ended with %v", cause)
	}
	if err := lease.Release(); err != nil {
		t.Errorf("release of a lost lease: %v", err)
	}
}
