package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/langrooms/langrooms/internal/clitest"
)

// freeAddress is an address on loopback that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serveAt starts a server whose one delegate is another langrooms.
func serveAt(t testing.TB, f *clitest.Folder, addr string) *served {
	t.Helper()
	p := f.Start("serve", "--addr", addr)
	p.Out("\n")
	return &served{p, "http://" + addr}
}

func langroomsEntry(name, addr string) string {
	return fmt.Sprintf("  - { name: %s, type: a2a, description: another room, url: %q }\n", name, "http://"+addr+"/a2a")
}

// A langrooms is a delegate of another one, two deep by A2A; a circle of them is noticed by the
// one that the message comes back to, and each says so as the answer to its own.
func TestLangroomsBehindLangrooms(t *testing.T) {
	t.Parallel()
	deep := says(t, "from the depth")
	inner := folder(t, deep, roster(openaiEntry("leaf", deep)))
	si := serve(t, inner)
	middle := folder(t, deep, roster(langroomsEntry("inner", strings.TrimPrefix(si.url, "http://"))))
	sm := serve(t, middle)
	outer := folder(t, says(t, "lead"), roster(langroomsEntry("middle", strings.TrimPrefix(sm.url, "http://"))))
	r := outer.Run("chat", "-m", "@middle @inner @leaf what broke?")
	expect(t, "status "+r.Diag, 0, r.Status)
	expectContains(t, "the answer", "from the depth", r.Out)
	r = outer.Run("chat", "-m", "@middle @nobody hi")
	expectContains(t, "what the middle room itself says", "Unknown or unreachable delegate: @nobody", r.Out)
	sm.end(t)
	si.end(t)
}

// Three servers whose leads are never asked: a names b, b names c, c names a.
func TestLangroomsInACircle(t *testing.T) {
	t.Parallel()
	a, b := freeAddress(t), freeAddress(t)
	quiet := says(t, "never")
	sa := serveAt(t, folder(t, quiet, roster(langroomsEntry("b", b))), a)
	sb := serveAt(t, folder(t, quiet, roster(langroomsEntry("a", a))), b)
	code, body := sa.ask(t, "POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",`+
		`"parts":[{"text":"@b @a @b @a @b round and round"}]}}}`)
	expect(t, "status", 200, code)
	expectContains(t, "the answer", "has come back to a langrooms that it came through", body)
	sa.end(t)
	sb.end(t)
}

// a2aPeer is the folder of the programs on the A2A SDK of other hands.
const a2aPeer = "../../internal/peers/a2a"

// TestA2AClient has @a2a-js/sdk tell its stories against a server with the demo's roster.
func TestA2AClient(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(a2aPeer, "node_modules")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the SDK is not installed: npm ci in internal/peers/a2a")
		}
		t.Skip("the SDK is not installed: npm ci in internal/peers/a2a")
	}
	s := serve(t, binary.In(t))
	cmd := exec.CommandContext(t.Context(), "node", "client.mjs", s.url)
	cmd.Dir = a2aPeer
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "ok "); n != 12 {
		t.Errorf("%d stories ended well, want 12:\n%s", n, out)
	}
	s.end(t)
}

// The card is open and says which keys are wanted; everything else wants one, and one's tasks are
// one's own.
func TestA2AKeys(t *testing.T) {
	t.Parallel()
	f := folder(t, says(t, "hello"), roster(openaiEntry("proto", says(t, "hi")))+`server:
  keys:
    - { name: bob, key: planted-bob }
    - { name: eve, key: planted-eve }
`)
	s := serve(t, f)
	code, body := s.ask(t, "GET", "/.well-known/agent-card.json", "")
	expect(t, "the card", 200, code)
	expectContains(t, "the card", "X-Api-Key", body)
	expect(t, "the roster on it", false, strings.Contains(body, "@proto"))
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"@proto hi"}]}}}`
	code, _ = s.ask(t, "POST", "/a2a", send)
	expect(t, "without a key", 401, code)
	_, body = s.ask(t, "POST", "/a2a", send, "Authorization", "Bearer planted-bob")
	expectContains(t, "bob's task", "TASK_STATE_COMPLETED", body)
	for who, want := range map[string]string{"bob": `"totalSize":1`, "eve": `"totalSize":0`} {
		_, body = s.ask(t, "GET", "/a2a/tasks", "", "X-Api-Key", "planted-"+who)
		expectContains(t, who+"'s tasks", want, body)
	}
	_, body = s.ask(t, "GET", "/a2a/extendedAgentCard", "", "X-Api-Key", "planted-eve")
	expectContains(t, "the card with a key", "@proto", body)
	s.end(t)
}
