// Package sqlitesaver is the checkpointer in one SQLite file, the default store: pure Go,
// no server, shared by any number of processes of one machine. It has every optional
// ability of package checkpointer.
//
// # Durability
//
// The file is in WAL mode with synchronous = FULL: a call that has returned without an
// error survives the kill of any process and, as far as the disk keeps what it was told
// to flush, the loss of power. A call that was cut off has happened whole or not at all.
// Calls that come while another is being flushed share the next flush.
// The file must lie on a local disk: WAL does not work over network file systems. Once it,
// or its -wal or -shm beside it, is deleted or replaced under a Saver that has it open,
// writes are refused.
//
// # Privacy
//
// A new file can be read by its owner only. What is deleted is overwritten in the file,
// at the latest when the last process closes it; a copy of the disk may still hold it.
//
// # Concurrency
//
// A [Saver] is safe for concurrent use. Writers take turns, in the process by a queue and
// between processes by SQLite's lock, for which each waits up to [Config.BusyTimeout];
// readers never wait for writers. While writes wait one goroutine commits them. A held lease owns one goroutine that renews it; Release
// and Close wait for it. No lock is held while a caller's code runs.
package sqlitesaver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/checkpointer/internal/record"
	"github.com/langrooms/langrooms/checkpointer/internal/waiters"
)

// Memory is the path of a database that lives in the Saver alone.
const Memory = ":memory:"

// readers is the number of calls that read at the same time.
const readers = 8

// Config says where the store is.
type Config struct {
	// Path of the file, made (mode 0600) when it is missing; its folder must exist. [Memory] keeps
	// everything in memory. Required.
	Path string
	// BusyTimeout is how long a call waits for a lock that another process holds before
	// it is ErrUnavailable. Default 5 s; negative is ErrInvalid.
	BusyTimeout time.Duration
}

// Saver implements checkpointer.Saver and all its abilities over one file.
type Saver struct {
	cfg    Config
	memory bool
	path   string      // absolute
	file   os.FileInfo // what stood at the path when it was opened
	real   string      // path without symbolic links; the log lies beside it
	wal    os.FileInfo // of the log
	shm    os.FileInfo // of that log's index
	anchor *sql.Conn   // is never closed before the others, so that SQLite never replaces the log
	writer *pool       // of one connection
	reader *pool       // the writer when the store is in memory

	commits commits
	waiters waiters.Lines // for leases

	mu     sync.Mutex
	closed bool
	done   chan struct{}  // closed with the saver
	close  func() error   // once
	calls  sync.WaitGroup // calls in progress
	held   sync.WaitGroup // renewing goroutines
}

var (
	_ checkpointer.Saver       = (*Saver)(nil)
	_ checkpointer.Locker      = (*Saver)(nil)
	_ checkpointer.Lister      = (*Saver)(nil)
	_ checkpointer.HeadLocker  = (*Saver)(nil)
	_ checkpointer.Forker      = (*Saver)(nil)
	_ checkpointer.Copier      = (*Saver)(nil)
	_ checkpointer.Logger      = (*Saver)(nil)
	_ checkpointer.Selector    = (*Saver)(nil)
	_ checkpointer.Walker      = (*Saver)(nil)
	_ checkpointer.Pruner      = (*Saver)(nil)
	_ checkpointer.Compacter   = (*Saver)(nil)
	_ checkpointer.Expirer     = (*Saver)(nil)
	_ checkpointer.Watcher     = (*Saver)(nil)
	_ checkpointer.Snapshotter = (*Saver)(nil)
)

// Open opens the store, makes its file or brings it to the newest format. Errors name the
// path: ErrInvalid for a bad Config, ErrUnavailable when the file or its folder cannot be
// used, ErrFormat for what is no database, another program's, or of a newer version.
func Open(ctx context.Context, cfg Config) (*Saver, error) {
	if cfg.BusyTimeout == 0 {
		cfg.BusyTimeout = 5 * time.Second
	}
	if err := check(cfg); err != nil {
		return nil, err
	}
	s := &Saver{cfg: cfg, memory: cfg.Path == Memory, done: make(chan struct{})}
	s.close = sync.OnceValue(s.shut)
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("open: %w", s.typed(err))
	}
	return s, nil
}

func check(cfg Config) error {
	switch {
	case cfg.Path == "":
		return fmt.Errorf("sqlitesaver: Path is empty: %w", checkpointer.ErrInvalid)
	case strings.ContainsRune(cfg.Path, 0):
		return fmt.Errorf("sqlitesaver: Path %q contains NUL: %w", cfg.Path, checkpointer.ErrInvalid)
	case cfg.BusyTimeout < 0:
		return fmt.Errorf("sqlitesaver: BusyTimeout is negative: %w", checkpointer.ErrInvalid)
	}
	return nil
}

func (s *Saver) open(ctx context.Context) (err error) {
	if err := s.checkPath(); err != nil {
		return err
	}
	if s.writer, err = newPool(s.dsn(""), 1, s.memory); err != nil {
		return err
	}
	s.reader = s.writer
	if !s.memory {
		if s.reader, err = newPool(s.dsn("&_query_only=1"), readers, false); err != nil {
			return errors.Join(err, s.writer.close())
		}
	}
	if err = s.prepare(ctx); err == nil {
		err = s.dropAnchor(ctx)
	}
	if err != nil {
		s.commits.done.Wait()
		_ = s.closeFiles() // the first error says more
	}
	return err
}

