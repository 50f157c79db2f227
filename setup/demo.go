package setup

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
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

// demoDelegate makes the delegate of an entry whose address is demo:name: the same adapter
// as for any peer of its type, at a demo agent. a.mu is held.
func (a *App) demoDelegate(d hotreload.Delegate, name string) (delegate.Delegate, error) {
	if d.Type == "acp" {
		var env map[string]string
		d.Command, d.Args, env = demo.ACPCommand(name)
		if d.Command == "" {
			return nil, fmt.Errorf("there is no demo agent %q for type acp", name)
		}
		config := a.acpConfig(d)
		config.Env = env
		return acpagent.New(config)
	}
	peers, err := a.demoPeers()
	if err != nil {
		return nil, err
	}
	url, ok := peers.Resolve(name, d.Type)
	if !ok {
		return nil, fmt.Errorf("there is no demo agent %q for type %s", name, d.Type)
	}
	d.URL = url
	key := func() (string, error) { return peers.Key(), nil }
	if d.Type == "a2a" {
		config := a.a2aConfig(d)
		config.Scheme, config.Token = a2aagent.SchemeBearer, key
		return a2aagent.New(config)
	}
	config := openaiConfig(d)
	config.APIKey = key
	return openaiagent.New(config)
}
