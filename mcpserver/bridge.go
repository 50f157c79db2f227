package mcpserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Remote is a server that a bridge leads to.
type Remote struct {
	// URL is its MCP endpoint, Key what is sent along as a bearer token.
	URL, Key string
	// Version is what the bridge calls itself beside its name.
	Version string
}

// Bridge offers the tools of a remote server over t, for a client that cannot reach it over
// HTTP, until the client goes or ctx ends. The calls are the key's owner's.
func Bridge(ctx context.Context, r Remote, t mcp.Transport) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "langrooms", Version: r.Version}, nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "langrooms", Version: r.Version}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(ctx context.Context, n *mcp.ProgressNotificationClientRequest) {
			for near := range s.Sessions() {
				_ = near.NotifyProgress(ctx, n.Params) // the client may have gone: Run says so
			}
		}})
	far, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: r.URL, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: bearer(r.Key)}}, nil)
	if err != nil {
		return fmt.Errorf("reaching %s: %w", r.URL, err)
	}
	defer far.Close()
	for tool, err := range far.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the tools of %s: %w", r.URL, err)
		}
		s.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return far.CallTool(ctx, &mcp.CallToolParams{Meta: req.Params.Meta, Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	return s.Run(ctx, t)
}

// bearer sends requests with a key.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
