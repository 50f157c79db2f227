package setup

import (
	"context"
	"fmt"
	"sync"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// demoPeers are the demo's peers, which start when the first part of the configuration needs
// them.
type demoPeers struct {
	dir    string
	mu     sync.Mutex
	peers  *demo.Peers
	closed bool
}

// started returns them at work, ErrClosed after Close.
func (p *demoPeers) started() (*demo.Peers, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if p.peers == nil {
		peers, err := demo.Start(context.Background(), p.dir)
		if err != nil {
			return nil, err
		}
		p.peers = peers
	}
	return p.peers, nil
}

// Close ends them. Idempotent.
func (p *demoPeers) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.peers == nil {
		return nil
	}
	return p.peers.Close()
}

// entry is an entry whose address is demo:name as one of the same type at a demo agent.
func (p *demoPeers) entry(d hotreload.Delegate, name string) (hotreload.Delegate, error) {
	if acp, ok := d.Settings.(*acpagent.Settings); ok {
		at := *acp
		at.Command, at.Args, at.Env = demo.ACPCommand(name)
		if at.Command == "" {
			return d, fmt.Errorf("there is no demo agent %q for type acp", name)
		}
		d.Settings = &at
		return d, nil
	}
	peers, err := p.started()
	if err != nil {
		return d, err
	}
	url, ok := peers.Resolve(name, d.Type)
	if !ok {
		return d, fmt.Errorf("there is no demo agent %q for type %s", name, d.Type)
	}
	key := setting.NewSecret(peers.Key())
	switch s := d.Settings.(type) {
	case *a2aagent.Settings:
		at := *s
		at.URL, at.Auth = url, a2aagent.Auth{Scheme: a2aagent.SchemeBearer, Credential: key}
		d.Settings = &at
	case *openaiagent.Settings:
		at := *s
		at.URL, at.APIKey = url, key
		d.Settings = &at
	}
	return d, nil
}
