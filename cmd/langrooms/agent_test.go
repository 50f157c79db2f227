package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// agentVariable makes the test binary an ACP agent. Its value says how it behaves:
// "answers", "asks" (for leave, and answers), "works" (until it is told to stop), "plans" (works, and tells of it), "resists"
// (works, whatever it is told), "joins" or "joins-stdio" (posts by the tool server that it was
// given, over HTTP or by the command; see joins).
const agentVariable = "LANGROOMS_TEST_AGENT"

// acpEntry is a delegate that is this binary. Its process ids are written to the file pids
// in the working folder.
func acpEntry(t testing.TB, name, mode string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("  - { name: %s, type: acp, description: a coder, command: %q, env: { %s: %s } }\n", name, self, agentVariable, mode)
}

type rpc struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// runAgent speaks as much of the Agent Client Protocol (version 1) as a prompt needs.
func runAgent(mode string, in io.Reader, out io.Writer) {
	if mode == "resists" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if err := os.WriteFile(fmt.Sprintf("pid-%s-%d", mode, os.Getpid()), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	send := func(format string, args ...any) {
		fmt.Fprintf(out, `{"jsonrpc":"2.0",`+format+"}\n", args...)
	}
	var prompt, session json.RawMessage
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 10<<20)
	for lines.Scan() {
		var m rpc
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			send(`"id":%s,"result":{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":%t}}}`, m.ID, mode == "joins")
		case "session/new":
			session = m.Params
			send(`"id":%s,"result":{"sessionId":"s"}`, m.ID)
		case "session/prompt":
			if prompt = m.ID; mode == "asks" {
				send(`"id":"leave","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1","kind":"execute","title":"go test ./..."},` +
					`"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`)
				continue
			}
			update := `"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}`
			if strings.HasPrefix(mode, "joins") {
				send(update, joins(session))
				send(`"id":%s,"result":{"stopReason":"end_turn"}`, prompt)
				continue
			}
			if mode == "answers" {
				send(update, "done by the coder")
				send(`"id":%s,"result":{"stopReason":"end_turn"}`, prompt)
			} else {
				if mode == "plans" {
					send(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"look <b>about</b>","priority":"high","status":"completed"},{"content":"mend it","priority":"high","status":"in_progress"}]}}`)
					send(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"it may be the order"}}}`)
					send(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","title":"go vet ./...","status":"in_progress"}}`)
				}
				send(update, "working on it")
			}
		case "": // the answer to what it asked
			send(`"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}`, "I was told "+string(m.Result))
			send(`"id":%s,"result":{"stopReason":"end_turn"}`, prompt)
		case "session/cancel":
			if mode == "works" || mode == "plans" {
				send(`"id":%s,"result":{"stopReason":"cancelled"}`, prompt)
			}
		}
	}
	if mode == "resists" {
		select {}
	}
}

// agentPIDs returns the ids of the agent processes of a mode that have begun in dir.
func agentPIDs(t testing.TB, dir, mode string) []int {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		var pid int
		if rest, ok := strings.CutPrefix(file.Name(), "pid-"+mode+"-"); ok {
			if _, err := fmt.Sscan(rest, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
