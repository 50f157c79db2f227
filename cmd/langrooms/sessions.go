package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/mcpserver"
	"github.com/langrooms/langrooms/roomsapi"
	"github.com/langrooms/langrooms/setup"
	"github.com/langrooms/langrooms/sharedsession"
)

// newRooms makes the shared sessions of an app; room is its Room, or one that stands for it.
func (p *program) newRooms(app *setup.App, room func() (exchange.Room, func())) (*sharedsession.Service, error) {
	return sharedsession.New(sharedsession.Config{
		Saver: app.Saver, Room: room,
		Enabled: func() bool { return app.Config().SharedSessions.Enabled },
		Defaults: func() sharedsession.Budgets {
			d := app.Config().SharedSessions.Defaults
			b := sharedsession.Budgets{MaxMessages: d.MaxMessages, TTLHours: float64(d.TTLHours)}
			if d.MaxCostUSD > 0 {
				b.MaxCostUSD = &d.MaxCostUSD
			}
			return b
		},
		Price:  func(agent string) (sharedsession.Price, bool) { return priceOf(app, agent) },
		Failed: func(err error) { p.said("%v", err) },
	})
}

// priceOf is the price of a delegate's entry; a part that is not said is unknown, and then
// all of it is.
func priceOf(app *setup.App, agent string) (sharedsession.Price, bool) {
	for _, d := range app.Config().Delegates {
		if in, out := d.Cost.InputPerMTok, d.Cost.OutputPerMTok; d.Name == agent && in != nil && out != nil {
			return sharedsession.Price{InputPerMTok: *in, OutputPerMTok: *out}, true
		}
	}
	return sharedsession.Price{}, false
}

// callerOf is an identity as shared sessions know it.
func callerOf(i gate.Identity) sharedsession.Caller {
	return sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.Kind(i.Kind), Name: i.Name},
		Admin: i.Admin, Agents: i.Agents, Owner: i.Owner}
}

// mountRooms serves the shared sessions.
func (s *server) mountRooms(mux *http.ServeMux) error {
	rooms, err := s.p.newRooms(s.app, seenRoom(s.app, s.seen))
	if err != nil {
		return err
	}
	who := func(r *http.Request) sharedsession.Caller {
		i, _ := gate.From(r.Context()) // the gate lets nobody else through
		return callerOf(i)
	}
	failed := func(err error) { s.p.said("%v", err) }
	api, err := roomsapi.New(roomsapi.Config{Rooms: rooms, Who: who, Failed: failed})
	if err != nil {
		rooms.Close()
		return err
	}
	for _, pattern := range api.Patterns() {
		mux.Handle(pattern, api)
	}
	mux.Handle("/mcp", mcpserver.Handler(mcpserver.Config{Rooms: rooms, Version: version(), Failed: failed}, who))
	s.rooms = rooms
	return nil
}

func (p *program) mcpCommand() *cobra.Command {
	var variable, url string
	c := &cobra.Command{Use: "mcp", Short: "Offer shared sessions as MCP tools over standard input and output", Args: noArgs,
		Long: "Offer shared sessions as MCP tools over standard input and output, to one caller: the identity of\n" +
			"server.keys whose key the variable of --key-env holds. Without server.keys that is the operator.\n\n" +
			"With --url the tools are those of a running server, whose sessions need no store here.",
		RunE: func(c *cobra.Command, _ []string) error {
			if url != "" {
				return mcpserver.Bridge(c.Context(), mcpserver.Remote{URL: url, Key: os.Getenv(variable), Version: version()}, &mcp.StdioTransport{})
			}
			return p.mcp(c.Context(), p.explicit(c), variable)
		}}
	c.Flags().StringVar(&variable, "key-env", "", "the `VARIABLE` that holds the caller's key")
	c.Flags().StringVar(&url, "url", "", "the `URL` of a running server's /mcp")
	return c
}

// mcp serves one caller until its input ends.
func (p *program) mcp(ctx context.Context, required bool, variable string) (err error) {
	app, err := setup.Open(ctx, setup.Options{Path: p.config, Required: required, Notify: func(text string) { p.said("%s", text) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	who, err := identify(app, variable)
	if err != nil {
		return err
	}
	rooms, err := p.newRooms(app, app.Room)
	if err != nil {
		return err
	}
	defer rooms.Close()
	s := mcpserver.New(mcpserver.Config{Rooms: rooms, Version: version(), Failed: func(err error) { p.said("%v", err) }}, callerOf(who))
	if err := s.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// The refusals of langrooms mcp.
var (
	errNoKey    = errors.New("server.keys holds keys, and none is given: name the variable that holds yours with --key-env")
	errWrongKey = errors.New("the key is none of server.keys")
)

// identify says who the key in a variable belongs to.
func identify(app *setup.App, variable string) (gate.Identity, error) {
	keys := func() []gate.Key { return keysOf(app.Config().Server.Keys) }
	if len(keys()) == 0 {
		return gate.Operator, nil
	}
	if variable == "" {
		return gate.Identity{}, errNoKey
	}
	g, err := gate.New(gate.Config{Addr: "127.0.0.1:0", Keys: keys})
	if err != nil {
		return gate.Identity{}, err
	}
	who, ok := g.Identify(os.Getenv(variable))
	if !ok {
		return gate.Identity{}, fmt.Errorf("%s: %w", variable, errWrongKey)
	}
	return who, nil
}

// theOperator is who the commands of langrooms room act as.
var theOperator = sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.User, Name: langrooms.Operator}, Admin: true}
