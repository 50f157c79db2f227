package hotreload

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long the file must rest after an event before it is read, longest how
	// long events that do not stop can put that off.
	quiet   = 25 * time.Millisecond
	longest = 250 * time.Millisecond
	// settle is how long bytes that look unfinished must rest before they are judged.
	settle = 400 * time.Millisecond
	// racy is how fresh a file is whose time stamp may hide a second write.
	racy = 2 * time.Second
	// unseen is after how many ticks without a sign of change the bytes are compared all the
	// same: a write can leave size, time and inode as they were.
	unseen = 20
)

// watch follows the file until the context ends.
func (f *File) watch(w *folders) {
	var (
		timer   = time.NewTimer(0)
		ticker  = time.NewTicker(f.poll)
		first   time.Time // of the events since the last reading
		still   int       // ticks since the last reading
		suspect suspicion
	)
	defer timer.Stop()
	defer ticker.Stop()
	look := func() {
		first, still = time.Time{}, 0
		w.seen = statOf(f.path)
		if wait := f.look(&suspect); wait > 0 {
			timer.Reset(wait)
		}
	}
	for {
		select {
		case <-f.life.Context().Done():
			return
		case <-timer.C:
			look()
			continue
		case event, ok := <-w.events():
			if !ok {
				w.watcher = nil // the ticks remain
			} else if !w.concerns(event) {
				continue
			}
		case <-w.errors(): // an overflow: events were lost
		case <-ticker.C:
			w.arm()
			if now := statOf(f.path); now == w.seen {
				still++
				if first.IsZero() && now.exists && (time.Since(now.modified) < racy || still >= unseen) {
					look()
				}
				continue
			} else {
				w.seen = now
			}
		}
		suspect = suspicion{} // the file is not at rest
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		timer.Reset(min(quiet, max(0, longest-now.Sub(first))))
	}
}

// suspicion is bytes that look unfinished, and since when the file has rested with them.
type suspicion struct {
	digest string
	since  time.Time
}

// look reads the file and takes it, or says after which time to look again because it
// seems to be in the middle of a save.
func (f *File) look(s *suspicion) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := ReadFile(f.path)
	digest := digestOf(data)
	if err != nil {
		digest = err.Error()
	} else if digest == f.current.Load().Digest || !f.unfinished(data) {
		*s = suspicion{}
		_ = f.take(data, nil) // kept as the fault
		return 0
	}
	if s.digest != digest {
		*s = suspicion{digest: digest, since: time.Now()}
		return settle
	}
	if rest := settle - time.Since(s.since); rest > 0 {
		return rest
	}
	_ = f.take(data, err) // kept as the fault
	return 0
}

// unfinished reports whether data may be the beginning of a longer file that is still
// being written: empty, the beginning of what is in force, much shorter and ending on
// another line, cut within a line where the file in force is not, or no configuration.
func (f *File) unfinished(data []byte) bool {
	switch {
	case len(data) == 0, bytes.HasPrefix(f.taken, data):
		return true
	case len(data) < len(f.taken)/4*3 && !bytes.Equal(lastLine(data), lastLine(f.taken)):
		return true
	case bytes.HasSuffix(f.taken, []byte("\n")) && !bytes.HasSuffix(data, []byte("\n")):
		return true
	}
	_, err := load(f.path, data)
	return err != nil
}

func lastLine(data []byte) []byte {
	data = bytes.TrimSpace(data)
	return data[bytes.LastIndexByte(data, '\n')+1:]
}

// stat is what tells one state of a file from another without reading it.
type stat struct {
	exists   bool
	size     int64
	modified time.Time
	inode    uint64
}

func statOf(path string) stat {
	info, err := os.Stat(path)
	if err != nil {
		return stat{}
	}
	return stat{exists: true, size: info.Size(), modified: info.ModTime(), inode: inodeOf(info)}
}

// folders is the file system's events for one file: those of its folder, and of the folder
// of the file that it is a link to. Editors save by rename, and mounted volumes swap a link
// (..data), so that a watch on the file itself would go blind.
type folders struct {
	path    string
	watcher *fsnotify.Watcher // nil: no events
	armedAt []string          // the folders
	names   []string          // base names whose events matter
	seen    stat
}

func watchFolders(path string, pollOnly bool) *folders {
	w := &folders{path: path}
	if pollOnly {
		return w
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return w
	}
	w.watcher = watcher
	w.arm()
	return w
}

// armed reports whether the file's own folder gives events.
func (w *folders) armed() bool {
	return w.watcher != nil && slices.Contains(w.watcher.WatchList(), filepath.Dir(w.path))
}

// arm puts the watches where the file is now. A folder that is gone is tried again at the
// next tick; until then the tick itself notices changes.
func (w *folders) arm() {
	if w.watcher == nil {
		return
	}
	places, names := []string{filepath.Dir(w.path)}, []string{filepath.Base(w.path)}
	if target, err := os.Readlink(w.path); err == nil {
		first, _, _ := strings.Cut(filepath.ToSlash(target), "/")
		names = append(names, first)
		if real, err := filepath.EvalSymlinks(w.path); err == nil {
			places, names = append(places, filepath.Dir(real)), append(names, filepath.Base(real))
		}
	}
	for _, old := range w.armedAt {
		if !slices.Contains(places, old) {
			_ = w.watcher.Remove(old) // gone already, or not ours any more
		}
	}
	for _, folder := range places {
		_ = w.watcher.Add(folder) // without it the ticks remain
	}
	w.armedAt, w.names = places, names
}

// concerns reports whether an event can mean that the file changed.
func (w *folders) concerns(e fsnotify.Event) bool {
	return slices.Contains(w.names, filepath.Base(e.Name))
}

func (w *folders) events() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

func (w *folders) errors() <-chan error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Errors
}

func (w *folders) close() {
	if w.watcher != nil {
		_ = w.watcher.Close() // it has nothing to flush
	}
}
