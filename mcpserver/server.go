package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/langrooms/langrooms/sharedsession"
)

// Config wires the tools.
type Config struct {
	// Rooms is what the tools work on. Required.
	Rooms *sharedsession.Service
	// Version is what the server calls itself beside its name.
	Version string
	// Failed is told of errors that are not the caller's; nil drops them.
	Failed func(error)
}

// New returns an MCP server whose every call is made by caller.
func New(cfg Config, caller sharedsession.Caller) *mcp.Server {
	if cfg.Failed == nil {
		cfg.Failed = func(error) {}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "langrooms", Version: cfg.Version}, nil)
	c := client{cfg, caller}
	for _, t := range c.tools() {
		s.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: t.schema(), Annotations: t.hints}, c.handler(t))
	}
	return s
}

// Handler serves the tools as streamable HTTP; who says who sent a request. It keeps no
// sessions: each request is its sender's, whatever came before.
func Handler(cfg Config, who func(*http.Request) sharedsession.Caller) http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return New(cfg, who(r)) },
		&mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a tool may wait longer than a body takes
		h.ServeHTTP(w, r)
	})
}

// client is the tools of one caller.
type client struct {
	cfg    Config
	caller sharedsession.Caller
}

// failure is a refusal as a result.
type failure struct {
	Error   string `json:"error"`
	Message string `json:"message"`
	// StopReason is why the room was closed, where that is the refusal.
	StopReason string `json:"stop_reason,omitempty"`
}

func (c client) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !c.cfg.Rooms.Enabled() {
			e := sharedsession.ErrNotEnabled
			return result(failure{Error: e.Code, Message: e.Message}, false), nil
		}
		var in arguments
		if len(req.Params.Arguments) > 0 {
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return result(failure{Error: "invalid_request", Message: "the arguments are not an object"}, true), nil
			}
		}
		out, err := t.call(ctx, in, req)
		var refusal *sharedsession.Error
		switch {
		case err == nil:
			return result(out, false), nil
		case errors.As(err, &refusal):
			return result(failure{refusal.Code, refusal.Message, refusal.StopReason}, true), nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		c.cfg.Failed(err)
		return result(failure{Error: "internal", Message: "the rooms' store failed"}, true), nil
	}
}

func result(v any, failed bool) *mcp.CallToolResult {
	data, err := json.Marshal(v)
	if err != nil {
		panic("mcpserver: a result does not marshal: " + err.Error())
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}, StructuredContent: json.RawMessage(data), IsError: failed}
}
