package hotreload

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrChanged: the file is not the one that the edit was made for.
var ErrChanged = errors.New("the file has changed since it was read")

// ChangedError is the refusal to save over a newer file; it wraps [ErrChanged] and brings
// the newer version.
type ChangedError struct {
	Path string
	// Data is what the file holds now, and Digest its digest.
	Data   []byte
	Digest string
}

// Error names the file.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("configuration file %s: %v", e.Path, ErrChanged)
}

// Unwrap returns [ErrChanged].
func (e *ChangedError) Unwrap() error { return ErrChanged }

// Set changes the value of key in the file at path and no other byte; see [Replace] for
// what is refused and [Save] for how the file is written.
func Set(path, key, value string) error {
	_, err := Save(path, "", func(data []byte) ([]byte, error) { return Replace(path, data, key, value) })
	return err
}

// Save gives the bytes of the file at path to edit and puts what it returns in their place;
// it returns the new digest. digest, when not empty, is that of the version that the caller
// has seen ([Snapshot.Digest]): another one in the file is a [*ChangedError]. So is a file
// that somebody else writes meanwhile. Savers of one folder wait for each other.
//
// The file is replaced in one step: readers see the old one or the new one, and a crash
// leaves one of them. Where that is impossible, because the file is a mount of its own or its
// folder is on a file system that is read-only, the file itself is written; when that fails
// the old bytes are put back. Mode and, where permitted, owner are kept; a link stays a link, its
// target is replaced. A file without write permission is refused, also to root, and so is a
// folder in which no file can be created; both are [fs.ErrPermission]. Equal bytes are not
// written. A file that does not exist is [fs.ErrNotExist].
func Save(path, digest string, edit func([]byte) ([]byte, error)) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", saveError(path, err)
	}
	release, err := lockFolder(filepath.Dir(real))
	if err != nil {
		return "", saveError(path, err)
	}
	defer release()
	old, err := ReadFile(real)
	if err != nil {
		return "", err
	}
	if now := digestOf(old); digest != "" && digest != now {
		return "", &ChangedError{Path: path, Data: old, Digest: now}
	}
	data, err := edit(bytes.Clone(old))
	if err != nil {
		return "", err
	}
	if bytes.Equal(data, old) {
		return digestOf(old), nil
	}
	if err := replaceFile(real, old, data); err != nil {
		return "", saveError(path, err)
	}
	return digestOf(data), nil
}

func saveError(path string, err error) error {
	var changed *ChangedError
	if errors.As(err, &changed) {
		return err
	}
	return fmt.Errorf("configuration file %s: save: %w", path, err)
}

// replaceFile puts data in place of the file at path, which must still hold old.
func replaceFile(path string, old, data []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := writable(path, info); err != nil {
		return err
	}
	folder := filepath.Dir(path)
	sweep(path)
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp")
	if errors.Is(err, errReadOnly) {
		return writeInPlace(path, old, data)
	}
	if err != nil {
		return fmt.Errorf("a new file cannot be created in the folder: %w", err)
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	keepOwner(temp.Name(), info) // before the mode: a change of owner clears some of its bits
	if err := temp.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := unchanged(path, old); err != nil {
		return err
	}
	err = os.Rename(temp.Name(), path)
	if errors.Is(err, errMounted) {
		return errors.Join(os.Remove(temp.Name()), writeInPlace(path, old, data))
	}
	if err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// unchanged reports whether the file at path still holds old; another content is a
// [*ChangedError].
func unchanged(path string, old []byte) error {
	now, err := ReadFile(path)
	if err == nil && !bytes.Equal(now, old) {
		err = &ChangedError{Path: path, Data: now, Digest: digestOf(now)}
	}
	return err
}

// writeInPlace writes data into the file at path itself, which must still hold old, and puts
// old back when that fails.
func writeInPlace(path string, old, data []byte) error {
	if err := unchanged(path, old); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := overwrite(f, data); err != nil {
		return errors.Join(err, overwrite(f, old), f.Close())
	}
	return f.Close()
}

// overwrite makes data the whole content of f, on the disk.
func overwrite(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(len(data))), f.Sync())
}

// writable reports why the file must not be written, although its folder might allow it.
func writable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("the file is read-only (mode %v): %w", info.Mode().Perm(), fs.ErrPermission)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// sweep removes the temporary files that killed saves have left beside path: they hold
// copies of it. A fresh one may be another saver's, where the file system has no locks.
func sweep(path string) {
	folder, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return // the save itself says what is wrong
	}
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), "."+base+".")
		name, temp := strings.CutSuffix(name, ".tmp")
		if _, err := strconv.ParseUint(name, 10, 64); !ours || !temp || err != nil {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(filepath.Join(folder, e.Name())) // it only lies about
		}
	}
}
