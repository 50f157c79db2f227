//go:build unix

package hotreload

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestUnprivileged shows what a user without rights is told. Root may do everything, so as
// root the test runs itself again as a user without any.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() == 0 {
		rerunUnprivileged(t)
		return
	}
	t.Run("an unreadable file at the start", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		write(t, path, rounds(1))
		must(t, os.Chmod(path, 0))
		if _, err := Open(t.Context(), Options{Path: path}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "c.yaml: permission denied") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file that becomes unreadable, and readable again", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		write(t, path, rounds(1))
		f, changes := open(t, Options{Path: path})
		must(t, os.Chmod(path, 0))
		await(t, changes, "the fault", func(c Change) bool { return errors.Is(c.Fault, fs.ErrPermission) })
		if f.Current().Config.Room.MaxRounds != 1 {
			t.Error("the last good values are gone")
		}
		must(t, os.Chmod(path, 0o600))
		await(t, changes, "the end of the fault", func(c Change) bool { return c.Fault == nil })
	})
	t.Run("a folder that may not be written", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "c.yaml")
		write(t, path, rounds(1))
		must(t, os.Chmod(dir, 0o555))
		defer os.Chmod(dir, 0o755)
		err := Set(path, "room.max_rounds", "5")
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "a new file cannot be created in the folder") {
			t.Errorf("got %v", err)
		}
		_, changes := open(t, Options{Path: path})
		write(t, path, rounds(6)) // by hand, in place
		awaitRounds(t, changes, 6)
	})
	t.Run("a file that may not be written", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		write(t, path, rounds(1))
		must(t, os.Chmod(path, 0o444))
		if err := Set(path, "room.max_rounds", "5"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no events left to be had", func(t *testing.T) {
		var all []*fsnotify.Watcher
		defer func() {
			for _, w := range all {
				w.Close()
			}
		}()
		for exhausted := false; !exhausted; {
			w, err := fsnotify.NewWatcher()
			if exhausted = err != nil; !exhausted {
				all = append(all, w)
			}
			if len(all) == 5000 {
				t.Skip("this system has no bound on watches to run into")
			}
		}
		path := filepath.Join(t.TempDir(), "c.yaml")
		write(t, path, rounds(1))
		f, changes := open(t, Options{Path: path, Poll: 20 * time.Millisecond})
		if !f.Polling() {
			t.Error("it does not say that it polls")
		}
		write(t, path, rounds(5))
		awaitRounds(t, changes, 5)
	})
}

// rerunUnprivileged runs the calling test in a process of the user 65534, from a copy of
// the test binary that this user can reach.
func rerunUnprivileged(t *testing.T) {
	dir, err := os.MkdirTemp("", "hotreload-unprivileged")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	self, err := os.Executable()
	must(t, err)
	program, err := os.ReadFile(self)
	must(t, err)
	binary := filepath.Join(dir, "test")
	must(t, os.WriteFile(binary, program, 0o755))
	must(t, os.Chmod(binary, 0o755))
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as user 65534: %v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("as user 65534:\n%s", out)
	}
}
