package main

import (
	"crypto/rand"
	"net"
	"os"
	"sync"

	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/gate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// ownDoor is the server's own MCP as its agents are given it (spec: shared sessions, section 7,
// "the same room, other doors"): with a key for each agent, made for this process and kept
// nowhere else.
type ownDoor struct {
	mu   sync.Mutex
	url  string            // "" until the server listens
	keys map[string]string // by agent
}

// ownKeyVariable holds the key of an agent's `langrooms mcp`.
const ownKeyVariable = "LANGROOMS_AGENT_KEY"

// opens says where the server listens.
func (d *ownDoor) opens(at net.Addr) {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		panic("a listener's address: " + err.Error())
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.url = "http://" + net.JoinHostPort(host, port) + "/mcp"
}

// server is what an agent is given: the address, or where it takes commands only, this program
// as a go-between.
func (d *ownDoor) server(agent string, http bool) []acpagent.MCPServer {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.url == "" {
		return nil
	}
	if d.keys[agent] == "" {
		if d.keys == nil {
			d.keys = map[string]string{}
		}
		d.keys[agent] = rand.Text()
	}
	if http {
		return []acpagent.MCPServer{{Name: setting.OwnServer, URL: d.url, Headers: map[string]string{"Authorization": "Bearer " + d.keys[agent]}}}
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []acpagent.MCPServer{{Name: setting.OwnServer, Command: self, Args: []string{"mcp", "--url", d.url, "--key-env", ownKeyVariable},
		Env: map[string]string{ownKeyVariable: d.keys[agent]}}}
}

// gateKeys are the keys that were made. An agent that server.keys knows has what it may there.
func (d *ownDoor) gateKeys(configured []hotreload.Key) []gate.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []gate.Key
	for agent, secret := range d.keys {
		key := gate.Key{Secret: func() (string, error) { return secret, nil }, Identity: gate.Identity{Kind: gate.Agent, Name: agent}}
		for _, k := range configured {
			if k.Kind == string(gate.Agent) && k.Name == agent {
				key.Agents, key.Owner = k.Agents, k.Owner
			}
		}
		keys = append(keys, key)
	}
	return keys
}
