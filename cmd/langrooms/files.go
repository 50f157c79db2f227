package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/terminal"
)

// attached are the files that go with the next message.
type attached struct {
	mu    sync.Mutex
	parts []langrooms.Part
}

// put adds files in front of those that are there.
func (a *attached) put(files []langrooms.Part) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parts = append(files[:len(files):len(files)], a.parts...)
}

// add adds a file, unless there are more than may go with one message.
func (a *attached) add(file langrooms.Part) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := append(a.parts[:len(a.parts):len(a.parts)], file)
	if err := langrooms.CheckFiles(all); err != nil {
		return err
	}
	a.parts = all
	return nil
}

// take returns the files, which are there no more.
func (a *attached) take() []langrooms.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	files := a.parts
	a.parts = nil
	return files
}

func (a *attached) all() []langrooms.Part {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.parts
}

// readFiles reads the files of -a.
func readFiles(paths []string) ([]langrooms.Part, error) {
	var files []langrooms.Part
	for _, path := range paths {
		file, err := readFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, langrooms.CheckFiles(files)
}

// readFile reads a file that goes with a message: a regular one, so that nothing is waited for.
func readFile(path string) (langrooms.Part, error) {
	info, err := os.Stat(path)
	if err != nil {
		return langrooms.Part{}, err
	}
	if !info.Mode().IsRegular() {
		return langrooms.Part{}, fmt.Errorf("%w: %s is no regular file", langrooms.ErrFile, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return langrooms.Part{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, langrooms.MaxFile+1))
	if err != nil {
		return langrooms.Part{}, err
	}
	return langrooms.FilePart(filepath.Base(path), "", data)
}

func (c *conversation) attach(_ context.Context, path string) (terminal.Reply, error) {
	if path != "" {
		file, err := readFile(unquoted(path))
		if err == nil {
			err = c.attached.add(file)
		}
		if err != nil {
			return terminal.Reply{}, err
		}
	}
	var names []string
	for _, f := range c.attached.all() {
		names = append(names, room.FileLabel(f))
	}
	if len(names) == 0 {
		return terminal.Reply{Text: "Nothing is attached; /attach FILE sends a file with the next message."}, nil
	}
	return terminal.Reply{Text: "With your next message: " + strings.Join(names, ", ")}, nil
}

// unquoted is a path as a shell would have it: without quotes and the backslashes in front of
// blanks that a terminal drops in, and with the home folder for a tilde.
func unquoted(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if n := len(path); n > 1 && path[0] == path[n-1] && (path[0] == '\'' || path[0] == '"') {
		return path[1 : n-1]
	}
	if _, err := os.Stat(path); err != nil {
		return strings.ReplaceAll(path, `\ `, " ")
	}
	return path
}

func (c *conversation) detach(context.Context, string) (terminal.Reply, error) {
	c.attached.take()
	return terminal.Reply{Text: "Nothing is attached any more."}, nil
}

// kept is a file on a thread.
type kept struct {
	langrooms.Part
	from string
	at   time.Time
	// message is where it stands, and n its number there.
	message string
	n       int
}

// listedFiles is how many files are listed.
const listedFiles = 50

// filesOn returns the files of a thread, the newest first; those of one message in their order.
func filesOn(ctx context.Context, saver checkpointer.Saver, thread string) ([]kept, error) {
	var all []kept
	for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true}) {
		if err != nil {
			return nil, err
		}
		for i, p := range m.Files() {
			all = append(all, kept{p, speaker(lineOf(m)), m.Time, m.ID, i})
		}
		if len(all) >= listedFiles {
			break
		}
	}
	return all, nil
}

// listFiles is a line for each file.
func listFiles(all []kept) string {
	var lines []string
	for i, f := range all {
		lines = append(lines, fmt.Sprintf("%3d  %s  %s  %s", i+1, f.at.Local().Format(time.DateTime), room.FileLabel(f.Part), f.from))
	}
	return strings.Join(lines, "\n")
}

// write saves the file of that number to a path, an existing folder, or under its own name here.
// Nothing that exists is written over.
func write(all []kept, number, to string) (path string, err error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(all) {
		return "", fmt.Errorf("there is no file %q: the thread has %d, counted from the newest", number, len(all))
	}
	f := all[n-1]
	path = to
	if info, err := os.Stat(to); to == "" || err == nil && info.IsDir() {
		path = filepath.Join(to, langrooms.FileName(f.Name))
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s exists and is left as it is; name another path", path)
	}
	if err != nil {
		return "", err
	}
	_, err = out.Write(f.Data)
	return path, errors.Join(err, out.Close())
}

func (c *conversation) save(ctx context.Context, args string) (terminal.Reply, error) {
	thread, _ := c.current()
	all, err := filesOn(ctx, c.app.Saver, thread)
	if err != nil && !errors.Is(err, checkpointer.ErrNotFound) {
		return terminal.Reply{}, err
	}
	number, to, _ := strings.Cut(args, " ")
	switch {
	case len(all) == 0:
		return terminal.Reply{Text: "There is no file on this thread."}, nil
	case number == "":
		return terminal.Reply{Text: listFiles(all) + "\n/save N saves one here, /save N PATH elsewhere."}, nil
	}
	path, err := write(all, number, unquoted(strings.TrimSpace(to)))
	if err != nil {
		return terminal.Reply{}, err
	}
	return terminal.Reply{Text: "Saved " + path + "."}, nil
}

// fileLine is one line of thread save --json.
type fileLine struct {
	Number int       `json:"number"`
	Name   string    `json:"name"`
	Type   string    `json:"type"`
	Bytes  int       `json:"bytes"`
	From   string    `json:"from"`
	Time   time.Time `json:"time"`
}

func (p *program) saveCommand() *cobra.Command {
	var number, to string
	c := &cobra.Command{Use: "save [N]", Short: "Save the Nth file of a thread, counted from the newest; without N, list them", Args: atMostOne(&number)}
	c.RunE = p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		all, err := filesOn(ctx, saver, p.thread)
		if err != nil {
			return err
		}
		if number != "" {
			path, err := write(all, number, to)
			if err == nil {
				p.said("Saved %s.", path)
			}
			return err
		}
		return p.listFiles(all)
	})
	p.threadFlag(c)
	p.jsonFlag(c)
	c.Flags().StringVar(&to, "to", "", "the `PATH` to save to, or a folder; absent means here, under the file's own name")
	return c
}

func (p *program) listFiles(all []kept) error {
	if len(all) == 0 && !p.json {
		fmt.Fprintln(p.diag, "There is no file on this thread.")
		return nil
	}
	if !p.json {
		_, err := fmt.Fprintln(p.out, terminal.Clean(listFiles(all)))
		return err
	}
	for i, f := range all {
		if err := p.line(fileLine{i + 1, f.Name, f.MIMEType, len(f.Data), f.from, f.at}); err != nil {
			return err
		}
	}
	return nil
}
