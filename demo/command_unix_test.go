//go:build unix

package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowProgram makes a folder, and a program in $PATH that starts a child and hangs. running
// waits until both run and returns their process ids.
func slowProgram(t *testing.T, name string) (dir string, running func() []int) {
	t.Helper()
	dir, bin := folder(t, healthy), t.TempDir()
	pipe := filepath.Join(bin, "pids")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nsleep 600 &\necho $$ $! > %s\nwait\n", pipe)
	if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir, func() []int {
		data, err := os.ReadFile(pipe) // until both ids are written
		if err != nil {
			t.Fatal(err)
		}
		var pids []int
		for _, field := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		if len(pids) != 2 {
			t.Fatalf("process ids %q", data)
		}
		return pids
	}
}

// gone checks that the processes end: killed, and at most waiting for their parent.
func gone(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.NewTimer(5 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, pid := range pids {
		for alive(pid) {
			select {
			case <-tick.C:
			case <-deadline.C:
				t.Errorf("process %d still runs", pid)
				return
			}
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestCancelEndsTheWholeProcessGroup(t *testing.T) {
	dir, running := slowProgram(t, "go")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := protoAnswer(ctx, situation{dir: dir})
		done <- err
	}()
	pids := running()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	gone(t, pids)
}

// Close ends a running command and returns soon; a second one does nothing.
func TestCloseEndsWhatRuns(t *testing.T) {
	dir, running := slowProgram(t, "go")
	p, err := Start(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	body := chatBody(t, "proto", false, said("user", "what broke?"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.LeadModelURL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Key())
	answered := make(chan string)
	go func() {
		resp, err := client(t).Do(req)
		if err != nil {
			answered <- err.Error()
			return
		}
		resp.Body.Close()
		answered <- resp.Status
	}()
	pids := running()
	begun := time.Now()
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > closeGrace {
		t.Errorf("close took %v", took)
	}
	if got := <-answered; got != "503 Service Unavailable" {
		t.Errorf("the caller got %s", got)
	}
	gone(t, pids)
}

func TestOutputIsBoundedAndClean(t *testing.T) {
	r, err := run(t.Context(), t.TempDir(), nil, "sh", "-c", `printf 'a\033[31m\377b\n'; yes | head -c 1000000`)
	if err != nil || !r.ok || !r.clipped {
		t.Fatalf("%+v, %v", r.ok, err)
	}
	if !strings.HasPrefix(r.output, "a[31m\uFFFDb\ny\n") || len(r.output) > maxOutput+3 {
		t.Errorf("%d bytes: %.20q", len(r.output), r.output)
	}
}

func TestACommandThatCannotBeStarted(t *testing.T) {
	if _, err := run(t.Context(), t.TempDir(), nil, "no-such-program-here"); !strings.Contains(fmt.Sprint(err), "no-such-program-here") {
		t.Errorf("got %v", err)
	}
}
