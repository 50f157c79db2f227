package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/sharedsession"
	"github.com/langrooms/langrooms/terminal"
)

// errNotEnabled says that the configuration has shared sessions off.
var errNotEnabled = errors.New("shared sessions are not enabled: shared_sessions.enabled is false")

func (p *program) roomCommand() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List the shared sessions, newest activity first", Args: noArgs}
	list.RunE = p.withRooms(p.roomList)
	show := &cobra.Command{Use: "show ROOM", Short: "Show a shared session and its transcript", Args: oneRoom}
	show.RunE = p.withRooms(p.roomShow)
	post := &cobra.Command{Use: "post ROOM TEXT", Short: "Post a message as the operator and wait for what it causes", Args: roomAndText}
	post.RunE = p.withRooms(p.roomPost)
	var reason string
	shut := &cobra.Command{Use: "close ROOM", Short: "Close a shared session", Args: oneRoom}
	shut.RunE = p.withRooms(func(ctx context.Context, s *sharedsession.Service, args []string) error {
		return p.roomClose(ctx, s, args[0], reason)
	})
	shut.Flags().StringVar(&reason, "reason", "", "the `REASON`, at most 50 characters")
	for _, c := range []*cobra.Command{list, show, post, shut} {
		p.jsonFlag(c)
	}
	var format string
	export := &cobra.Command{Use: "export ROOM", Short: "Write a shared session as Markdown or JSON", Args: oneRoom}
	export.RunE = p.withRooms(func(ctx context.Context, s *sharedsession.Service, args []string) error {
		f := sharedsession.Format(format)
		if f != sharedsession.Markdown && f != sharedsession.JSON {
			return usageError{fmt.Errorf("--format is %q, it must be md or json", format)}
		}
		return s.Export(ctx, theOperator, args[0], f, terminal.CleanWriter(p.out, f == sharedsession.JSON))
	})
	export.Flags().StringVar(&format, "format", string(sharedsession.Markdown), "`md` or json")
	return group("room", "Look at and take part in shared sessions", list, show, post, shut, export)
}

func oneRoom(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one ROOM", c.CommandPath())}
	}
	return nil
}

func roomAndText(c *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usageError{fmt.Errorf("%s takes a ROOM and a TEXT", c.CommandPath())}
	}
	return nil
}

// withRooms runs a command on the shared sessions of the configured store.
func (p *program) withRooms(do func(context.Context, *sharedsession.Service, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		app, err := setup.Open(c.Context(), setup.Options{Path: p.config, Required: p.explicit(c), Notify: func(text string) { p.said("%s", text) }})
		if err != nil {
			return err
		}
		rooms, err := p.newRooms(app, app.Room)
		if err != nil {
			return errors.Join(err, app.Close())
		}
		if err = errNotEnabled; rooms.Enabled() {
			err = do(c.Context(), rooms, args)
		}
		rooms.Close()
		return errors.Join(err, app.Close())
	}
}

func (p *program) roomList(ctx context.Context, s *sharedsession.Service, _ []string) error {
	all, err := s.All(ctx, theOperator)
	if err != nil {
		return err
	}
	for _, r := range all {
		if p.json {
			err = p.line(r)
		} else {
			_, err = fmt.Fprintf(p.out, "%s  %-6s  %4d  %s\n", r.ID, r.Status, r.MessageCount, terminal.Clean(strings.Join(strings.Fields(r.Name), " ")))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *program) roomShow(ctx context.Context, s *sharedsession.Service, args []string) error {
	if !p.json {
		return s.Export(ctx, theOperator, args[0], sharedsession.Markdown, terminal.CleanWriter(p.out, false))
	}
	most := sharedsession.MaxLimit
	d, err := s.Read(ctx, theOperator, args[0], sharedsession.Page{Limit: &most})
	if err != nil {
		return err
	}
	return p.line(d)
}

func (p *program) roomPost(ctx context.Context, s *sharedsession.Service, args []string) error {
	posted, err := s.Post(ctx, theOperator, args[0], sharedsession.NewPost{Content: args[1], Wait: true})
	if err != nil {
		return err
	}
	if p.json {
		return p.line(posted)
	}
	for _, m := range posted.Messages {
		who := "room"
		if m.Sender != nil {
			who = m.Sender.Name
		}
		if _, err := fmt.Fprintf(p.out, "%s: %s\n", terminal.Clean(who), terminal.Clean(m.Content)); err != nil {
			return err
		}
	}
	return nil
}

// summaryBound is how long a close waits for the scribe's words.
const summaryBound = 9 * time.Second

func (p *program) roomClose(ctx context.Context, s *sharedsession.Service, id, reason string) error {
	done, err := s.Shut(ctx, theOperator, id, reason)
	if err != nil {
		return err
	}
	if !done.AlreadyClosed {
		settling, cancel := context.WithTimeout(ctx, summaryBound)
		defer cancel()
		if err := s.Settle(settling, theOperator, id); err != nil && settling.Err() == nil {
			return err
		}
	}
	if p.json {
		return p.line(done)
	}
	if done.AlreadyClosed {
		p.said("The room was closed already: %s.", done.StopReason)
		return nil
	}
	p.said("Closed the room.")
	return nil
}
