package terminal

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// Command is what the operator can type with a slash in front.
type Command struct {
	// Name is without the slash, Args how its arguments are written in /help.
	Name, Args string
	// Help is one line.
	Help string
	// Beside says that it may run while a turn does; others wait for their place.
	Beside bool
	// Do runs it.
	Do func(ctx context.Context, args string) (Reply, error)
	// Turn, instead of Do, is a turn in place of a message's: it is shown and stopped as one.
	Turn func(ctx context.Context, in Input) (langrooms.Result, error)
}

// Reply is what a command comes to. What is empty is left out.
type Reply struct {
	// Text is shown.
	Text string
	// Send is taken as the operator's next message.
	Send string
	// Draft is put in front of the cursor, where a screen has one.
	Draft string

	stop bool // what runs, once Send has its place in front of what is queued
}

// slash reads text as a command: a slash, a name of letters, and what follows. A path, such
// as /etc/hosts, is none, nor is anything with white space in front.
func slash(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	name = rest[:end]
	for _, r := range name {
		if !unicode.IsLetter(r) && r != '-' {
			return "", "", false
		}
	}
	return strings.ToLower(name), strings.TrimSpace(rest[end:]), name != ""
}

// commands returns what can be typed here: the chat's own and those it was given.
func (c *Chat) commands() []Command {
	return append([]Command{
		{Name: "help", Help: "say what can be typed", Beside: true, Do: func(context.Context, string) (Reply, error) {
			return Reply{Text: c.help()}, nil
		}},
		{Name: "stop", Args: "[@NAME …]", Help: "stop the turn that runs, or these members alone", Beside: true, Do: c.doStop},
		{Name: "skip", Help: "stop who is at work and go on with the next", Beside: true, Do: c.doSkip},
		{Name: "now", Args: "TEXT", Help: "stop the turn that runs and send this first", Beside: true, Do: c.doNow},
		{Name: "quit", Help: "end the chat (also /exit, Ctrl-D)", Beside: true, Do: func(context.Context, string) (Reply, error) {
			c.leave()
			return Reply{}, nil
		}},
	}, c.Commands...)
}

// command finds one by its name.
func (c *Chat) command(name string) (Command, bool) {
	if name == "exit" {
		name = "quit"
	}
	for _, cmd := range c.commands() {
		if cmd.Name == name {
			return cmd, true
		}
	}
	return Command{}, false
}

func (c *Chat) doStop(_ context.Context, args string) (Reply, error) {
	if args != "" {
		return c.stopMembers(args), nil
	}
	if !c.interrupt() {
		return Reply{Text: "No turn is running."}, nil
	}
	return Reply{}, nil
}

// stopMembers stops single members; the turn goes on without them.
func (c *Chat) stopMembers(args string) Reply {
	asked := c.steering.Asked()
	a := room.Parse(args, asked)
	if a.Kind != room.NoMessage || a.Group != "" {
		if len(asked) == 0 {
			return Reply{Text: "No delegate is at work."}
		}
		return Reply{Text: "/stop takes the names of delegates that are at work: @" + strings.Join(asked, " @") + "."}
	}
	for _, name := range a.To {
		c.steering.Stop(name, langrooms.Stop{Kind: langrooms.ErrorStopped})
	}
	return Reply{}
}

func (c *Chat) doSkip(_ context.Context, args string) (Reply, error) {
	if args != "" {
		return Reply{Text: "/skip takes no argument; /stop @NAME stops one."}, nil
	}
	if len(c.steering.Stop("", langrooms.Stop{Kind: langrooms.ErrorStopped})) == 0 {
		return Reply{Text: "No delegate is at work."}, nil
	}
	return Reply{}, nil
}

func (c *Chat) doNow(_ context.Context, args string) (Reply, error) {
	return Reply{Send: args, stop: true}, nil
}

// help lists the commands and keys.
func (c *Chat) help() string {
	var b strings.Builder
	for _, cmd := range c.commands() {
		fmt.Fprintf(&b, "%-22s %s\n", strings.TrimSpace("/"+cmd.Name+" "+cmd.Args), cmd.Help)
	}
	b.WriteString("@NAME TEXT             address a delegate; several names make a room; anything else is for the lead\n")
	b.WriteString("Alt-Enter, or \\ at the end: another line · Ctrl-X Ctrl-E: $EDITOR · Tab completes · Ctrl-C clears the line, or stops the turn")
	return b.String()
}

// unknown refuses a command that does not exist.
func (c *Chat) unknown(name string) string {
	text := fmt.Sprintf("There is no command /%s. /help lists them; a message that begins so needs a space in front.", name)
	var near []string
	for _, cmd := range c.commands() {
		if strings.HasPrefix(cmd.Name, name) || strings.HasPrefix(name, cmd.Name) {
			near = append(near, "/"+cmd.Name)
		}
	}
	if len(near) > 0 {
		text += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// perform runs a command and shows what it came to. It returns the rest of the reply.
func (c *Chat) perform(ctx context.Context, name, args string) Reply {
	cmd, ok := c.command(name)
	if !ok {
		c.Printer.Notice(c.unknown(name))
		return Reply{}
	}
	reply, err := cmd.Do(ctx, args)
	if reply.Text != "" {
		c.Printer.Notice(reply.Text)
	}
	if err != nil {
		c.Printer.Error(err)
	}
	return reply
}