// dropAnchor opens the connection that keeps the log, and notes what stands beside the
// file.
func (s *Saver) dropAnchor(ctx context.Context) (err error) {
	if s.memory {
		return nil
	}
	if s.anchor, err = s.reader.db.Conn(ctx); err != nil {
		return err
	}
	if err := s.anchor.QueryRowContext(ctx, "SELECT count(*) FROM threads").Scan(new(int)); err != nil {
		return err
	}
	if s.real, err = filepath.EvalSymlinks(s.path); err == nil {
		s.wal, err = os.Stat(s.real + "-wal")
	}
	if err == nil {
		s.shm, err = os.Stat(s.real + "-shm")
	}
	if err != nil {
		return fmt.Errorf("%w: %v", checkpointer.ErrUnavailable, err)
	}
	return nil
}

// checkPath finds in plain words what SQLite only calls "unable to open", and makes the
// file when it is missing.
func (s *Saver) checkPath() error {
	if s.memory {
		return nil
	}
	// Connections are opened when they are needed, also after a change of the working
	// folder. SQLite takes a path that begins with two slashes for a host's.
	path, err := filepath.Abs(s.cfg.Path)
	if err != nil {
		return fmt.Errorf("%w: %v", checkpointer.ErrUnavailable, err)
	}
	s.path = path
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil {
		return fmt.Errorf("%w: the folder %s: %v", checkpointer.ErrUnavailable, folder, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a folder", checkpointer.ErrUnavailable, folder)
	}
	s.file, err = os.Stat(path)
	if err == nil && s.file.IsDir() {
		return fmt.Errorf("%w: it is a folder", checkpointer.ErrUnavailable)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil // SQLite finds out what else may be wrong
	}
	return s.makeFile()
}

// makeFile makes the file. Conversations are private: SQLite itself would let everybody
// read it.
func (s *Saver) makeFile() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		s.file, err = f.Stat()
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("%w: the file cannot be made: %v", checkpointer.ErrUnavailable, err)
	}
	return nil
}

// inPlace refuses to write when the file, or the log beside it, has been deleted or
// replaced: nobody would find again what was acknowledged.
func (s *Saver) inPlace() error {
	if s.memory {
		return nil
	}
	for _, f := range []struct {
		path string
		was  os.FileInfo
	}{{s.path, s.file}, {s.real + "-wal", s.wal}, {s.real + "-shm", s.shm}} {
		if f.was == nil { // not open yet
			continue
		}
		if info, err := os.Stat(f.path); err != nil || !os.SameFile(info, f.was) {
			return fmt.Errorf("%w: the file %s was deleted or replaced while it was open", checkpointer.ErrUnavailable, filepath.Base(f.path))
		}
	}
	return nil
}

func (s *Saver) dsn(more string) string {
	pragmas := fmt.Sprintf("?_busy_timeout=%d&_synchronous=FULL&_pragma=secure_delete(1)&_error_rc=1", s.cfg.BusyTimeout.Milliseconds())
	if s.memory {
		return Memory + pragmas
	}
	// A path is not an address: the three characters that mean something there are escaped.
	path := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(s.path)
	return "file:" + path + pragmas + more
}

// Close implements checkpointer.Saver. Held leases end and are given back.
func (s *Saver) Close() error { return s.close() }

func (s *Saver) shut() error {
	s.mu.Lock()
	s.closed = true
	close(s.done)
	s.mu.Unlock()
	s.calls.Wait()
	s.held.Wait()
	s.commits.done.Wait()
	return s.closeFiles()
}

func (s *Saver) closeFiles() error {
	var err error
	if s.anchor != nil {
		err = s.anchor.Close()
	}
	if s.reader != s.writer {
		err = errors.Join(err, s.reader.close())
	}
	// The last to close moves the log into the file, which a reader may not.
	return errors.Join(err, s.writer.close())
}

// enter registers a call; the caller must leave by s.calls.Done.
func (s *Saver) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return checkpointer.ErrClosed
	}
	s.calls.Add(1)
	return nil
}

// read runs f in a read transaction as the operation op on a thread.
func (s *Saver) read(ctx context.Context, op, thread string, f func(q *tx) error) error {
	err := s.enter(ctx)
	if err == nil {
		defer s.calls.Done()
		err = s.typed(s.view(ctx, f))
	}
	return record.Wrap(op, thread, err)
}

// write runs f in a write transaction as the operation op on a thread, after the fence
// of ctx has been compared.
func (s *Saver) write(ctx context.Context, op, thread string, f func(q *tx) error) error {
	err := s.enter(ctx)
	if err == nil {
		defer s.calls.Done()
		err = s.typed(s.update(ctx, func(q *tx) error {
			if err := checkFence(ctx, q, thread); err != nil {
				return err
			}
			return f(q)
		}))
	}
	return record.Wrap(op, thread, err)
}
