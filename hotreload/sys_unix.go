//go:build unix

package hotreload

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// What says that a file cannot be replaced by renaming: it is a mount of its own, or nothing
// can be created in its folder.
const (
	errMounted  = syscall.EBUSY
	errReadOnly = syscall.EROFS
)

func inodeOf(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

// keepOwner gives the file at path the owner of info, where we may.
func keepOwner(path string, info os.FileInfo) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(path, int(s.Uid), int(s.Gid)) // only root may give files away
	}
}

// lockFolder takes the lock that orders the savers of a folder's files, in this and in
// other processes, and returns its release.
func lockFolder(folder string) (release func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil // which also unlocks
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return func() { f.Close() }, nil // a file system without locks
		case time.Now().After(deadline):
			f.Close()
			return nil, fmt.Errorf("another save in %s does not end", folder)
		}
	}
}

// syncFolder makes a rename in folder durable, where the file system can.
func syncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		_ = f.Sync() // the new file itself is on disk already
		f.Close()
	}
}
