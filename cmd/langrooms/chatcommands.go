package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/checkpointer"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/terminal"
)

// commands are what the operator can type with a slash, beside the chat's own.
func (c *conversation) commands() []terminal.Command {
	return []terminal.Command{
		{Name: "who", Help: "list the delegates", Beside: true, Do: c.who},
		{Name: "threads", Help: "list the threads, newest first", Beside: true, Do: c.threads},
		{Name: "thread", Args: "[NAME]", Help: "go over to another thread, or say which this is", Do: c.goTo},
		{Name: "attach", Args: "[FILE]", Help: "send a file with the next message; without one, say which go with it", Beside: true, Do: c.attach},
		{Name: "detach", Help: "send none of them", Beside: true, Do: c.detach},
		{Name: "save", Args: "[N [PATH]]", Help: "save the Nth file of the thread; without N, list them", Beside: true, Do: c.save},
		{Name: "cost", Help: "say what this thread has cost, by member", Beside: true, Do: c.cost},
		{Name: "search", Args: "TEXT", Help: "find messages in all threads", Beside: true, Do: c.search},
		{Name: "answer", Args: "@NAME TEXT", Help: "answer the question of a delegate that waits", Turn: c.answer},
		{Name: "undo", Help: "take back the last message and what followed it", Do: c.undo},
		{Name: "edit", Help: "take it back to write it anew: another name of /undo", Do: c.undo},
		{Name: "retry", Help: "take it back and send it again", Do: c.retry},
		{Name: "quote", Args: "[N]", Help: "quote the Nth message from the end in the next one", Beside: true, Do: c.quote},
	}
}

func (c *conversation) who(context.Context, string) (terminal.Reply, error) {
	var lines []string
	for _, d := range c.app.Roster.Current().All() {
		l := describe(d)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("@%-16s %-7s %s", l.Name, l.Type, delegate.OneLine(l.Description, 200))))
	}
	if len(lines) == 0 {
		return terminal.Reply{Text: "There are no delegates."}, nil
	}
	return terminal.Reply{Text: strings.Join(lines, "\n")}, nil
}

// listedThreads is how many threads /threads shows.
const listedThreads = 20

func (c *conversation) threads(ctx context.Context, _ string) (terminal.Reply, error) {
	lister, ok := c.app.Saver.(checkpointer.Lister)
	if !ok {
		return terminal.Reply{Text: "This store cannot list its threads."}, nil
	}
	here, _ := c.current()
	var lines []string
	for info, err := range lister.Threads(ctx) {
		if err != nil {
			return terminal.Reply{}, err
		}
		if len(lines) == listedThreads {
			lines = append(lines, "…")
			break
		}
		mark := "  "
		if info.Thread == here {
			mark = "* "
		}
		lines = append(lines, mark+info.Updated.Local().Format(time.DateTime)+"  "+strings.TrimSpace(shownID(info.Thread)+"  "+titleOf(ctx, c.app.Saver, info.Thread)))
	}
	if len(lines) == 0 {
		return terminal.Reply{Text: "There are no threads yet."}, nil
	}
	return terminal.Reply{Text: strings.Join(lines, "\n")}, nil
}

func (c *conversation) goTo(ctx context.Context, name string) (terminal.Reply, error) {
	if name != "" {
		if err := langrooms.CheckThreadID(name); err != nil {
			return terminal.Reply{}, err
		}
		c.enter(context.WithoutCancel(ctx), name)
		if err := c.app.TakeUp(ctx, name); err != nil {
			return terminal.Reply{Text: c.opening(ctx)}, err
		}
	}
	return terminal.Reply{Text: c.opening(ctx)}, nil
}

// errNothingSaid says that there is no message of the operator's.
var errNothingSaid = errors.New("there is no message of yours on this thread")

// lastSaid finds the operator's last message, how it was typed, and the message before it.
func (c *conversation) lastSaid(ctx context.Context, thread string) (typed, before string, dropped int, err error) {
	found := false
	for m, err := range c.app.Saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true}) {
		switch {
		case errors.Is(err, checkpointer.ErrNotFound):
			return "", "", 0, errNothingSaid
		case err != nil:
			return "", "", 0, err
		case found:
			return typed, m.ID, dropped, nil
		}
		dropped++
		if m.Role != langrooms.RoleHuman || m.Stamp != nil && m.Stamp.From != langrooms.Operator {
			continue
		}
		found, typed = true, m.Text()
		if m.Stamp != nil && len(m.Stamp.To) > 0 {
			typed = "@" + strings.Join(m.Stamp.To, " @") + " " + typed
		}
	}
	if !found {
		return "", "", 0, errNothingSaid
	}
	return typed, "", dropped, nil
}

// takeBack rewinds the thread to before the operator's last message, which it returns.
func (c *conversation) takeBack(ctx context.Context) (typed string, dropped int, err error) {
	thread, _ := c.current()
	typed, before, dropped, err := c.lastSaid(ctx, thread)
	if err != nil {
		return "", 0, err
	}
	if before == "" { // it was the first
		return typed, dropped, threadsOf(c.app.Saver).Delete(ctx, thread)
	}
	_, err = threadsOf(c.app.Saver).Rewind(ctx, thread, before)
	return typed, dropped, err
}

func (c *conversation) undo(ctx context.Context, _ string) (terminal.Reply, error) {
	typed, dropped, err := c.takeBack(ctx)
	if err != nil {
		return terminal.Reply{}, err
	}
	return terminal.Reply{Text: fmt.Sprintf("Took back %d messages; what delegates have done stays done.", dropped), Draft: typed}, nil
}

func (c *conversation) retry(ctx context.Context, _ string) (terminal.Reply, error) {
	typed, dropped, err := c.takeBack(ctx)
	if err != nil {
		return terminal.Reply{}, err
	}
	return terminal.Reply{Text: fmt.Sprintf("Took back %d messages; sending yours again.", dropped), Send: typed}, nil
}

func (c *conversation) quote(ctx context.Context, args string) (terminal.Reply, error) {
	n := 1
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return terminal.Reply{Text: "/quote takes the number of a message, counted from the end: 1 is the last."}, nil
		}
	}
	thread, _ := c.current()
	for m, err := range c.app.Saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true}) {
		if errors.Is(err, checkpointer.ErrNotFound) {
			break
		}
		if err != nil {
			return terminal.Reply{}, err
		}
		if m.Role == langrooms.RoleTool || m.Text() == "" {
			continue
		}
		if n--; n == 0 {
			quoted := "> " + speaker(lineOf(m)) + ": " + strings.ReplaceAll(m.Text(), "\n", "\n> ")
			return terminal.Reply{Draft: quoted + "\n"}, nil
		}
	}
	return terminal.Reply{Text: "There is no such message."}, nil
}
