package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mcpPeer is the program that drives the tools by the MCP SDK's own client and the inspector.
const mcpPeer = "../../internal/peers/mcp"

// Clients that others wrote use all seven tools, over HTTP and over standard input and output;
// each story is a check of its own in client.mjs.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	_, noNode := exec.LookPath("node")
	_, noPackages := os.Stat(filepath.Join(mcpPeer, "node_modules"))
	if noNode != nil || noPackages != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("needs node and npm ci in internal/peers/mcp (%v, %v)", noNode, noPackages)
		}
		t.Skip("needs node and npm ci in internal/peers/mcp")
	}
	keyed := folder(t, says(t, "unused"), strings.Replace(sessionKeys, "eve", "bob", -1)+
		roster(openaiEntry("proto", says(t, "It builds.")), openaiEntry("reviewer", says(t, "Fine."))))
	keyless := folder(t, says(t, "unused"), roster(openaiEntry("proto", says(t, "It builds."))))
	withKeys, without := serve(t, keyed), serve(t, keyless)
	cmd := exec.CommandContext(t.Context(), "node", "client.mjs", withKeys.url, without.url, keyed.Command(), keyed.Dir, keyless.Dir)
	cmd.Dir = mcpPeer
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "ok "); n != 6 {
		t.Errorf("%d stories ended well, want 6:\n%s", n, out)
	}
	withKeys.end(t)
	without.end(t)
}
