package setup

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/demo"
	"github.com/langrooms/langrooms/hotreload"
)

// demoPeers starts the demo's peers when the first part of the configuration needs them. They
// end with Close. a.mu is held.
func (a *App) demoPeers() (*demo.Peers, error) {
	if a.peers == nil {
		peers, err := demo.Start(context.Background(), a.options.Dir)
		if err != nil {
			return nil, err
		}
		a.peers = peers
	}
	return a.peers, nil
}

// demoEntry is an entry whose address is demo:name as one of the same type at a demo agent.
// a.mu is held.
func (a *App) demoEntry(d hotreload.Delegate, name string) (hotreload.Delegate, error) {
	if d.Type == "acp" {
		d.Command, d.Args, d.Env = demo.ACPCommand(name)
		if d.Command == "" {
			return d, fmt.Errorf("there is no demo agent %q for type acp", name)
		}
		return d, nil
	}
	peers, err := a.demoPeers()
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
