package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/runs"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/terminal"
	"github.com/langrooms/langrooms/thread"
)

func (p *program) threadCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the threads, newest first; with -t only that one", Args: noArgs}
	list.RunE = p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		return p.threadList(ctx, saver, list.Flags().Changed("thread"))
	})
	list.Flags().StringVarP(&p.thread, "thread", "t", "", "list only this `THREAD`")
	p.jsonFlag(list)
	var costs, all bool
	show := &cobra.Command{Use: "show", Short: "Show a thread's messages", Args: noArgs}
	show.RunE = p.withSaver(func(ctx context.Context, saver checkpointer.Saver) error {
		if err := p.threadShow(ctx, saver, costs, all); err != nil || !costs {
			return err
		}
		return p.showCosts(ctx, saver)
	})
	p.threadFlag(show)
	show.Flags().BoolVar(&costs, "cost", false, "say of each message what it cost, and at the end what the thread did")
	show.Flags().BoolVar(&all, "all", false, "show what summaries have replaced in place of them, as far back as it is kept")
	p.jsonFlag(show)
	return group("thread", "Look at and change the stored threads", list, show, p.searchCommand(), p.saveCommand(), p.deleteCommand(), p.rewindCommand(),
		p.forkCommand(), p.compactCommand(), p.uncompactCommand(), p.exportCommand(), p.importCommand())
}

// withSaver runs a command on the configured store.
func (p *program) withSaver(do func(context.Context, checkpointer.Saver) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		saver, err := setup.OpenStore(c.Context(), setup.Options{Path: p.config, Required: p.explicit(c)})
		if err != nil {
			return err
		}
		return errors.Join(p.missing(do(c.Context(), saver)), saver.Close())
	}
}

// missing says in one way that the thread of the command does not exist.
func (p *program) missing(err error) error {
	if errors.Is(err, checkpointer.ErrNotFound) {
		return fmt.Errorf("there is no thread %s", shownID(p.thread))
	}
	return err
}

// threadLine is one line of thread list --json.
type threadLine struct {
	Thread  string    `json:"thread"`
	Updated time.Time `json:"updated"`
	// Entries is the length of the thread's log: what was rewound or compacted counts too.
	Entries int64 `json:"entries"`
	// Title is the beginning of the first message; absent where there is none to show.
	Title string `json:"title,omitempty"`
}

func (p *program) threadList(ctx context.Context, saver checkpointer.Saver, one bool) error {
	lister, ok := saver.(checkpointer.Lister)
	if !ok {
		return errors.New("this store cannot list its threads")
	}
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return err
		}
		if one && info.Thread != p.thread || runs.Internal(info.Thread) {
			continue
		}
		line := threadLine{info.Thread, info.Updated, info.Length, titleOf(ctx, saver, info.Thread)}
		if p.json {
			err = p.line(line)
		} else {
			_, err = fmt.Fprintln(p.out, terminal.Clean(strings.TrimSpace(fmt.Sprintf("%s  %5d  %s  %s",
				info.Updated.Local().Format(time.DateTime), info.Length, shownID(info.Thread), line.Title))))
		}
		if err != nil || one {
			return err
		}
	}
	if one {
		return checkpointer.ErrNotFound
	}
	return nil
}

// shownID keeps a thread id on one line, whatever it holds.
func shownID(id string) string {
	if quoted := strconv.Quote(id); quoted != `"`+id+`"` || strings.TrimSpace(id) != id {
		return quoted
	}
	return id
}

// messageLine is one line of thread show --json. What is zero is absent.
type messageLine struct {
	ID        string         `json:"id"`
	Time      time.Time      `json:"time"`
	Role      langrooms.Role `json:"role"`
	Text      string         `json:"text"`
	From      string         `json:"from,omitempty"`
	To        []string       `json:"to,omitempty"`
	Exchange  string         `json:"exchange,omitempty"`
	Round     int            `json:"round,omitempty"`
	Failed    bool           `json:"failed,omitempty"`
	Late      bool           `json:"late,omitempty"`
	Incognito bool           `json:"incognito,omitempty"`
	// Usage is what the message cost; absent when nothing of it is known.
	Usage *langrooms.Usage `json:"usage,omitempty"`

	Incomplete bool `json:"incomplete,omitempty"`
}

