package setup

import (
	"context"
	"fmt"
	"sync"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/hotreload"
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
	if d.Type == "acp" {
		d.Command, d.Args, d.Env = demo.ACPCommand(name)
		if d.Command == "" {
			return d, fmt.Errorf("there is no demo agent %q for type acp", name)
		}
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
	d.URL, d.APIKey = url, hotreload.NewSecret(peers.Key())
	d.Auth = hotreload.Auth{Scheme: a2aagent.SchemeBearer, Credential: d.APIKey}
	return d, nil
}
