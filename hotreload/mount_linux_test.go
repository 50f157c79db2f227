package hotreload

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMountedFile saves to a file that is a mount of its own, as a container sees a file of
// its host: it cannot be renamed over. A mount needs a name space, so the test runs itself
// again in one; that takes root.
func TestMountedFile(t *testing.T) {
	const child = "HOTRELOAD_MOUNT_CHILD"
	if os.Getenv(child) == "" {
		if os.Geteuid() != 0 {
			t.Skip("only root may mount")
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMountedFile$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	for _, tt := range []struct {
		name     string
		readOnly bool // the folder of the file
	}{{"a file that is a mount", false}, {"in a folder that is read-only", true}} {
		t.Run(tt.name, func(t *testing.T) {
			host, inside := filepath.Join(t.TempDir(), "host.yaml"), t.TempDir()
			path := filepath.Join(inside, "c.yaml")
			write(t, host, rounds(1))
			write(t, path, "")
			if tt.readOnly {
				must(t, syscall.Mount(inside, inside, "", syscall.MS_BIND, ""))
			}
			must(t, syscall.Mount(host, path, "", syscall.MS_BIND, ""))
			if tt.readOnly {
				must(t, syscall.Mount("", inside, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
			}
			f, changes := open(t, Options{Path: path})
			must(t, Set(path, "room.max_rounds", "5"))
			must(t, AddDelegate(path, newACP))
			must(t, RemoveDelegate(path, newACP.Name))
			must(t, Set(path, "room.max_rounds", "4"))
			awaitRounds(t, changes, 4)
			must(t, f.Close())
			data, err := os.ReadFile(host)
			must(t, err)
			if want := rounds(4) + "delegates:\n"; string(data) != want {
				t.Errorf("the host sees %q, want %q", data, want)
			}
			if names := leftovers(t, inside, "c.yaml"); names != nil {
				t.Errorf("left over: %v", names)
			}
			must(t, syscall.Unmount(path, 0))
			if tt.readOnly {
				must(t, syscall.Unmount(inside, 0))
			}
		})
	}
}