func lineOf(m langrooms.Message) messageLine {
	l := messageLine{ID: m.ID, Time: m.Time, Role: m.Role, Text: textOf(m), Usage: m.Cost()}
	if s := m.Stamp; s != nil {
		l.From, l.To, l.Exchange, l.Round = s.From, s.To, s.Exchange, s.Round
		l.Failed, l.Late, l.Incognito, l.Incomplete = s.Failed, s.Late, s.Incognito, s.Incomplete
	}
	return l
}

// textOf is the message for a reader: its words, and tool traffic in brackets.
func textOf(m langrooms.Message) string {
	var pieces []string
	for _, p := range m.Parts {
		switch {
		case p.ToolCall != nil:
			pieces = append(pieces, fmt.Sprintf("[calls %s %s]", p.ToolCall.Name, p.ToolCall.Arguments))
		case p.ToolResult != nil:
			pieces = append(pieces, p.ToolResult.Content)
		case p.Kind == langrooms.PartText:
			pieces = append(pieces, p.Text)
		case p.MIMEType != "":
			pieces = append(pieces, "["+strings.TrimSpace(p.Name+" "+p.MIMEType)+"]")
		default:
			pieces = append(pieces, fmt.Sprintf("[%s %s]", p.Kind, p.URL))
		}
	}
	return strings.Join(pieces, "\n")
}

func (p *program) threadShow(ctx context.Context, saver checkpointer.Saver, costs, all bool) error {
	if err := langrooms.CheckThreadID(p.thread); err != nil {
		return err
	}
	messages := saver.Messages(ctx, checkpointer.Ref{Thread: p.thread}, checkpointer.Range{})
	if all {
		messages = whole(ctx, saver, p.thread)
	}
	for m, err := range messages {
		if errors.Is(err, checkpointer.ErrNotFound) {
			return err
		}
		if err == nil && p.json {
			err = p.line(lineOf(m))
		} else if err == nil {
			_, err = fmt.Fprint(p.out, terminal.Clean(paragraph(lineOf(m), costs)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole yields a thread as if nothing of it had been compacted.
func whole(ctx context.Context, saver checkpointer.Saver, id string) iter.Seq2[langrooms.Message, error] {
	return func(yield func(langrooms.Message, error) bool) {
		messages, err := thread.Whole(ctx, saver, id)
		if err != nil {
			yield(langrooms.Message{}, err)
			return
		}
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// speaker says who said it, and to whom.
func speaker(l messageLine) string {
	who := map[langrooms.Role]string{langrooms.RoleHuman: langrooms.Operator, langrooms.RoleAI: langrooms.Assistant}[l.Role]
	if who == "" {
		who = string(l.Role)
	}
	if l.From != "" {
		who = l.From
	}
	if len(l.To) > 0 {
		who += " → " + strings.Join(l.To, ", ")
	}
	return who
}

func paragraph(l messageLine, costs bool) string {
	who := speaker(l)
	for _, mark := range []struct {
		set  bool
		word string
	}{{l.Failed, "failed"}, {l.Late, "late"}, {l.Incognito, "incognito"}, {l.Incomplete, "incomplete"}} {
		if mark.set {
			who += " (" + mark.word + ")"
		}
	}
	if costs && l.Usage != nil {
		who += "  " + costOf(l.Usage)
	}
	head := fmt.Sprintf("%s  %s  %s\n", l.Time.Local().Format(time.DateTime), l.ID, who)
	return head + "    " + strings.ReplaceAll(l.Text, "\n", "\n    ") + "\n"
}

// line prints v as one line of JSON.
func (p *program) line(v any) error {
	line, err := terminal.JSONLine(v)
	if err == nil {
		_, err = p.out.Write(line)
	}
	return err
}
