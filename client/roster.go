package client

import (
	"context"
	"net/http"
	"time"
)

// Delegate is one that the caller reaches.
type Delegate struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// Delegates lists whom the caller reaches, in the order of the roster.
func (c *Client) Delegates(ctx context.Context) ([]Delegate, error) {
	var a struct{ Delegates []Delegate }
	err := c.call(ctx, http.MethodGet, nil, &a, nil, "delegates")
	return a.Delegates, err
}

// Probe is what the server found when it asked a delegate whether it is there.
type Probe struct {
	OK bool
	// Kind and Detail say what went wrong.
	Kind, Detail string
	Latency      time.Duration
	// Version and Protocol are the peer's, as far as it tells.
	Version, Protocol string
}

// Probe asks a delegate whether it is there. Only admins may. hotreload.ErrUnknownDelegate.
func (c *Client) Probe(ctx context.Context, name string) (Probe, error) {
	var a struct {
		OK                              bool
		Kind, Detail, Version, Protocol string
		LatencyMS                       int64 `json:"latency_ms"`
	}
	err := c.call(ctx, http.MethodPost, nil, &a, nil, "delegates", name, "probe")
	return Probe{a.OK, a.Kind, a.Detail, time.Duration(a.LatencyMS) * time.Millisecond, a.Version, a.Protocol}, err
}
