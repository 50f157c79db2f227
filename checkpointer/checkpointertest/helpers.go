package checkpointertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
)

// message is a message whose id and text are name, always the same for one name.
func message(name string) langrooms.Message {
	return langrooms.Message{
		ID: name, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Role: langrooms.RoleHuman,
		Parts: []langrooms.Part{langrooms.TextPart(name)},
	}
}

// said is the message of id with another text.
func said(id, text string) langrooms.Message {
	m := message(id)
	m.Parts = []langrooms.Part{langrooms.TextPart(text)}
	return m
}

// appends is a log of messages named by the words of names.
func appends(names string) []checkpointer.Entry {
	var log []checkpointer.Entry
	for _, name := range strings.Fields(names) {
		log = append(log, checkpointer.Entry{Op: checkpointer.OpAppend, Message: message(name)})
	}
	return log
}

func replace(id, text string) checkpointer.Entry {
	return checkpointer.Entry{Op: checkpointer.OpReplace, Message: said(id, text)}
}

func remove(id string) checkpointer.Entry {
	return checkpointer.Entry{Op: checkpointer.OpRemove, ID: id}
}

func reset() checkpointer.Entry { return checkpointer.Entry{Op: checkpointer.OpReset} }

// thread names the newest checkpoint of a thread's own namespace.
func thread(name string) checkpointer.Ref { return checkpointer.Ref{Thread: name} }

// put puts or ends the rule.
func (c *check) put(s checkpointer.Saver, parent checkpointer.Ref, step checkpointer.Step) checkpointer.Ref {
	c.Helper()
	ref, err := s.Put(c.Context(), parent, step)
	c.ok(err, "put of %q after %q in %q", step.ID, parent.ID, parent.Thread)
	if ref.Thread != parent.Thread || ref.Namespace != parent.Namespace || ref.ID == "" {
		c.Fatalf("put after %+v returned the ref %+v", parent, ref)
	}
	if step.ID != "" && ref.ID != step.ID {
		c.Fatalf("put of %q returned the id %q", step.ID, ref.ID)
	}
	return ref
}

// chain puts one checkpoint a word after parent, each appending the message of that
// name and having it as id.
func (c *check) chain(s checkpointer.Saver, parent checkpointer.Ref, names string) checkpointer.Ref {
	c.Helper()
	for _, name := range strings.Fields(names) {
		parent = c.put(s, parent, checkpointer.Step{ID: name, Log: appends(name)})
	}
	return parent
}

func (c *check) get(s checkpointer.Saver, at checkpointer.Ref) checkpointer.Checkpoint {
	c.Helper()
	cp, err := s.Get(c.Context(), at)
	c.ok(err, "get of %+v", at)
	return cp
}

func (c *check) read(s checkpointer.Saver, at checkpointer.Ref, r checkpointer.Range) []langrooms.Message {
	c.Helper()
	messages, err := readAll(c.Context(), s, at, r)
	c.ok(err, "messages of %+v", at)
	return messages
}

func readAll(ctx context.Context, s checkpointer.Saver, at checkpointer.Ref, r checkpointer.Range) ([]langrooms.Message, error) {
	var messages []langrooms.Message
	for m, err := range s.Messages(ctx, at, r) {
		if err != nil {
			return messages, err
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// sees reports when the messages that at sees are not want, a list of words "text" in
// order, read forwards and backwards, whole and in pieces.
func (c *check) sees(s checkpointer.Saver, at checkpointer.Ref, want string) {
	c.Helper()
	c.reads(s, at, checkpointer.Range{}, want)
	words := strings.Fields(want)
	slices.Reverse(words)
	c.reads(s, at, checkpointer.Range{Backward: true}, strings.Join(words, " "))
	if len(words) > 1 {
		newest := checkpointer.Range{Backward: true, Limit: checkpointer.N(len(words) - 1)}
		c.reads(s, at, newest, strings.Join(words[:len(words)-1], " "))
	}
}

// reads reports when the texts in r are not the words of want.
func (c *check) reads(s checkpointer.Saver, at checkpointer.Ref, r checkpointer.Range, want string) {
	c.Helper()
	if got := texts(c.read(s, at, r)); got != strings.Join(strings.Fields(want), " ") {
		c.Errorf("messages at %+v in %s: got [%s], want [%s]", at, showRange(r), got, want)
	}
}

func showRange(r checkpointer.Range) string {
	limit := "none"
	if r.Limit != nil {
		limit = fmt.Sprint(*r.Limit)
	}
	return fmt.Sprintf("{from %d to %d limit %s backward %v}", r.From, r.To, limit, r.Backward)
}

func texts(messages []langrooms.Message) string {
	var words []string
	for _, m := range messages {
		words = append(words, m.Text())
	}
	return strings.Join(words, " ")
}

// seqs are the positions of messages.
func seqs(messages []langrooms.Message) []int64 {
	var s []int64
	for _, m := range messages {
		s = append(s, m.Seq)
	}
	return s
}

// stored is the form in which two messages are compared: everything that is stored.
func stored(messages ...langrooms.Message) string {
	var lines []string
	for _, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			data = []byte(err.Error())
		}
		lines = append(lines, string(data))
	}
	return strings.Join(lines, "\n")
}

func (c *check) list(s checkpointer.Saver, q checkpointer.Query) []checkpointer.Checkpoint {
	c.Helper()
	var all []checkpointer.Checkpoint
	for cp, err := range s.List(c.Context(), q) {
		c.ok(err, "list of %q", q.Thread)
		all = append(all, cp)
	}
	return all
}

// lists reports when q does not yield the ids in the words of want.
func (c *check) lists(s checkpointer.Saver, q checkpointer.Query, want string) {
	c.Helper()
	var ids []string
	for _, cp := range c.list(s, q) {
		ids = append(ids, cp.Ref.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		c.Errorf("list of %q: got [%s], want [%s]", q.Thread, got, want)
	}
}

// channels reports when cp's channels are not want, written "name=value …" by name.
func (c *check) channels(cp checkpointer.Checkpoint, want string) {
	c.Helper()
	var pairs []string
	for name, value := range cp.Channels {
		pairs = append(pairs, name+"="+string(value))
	}
	slices.Sort(pairs)
	if got := strings.Join(pairs, " "); got != want {
		c.Errorf("channels of %q: got [%s], want [%s]", cp.Ref.ID, got, want)
	}
}

// writes reports when cp's pending writes are not want, written "task/index/channel=value …".
func (c *check) writes(cp checkpointer.Checkpoint, want string) {
	c.Helper()
	var places []string
	for _, w := range cp.Writes {
		places = append(places, fmt.Sprintf("%s/%d/%s=%s", w.Task.ID, w.Index, w.Channel, w.Value))
	}
	if got := strings.Join(places, " "); got != want {
		c.Errorf("pending writes of %q: got [%s], want [%s]", cp.Ref.ID, got, want)
	}
}

func write(channel, value string) checkpointer.Write {
	return checkpointer.Write{Channel: channel, Value: []byte(value)}
}

func (c *check) putWrites(s checkpointer.Saver, at checkpointer.Ref, id string, w ...checkpointer.Write) {
	c.Helper()
	c.ok(s.PutWrites(c.Context(), at, task(id), w), "writes of task %q at %+v", id, at)
}

// task is the task of that id.
func task(id string) checkpointer.Task { return checkpointer.Task{ID: id} }

func ptr[T any](v T) *T { return &v }
