package hotreload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/langrooms/langrooms/internal/lifetime"
)

// Snapshot is one reading of the file. It is immutable: whoever holds it keeps the values
// it began with, and nobody may change it.
type Snapshot struct {
	Config   Config
	Findings []Finding
	// Digest is the SHA-256 of the file's bytes, in hexadecimal.
	Digest string
	// Loaded is when the bytes were taken.
	Loaded time.Time
}

// Options says which file to watch, and how.
type Options struct {
	// Path of the file; relative means relative to the working folder at Open.
	Path string
	// Poll is how often the file is looked at besides the file system's own events, which
	// not every file system has; 0 means 500 ms.
	Poll time.Duration
	// PollOnly leaves the file system's events out.
	PollOnly bool
}

// File is a configuration file that is watched. Its methods are safe for concurrent use.
type File struct {
	path    string
	poll    time.Duration
	polling bool
	life    *lifetime.Life // of the watching goroutine and the subscribers'

	current atomic.Pointer[Snapshot]

	mu          sync.Mutex // guards what follows and orders the snapshots
	opened      *Snapshot  // the first one
	taken       []byte     // the bytes of the current snapshot
	fault       error
	subscribers map[*subscriber]struct{}
}

// Open reads the file and begins to watch it; the watch stands before the first read, so
// that no edit falls in between. A first file that is missing, unreadable or unusable is an
// error ([fs.ErrNotExist], [fs.ErrPermission] and [ErrUnusable] are kept). The watch ends
// with ctx or with Close; the caller must call Close in either case.
func Open(ctx context.Context, o Options) (*File, error) {
	if o.Path == "" {
		return nil, errors.New("hotreload: Options.Path is empty")
	}
	if o.Poll < 0 {
		return nil, fmt.Errorf("hotreload: Options.Poll is negative: %v", o.Poll)
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", o.Path, err)
	}
	f := &File{path: path, poll: o.Poll, subscribers: map[*subscriber]struct{}{}}
	if f.poll == 0 {
		f.poll = 500 * time.Millisecond
	}
	f.life = lifetime.Within(ctx)
	w := watchFolders(path, o.PollOnly)
	f.polling = !w.armed()
	w.seen = statOf(path)
	if err := f.Reload(ctx); err != nil {
		f.life.Close()
		w.close()
		return nil, err
	}
	f.life.Go(func(context.Context) {
		defer w.close()
		f.watch(w)
	})
	return f, nil
}

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

// Current returns the newest good snapshot; never nil, also after Close. A turn takes it
// once and keeps it.
func (f *File) Current() *Snapshot { return f.current.Load() }

// Fault returns why the newest bytes of the file were not taken, or nil. The error names
// the file and, where there is one, the line.
func (f *File) Fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// Polling reports whether the file is only looked at now and then, because events were not
// wanted or the system had none to give when the file was opened.
func (f *File) Polling() bool { return f.polling }

// Reload reads the file now and takes it, however unfinished it may look. It returns why
// the bytes were not taken; [File.Fault] then says the same.
func (f *File) Reload(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := ReadFile(f.path)
	return f.take(data, err)
}

// Close ends the watch and the subscriptions and waits for their goroutines. Idempotent.
func (f *File) Close() error {
	f.life.Close(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		clear(f.subscribers)
	})
	return nil
}

// take makes data the current snapshot, or readErr or what is wrong with data the fault,
// and tells the subscribers. f.mu is held.
func (f *File) take(data []byte, readErr error) error {
	old := f.current.Load()
	digest := digestOf(data)
	if readErr == nil && old != nil && old.Digest == digest {
		if f.fault != nil {
			f.fault = nil
			f.publish(changeOf(f.opened, old, old, nil))
		}
		return nil
	}
	base := Default()
	if old != nil {
		base = old.Config
	}
	s := &Snapshot{Digest: digest, Loaded: time.Now()}
	err := readErr
	if err == nil {
		s.Config, s.Findings, err = parseOver(f.path, data, base)
	}
	if err != nil {
		news := f.fault == nil || f.fault.Error() != err.Error()
		f.fault = err
		if news && old != nil {
			f.publish(changeOf(f.opened, old, old, err))
		}
		return err
	}
	f.taken, f.fault = data, nil
	f.current.Store(s)
	if old == nil {
		f.opened = s
		return nil
	}
	f.publish(changeOf(f.opened, old, s, nil))
	return nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ReadFile reads the file at path, one byte more than a configuration may have at most. A
// file that changes while it is read is an error.
func ReadFile(path string) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("configuration file %s: %w", path, err)
	}
	// A named pipe would block in Open.
	if info, err := os.Stat(path); err != nil {
		return fail(err)
	} else if !info.Mode().IsRegular() {
		return fail(errors.New("is not a regular file"))
	}
	file, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return fail(err)
	}
	var data bytes.Buffer
	if _, err := io.Copy(&data, io.LimitReader(file, MaxBytes+1)); err != nil {
		return fail(err)
	}
	after, err := file.Stat()
	if err != nil {
		return fail(err)
	}
	if before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return fail(errors.New("is being written"))
	}
	return data.Bytes(), nil
}
