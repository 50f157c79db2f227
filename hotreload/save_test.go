package hotreload

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/langrooms/langrooms/delegate/acpagent"
)

// leftovers lists what a save has left in the folder beside the named files.
func leftovers(t *testing.T, dir string, known ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
next:
	for _, e := range entries {
		for _, k := range known {
			if e.Name() == k {
				continue next
			}
		}
		names = append(names, e.Name())
	}
	return names
}

func TestSaveKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	write(t, real, rounds(1))
	must(t, os.Chmod(real, 0o640))
	must(t, os.Symlink("real.yaml", link))
	must(t, Set(link, "room.max_rounds", "4"))
	must(t, AddDelegate(link, newACP))
	must(t, RemoveDelegate(link, newACP.Name))
	info, err := os.Lstat(link)
	must(t, err)
	if info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is no link any more")
	}
	info, err = os.Stat(real)
	must(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want -rw-r-----", info.Mode())
	}
	data, err := os.ReadFile(real)
	must(t, err)
	if want := rounds(4) + "delegates:\n"; string(data) != want {
		t.Errorf("the file holds %q, want %q", data, want)
	}
	if names := leftovers(t, dir, "real.yaml", "link.yaml"); names != nil {
		t.Errorf("left over: %v", names)
	}
}

// TestSaveRefusesANewerFile shows both ways in which a file can have changed, and that the
// caller gets the newer version.
func TestSaveRefusesANewerFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.yaml")
	write(t, path, rounds(1))
	seen := digestOf([]byte(rounds(1)))
	digest, err := Save(path, seen, func([]byte) ([]byte, error) { return []byte(rounds(2)), nil })
	if err != nil || digest != digestOf([]byte(rounds(2))) {
		t.Fatalf("with the right digest: %s, %v", digest, err)
	}
	check := func(what string, err error, want string) {
		t.Helper()
		var changed *ChangedError
		if !errors.Is(err, ErrChanged) || !errors.As(err, &changed) || string(changed.Data) != want || changed.Digest != digestOf([]byte(want)) {
			t.Errorf("%s: got %v, want the newer version", what, err)
		}
		if now, _ := os.ReadFile(path); string(now) != want {
			t.Errorf("%s: the newer file was overwritten with %q", what, now)
		}
	}
	_, err = Save(path, seen, func([]byte) ([]byte, error) { return []byte(rounds(3)), nil })
	check("an old digest", err, rounds(2))
	_, err = Save(path, "", func(data []byte) ([]byte, error) {
		write(t, path, rounds(9)) // an editor saves meanwhile
		return []byte(rounds(3)), nil
	})
	check("a save meanwhile", err, rounds(9))
	if names := leftovers(t, dir, "c.yaml"); names != nil {
		t.Errorf("left over: %v", names)
	}
}

func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	readOnly := filepath.Join(dir, "ro.yaml")
	write(t, readOnly, rounds(1))
	must(t, os.Chmod(readOnly, 0o444))
	bad := filepath.Join(dir, "bad.yaml")
	write(t, bad, "room: [\n")
	tests := []struct {
		name, path string
		is         error
		says       string
	}{
		{"no file", filepath.Join(dir, "none.yaml"), fs.ErrNotExist, "none.yaml: save:"},
		{"the folder gone", filepath.Join(dir, "gone", "c.yaml"), fs.ErrNotExist, "c.yaml: save:"},
		{"a read-only file, also to root", readOnly, fs.ErrPermission, "the file is read-only (mode -r--r--r--)"},
		{"a broken file", bad, ErrUnusable, "bad.yaml:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := os.ReadFile(tt.path)
			err := Set(tt.path, "room.max_rounds", "5")
			if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
			if after, _ := os.ReadFile(tt.path); !bytes.Equal(before, after) {
				t.Errorf("the file holds %q now", after)
			}
		})
	}
	if names := leftovers(t, dir, "ro.yaml", "bad.yaml"); names != nil {
		t.Errorf("left over: %v", names)
	}
}

// TestSaversDoNotLoseEachOther shows that many savers at once all get their value in.
func TestSaversDoNotLoseEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, "# start\n")
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			d := Delegate{Name: fmt.Sprintf("d%d", i), Type: "acp", Settings: &acpagent.Settings{Command: "c"}}
			if err := AddDelegate(path, d); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	data, err := os.ReadFile(path)
	must(t, err)
	c, findings, err := Parse(path, data)
	if err != nil || len(findings) != 0 || len(c.Delegates) != 16 {
		t.Errorf("%d delegates, %v, %v", len(c.Delegates), findings, err)
	}
}

// TestEqualBytesAreNotWritten shows that a value that is there already leaves the file alone.
func TestEqualBytesAreNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	write(t, path, rounds(3))
	before, err := os.Stat(path)
	must(t, err)
	must(t, Set(path, "room.max_rounds", "3"))
	after, err := os.Stat(path)
	must(t, err)
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file was written")
	}
}

// TestLeftoversOfKilledSaves shows that a save takes away what a killed one has left, and
// nothing else.
func TestLeftoversOfKilledSaves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c.yaml")
	write(t, path, rounds(1))
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".c.yaml.123.tmp", ".c.yaml.mine.tmp", ".other.yaml.123.tmp", ".c.yaml.456.tmp"} {
		write(t, filepath.Join(dir, name), "x")
		must(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	must(t, os.Chtimes(filepath.Join(dir, ".c.yaml.456.tmp"), time.Now(), time.Now()))
	must(t, Set(path, "room.max_rounds", "4"))
	want := []string{".c.yaml.456.tmp", ".c.yaml.mine.tmp", ".other.yaml.123.tmp"}
	if names := leftovers(t, dir, "c.yaml"); !slices.Equal(names, want) {
		t.Errorf("left are %v, want %v", names, want)
	}
}
