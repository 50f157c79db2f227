package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/terminal"
)

// hit is a message that holds what is searched for: one line of thread search --json.
type hit struct {
	Thread string `json:"thread"`
	messageLine
}

// wanted matches text as a person searches it: in either case, composed or not, and with
// any white space for its own.
func wanted(text string) (query, error) {
	words := strings.Fields(norm.NFC.String(text))
	if len(words) == 0 {
		return query{}, usageError{errors.New("there is nothing to search for")}
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = regexp.QuoteMeta(word)
	}
	re, err := regexp.Compile("(?i)" + strings.Join(quoted, `\s+`))
	return query{re, words}, err
}

// query is what is searched for.
type query struct {
	*regexp.Regexp
	words []string
}

// stored are the words, as far as the stored message holds them too: not what [textOf] writes around
// tool traffic.
func (q query) stored() (words []string) {
	for _, word := range q.words {
		if word = strings.Trim(word, "[]"); !strings.Contains("calls", strings.ToLower(word)) {
			words = append(words, word)
		}
	}
	return words
}

// search reads the store's threads, the newest first, each from its newest message back, and
// yields the messages that hold what is wanted; only is the one thread to read, empty for all.
// Messages that were said off the record are left out. A thread that cannot be read is an
// error beside the hits; a store that cannot be reached ends the search.
func search(ctx context.Context, saver checkpointer.Saver, want query, only string) iter.Seq2[hit, error] {
	return func(yield func(hit, error) bool) {
		for thread, err := range threadsToSearch(ctx, saver, want, only) {
			if err != nil {
				yield(hit{}, err)
				return
			}
			for h, err := range searchOne(ctx, saver, want, thread) {
				if errors.Is(err, checkpointer.ErrNotFound) && only == "" {
					break // it was deleted meanwhile
				}
				if !yield(h, err) || err != nil && !errors.Is(err, checkpointer.ErrFormat) {
					return
				}
			}
		}
	}
}

// searchOne yields the messages of a thread that hold what is wanted, the newest first. An error is the last.
func searchOne(ctx context.Context, saver checkpointer.Saver, want query, thread string) iter.Seq2[hit, error] {
	return func(yield func(hit, error) bool) {
		for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true}) {
			if err != nil {
				yield(hit{}, err)
				return
			}
			l := lineOf(m)
			if !l.Incognito && want.MatchString(norm.NFC.String(l.Text)) && !yield(hit{thread, l}, nil) {
				return
			}
		}
	}
}

// threadsToSearch yields the threads of people in which it can be found, or only that one. A store
// without an index names them all.
func threadsToSearch(ctx context.Context, saver checkpointer.Saver, want query, only string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if only != "" {
			yield(only, langrooms.CheckThreadID(only))
			return
		}
		if searcher, ok := saver.(checkpointer.Searcher); ok {
			threads, ok, err := searcher.MayHold(ctx, want.stored())
			if err != nil {
				yield("", err)
				return
			}
			for _, thread := range threads {
				if !runs.Internal(thread) && !yield(thread, nil) {
					return
				}
			}
			if ok {
				return
			}
		}
		lister, ok := saver.(checkpointer.Lister)
		if !ok {
			yield("", errors.New("this store cannot list its threads; name one with -t"))
			return
		}
		for info, err := range lister.Threads(ctx) {
			if err == nil && runs.Internal(info.Thread) {
				continue
			}
			if !yield(info.Thread, err) || err != nil {
				return
			}
		}
	}
}

// excerptRunes is how much of a message stands before and after what was found in it.
const excerptRunes = 60

// excerpt is what was found and what stands around it, on one line.
func excerpt(text string, want query) string {
	text = norm.NFC.String(text)
	at := want.FindStringIndex(text)
	if at == nil {
		return ""
	}
	before, after := []rune(text[:at[0]]), []rune(text[at[1]:])
	head, tail := "", ""
	if n := len(before) - excerptRunes; n > 0 {
		before, head = slices.Clone(before[n:]), "…"
	}
	if len(after) > excerptRunes {
		after, tail = after[:excerptRunes], "…"
	}
	found := text[at[0]:at[1]]
	if utf8.RuneCountInString(found) > 3*excerptRunes {
		found = string([]rune(found)[:3*excerptRunes]) + "…"
	}
	return strings.Join(strings.Fields(head+string(before)+found+string(after)+tail), " ")
}

func (p *program) searchCommand() *cobra.Command {
	var text string
	var most int
	c := &cobra.Command{Use: "search TEXT", Short: "Find the messages that hold a text, in all threads; with -t only in that one",
		Long: "Find the messages that hold a text, in either case, the newest threads first.\n\n" +
			"SQLite has an index for it, made at the first search; on Redis the messages of the threads are read,\n" +
			"which takes as long as reading them does. What is found is printed at once. What was said off the record is left out.",
		Args: oneArg(&text)}
	c.RunE = p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		only := ""
		if c.Flags().Changed("thread") {
			only = p.thread
		}
		return p.search(ctx, saver, text, only, most)
	})
	c.Flags().StringVarP(&p.thread, "thread", "t", "", "search only this `THREAD`")
	c.Flags().IntVarP(&most, "most", "n", 100, "end after `N` messages; 0 finds all")
	p.jsonFlag(c)
	return c
}

func (p *program) search(ctx context.Context, saver checkpointer.Saver, text, only string, most int) error {
	want, err := wanted(text)
	if err != nil {
		return err
	}
	found := 0
	var failed []error
	for h, err := range search(ctx, saver, want, only) {
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if most > 0 && found == most {
			fmt.Fprintf(p.diag, "There are more than %d; -n 0 finds all.\n", most)
			break
		}
		found++
		if p.json {
			err = p.line(h)
		} else {
			_, err = fmt.Fprint(p.out, terminal.Clean(fmt.Sprintf("%s  %s  %s  %s\n    %s\n",
				h.Time.Local().Format(time.DateTime), shownID(h.Thread), h.ID, speaker(h.messageLine), excerpt(h.Text, want))))
		}
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	if found == 0 && len(failed) == 0 {
		fmt.Fprintln(p.diag, "Nothing is found.")
	}
	return errors.Join(failed...)
}

// foundInChat is how many messages /search shows.
const foundInChat = 10

func (c *conversation) search(ctx context.Context, text string) (terminal.Reply, error) {
	want, err := wanted(text)
	if err != nil {
		return terminal.Reply{Text: "/search takes the text to find."}, nil
	}
	var lines []string
	for h, err := range search(ctx, c.app.Saver, want, "") {
		if errors.Is(err, checkpointer.ErrFormat) {
			lines = append(lines, "A thread cannot be read: "+err.Error())
			continue
		}
		if err != nil {
			return terminal.Reply{}, err
		}
		if len(lines) >= foundInChat {
			lines = append(lines, "… There are more; langrooms thread search finds them.")
			break
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s: %s", h.Time.Local().Format(time.DateTime), shownID(h.Thread), speaker(h.messageLine), excerpt(h.Text, want)))
	}
	if len(lines) == 0 {
		return terminal.Reply{Text: "Nothing is found."}, nil
	}
	return terminal.Reply{Text: strings.Join(lines, "\n")}, nil
}
