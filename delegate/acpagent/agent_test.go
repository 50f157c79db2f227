package acpagent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
)

func TestAnswerIsTheMessageChunksInParagraphs(t *testing.T) {
	a := newScripted(t, "banner")
	var got reports
	reply, err := a.Ask(t.Context(), delegate.Request{
		Prompt:   "think hmm\nplan first\nsay one \ntool t1 read\ntool-done t1\nsay two\nusage",
		Progress: got.add,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := delegate.Reply{Text: "one \n\ntwo", Usage: &langrooms.Usage{InputTokens: 12, OutputTokens: 34}}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("the reply (-want +got):\n%s", diff)
	}
	wantProgress := []langrooms.Progress{
		{Kind: langrooms.ProgressThought, Text: "hmm"},
		{Kind: langrooms.ProgressPlan, Text: "[pending] first"},
		{Kind: langrooms.ProgressText, Text: "one "},
		{Kind: langrooms.ProgressTool, Text: "Title of t1", State: "pending"},
		{Kind: langrooms.ProgressTool, Text: "Title of t1", State: "completed"},
		{Kind: langrooms.ProgressText, Text: "\n\n"},
		{Kind: langrooms.ProgressText, Text: "two"},
	}
	if diff := cmp.Diff(wantProgress, got.list); diff != "" {
		t.Errorf("the progress (-want +got):\n%s", diff)
	}
}

func TestStopReasons(t *testing.T) {
	a := newScripted(t)
	for reason, want := range map[string]string{
		"end_turn":          "",
		"max_tokens":        "the agent reached its token limit (max_tokens)",
		"max_turn_requests": "the agent reached its limit of model requests (max_turn_requests)",
		"refusal":           "the agent refused to go on (refusal)",
		"tired":             `the agent stopped for a reason that is unknown here: "tired"`,
	} {
		reply := ask(t, a, "say words", "stop "+reason)
		if reply.Text != "words" || reply.Incomplete != want {
			t.Errorf("%s: text %q, incomplete %q, want %q", reason, reply.Text, reply.Incomplete, want)
		}
	}
	e := askFails(t, a, delegate.Request{Prompt: "stop cancelled", Conversation: "thread"})
	if e.Kind != delegate.KindCanceled || !e.Accepted {
		t.Errorf("cancelled by the agent: %+v", e)
	}
}

func TestUpdatesOfAllShapes(t *testing.T) {
	t.Parallel()
	raw := func(update string) string {
		return `raw {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$S","update":` + update + `}}`
	}
	for name, c := range map[string]struct {
		lines  []string
		want   string
		status bool // an unreadable update is reported
	}{
		"unknown kind of update":   {lines: []string{raw(`{"sessionUpdate":"brand_new_kind","content":{"type":"text","text":"no"}}`), "say yes"}, want: "yes"},
		"user's own words":         {lines: []string{raw(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"no"}}`), "say yes"}, want: "yes"},
		"another session":          {lines: []string{strings.Replace(raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"no"}}`), "$S", "other", 1), "say yes"}, want: "yes"},
		"a list of blocks":         {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`)}, want: "ab"},
		"an image":                 {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AA=="}}`)}, want: "[image image/png]"},
		"a resource link":          {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","name":"log","uri":"file:///a\nb"}}`)}, want: "[resource log file:///a b]"},
		"an embedded text":         {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}}`)}, want: "[resource file:///a]\ninside"},
		"surrogates cut in two":    {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ud83d"}}`), raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ude00!"}}`)}, want: "😀!"},
		"half a surrogate":         {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ud83d"}}`)}, want: "\uFFFD"},
		"text of the wrong type":   {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":7}}`), "say yes"}, want: "yes", status: true},
		"content of wrong type":    {lines: []string{raw(`{"sessionUpdate":"agent_message_chunk","content":7}`), "say yes"}, want: "yes", status: true},
		"an update that is no one": {lines: []string{raw(`[]`), "say yes"}, want: "yes", status: true},
		"other notifications":      {lines: []string{`raw {"jsonrpc":"2.0","method":"_vendor/news","params":{}}`, `raw {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, "say yes"}, want: "yes"},
		"a request we do not know": {lines: []string{`raw {"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`, "say yes"}, want: "yes"},
		"an answer to nothing":     {lines: []string{`raw {"jsonrpc":"2.0","id":99,"result":{}}`, `raw {"jsonrpc":"2.0","id":{},"result":{}}`, "say yes"}, want: "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newScripted(t)
			var got reports
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: strings.Join(c.lines, "\n"), Progress: got.add})
			if err != nil || reply.Text != c.want {
				t.Errorf("reply %q, %v; want %q", reply.Text, err, c.want)
			}
			if status := len(got.of(langrooms.ProgressStatus)) > 0; status != c.status {
				t.Errorf("an unreadable update is reported: %v, want %v", status, c.status)
			}
		})
	}
}

// The SDK closes the connection when 1,024 notifications wait for a handler.
func TestManyQuickUpdatesWithASlowReader(t *testing.T) {
	a := newScripted(t)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&want, "%d ", i)
	}
	pieces := 0
	gate := make(chan struct{})
	go close(gate)
	reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "flood 5000", Progress: func(langrooms.Progress) {
		<-gate
		pieces++
	}})
	if err != nil || reply.Text != want.String() {
		t.Fatalf("%d bytes of %d, %v", len(reply.Text), want.Len(), err)
	}
	if pieces != 5000 {
		t.Errorf("%d pieces were reported", pieces)
	}
}

func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	a := newScripted(t)
	if reply := ask(t, a, "large 10000000"); len(reply.Text) != 10_000_000 || reply.Incomplete != "" {
		t.Errorf("10 MB in one line: %d bytes, incomplete %q", len(reply.Text), reply.Incomplete)
	}
	if reply := ask(t, a, "large 9000000", "large 9000000"); len(reply.Text) != 9_000_000 || reply.Incomplete == "" {
		t.Errorf("18 MB: %d bytes, incomplete %q", len(reply.Text), reply.Incomplete)
	}
	e := askFails(t, a, delegate.Request{Prompt: "large 10500000", Conversation: "thread"})
	if e.Kind != delegate.KindProtocol || !strings.Contains(e.Cause(), "more than 10485759 bytes") {
		t.Errorf("a line beyond the limit: %v %v", e.Kind, e)
	}
	if reply := ask(t, a, "say back"); reply.Text != "back" {
		t.Errorf("afterwards: %q", reply.Text)
	}
}

func TestOneProcessForEachConversation(t *testing.T) {
	a := newScripted(t)
	var asks sync.WaitGroup
	replies := make([]string, 4)
	for i := range replies {
		asks.Go(func() {
			reply, err := a.Ask(t.Context(), delegate.Request{Prompt: "pid\ncount", Conversation: fmt.Sprint("thread-", i%2)})
			if err != nil {
				t.Error(err)
			}
			replies[i] = reply.Text
		})
	}
	asks.Wait()
	slices.Sort(replies)
	counts, pids := map[string]int{}, map[string]int{}
	for _, r := range replies {
		pid, n, _ := strings.Cut(r, " ")
		pids[pid]++
		counts[n]++
	}
	if len(pids) != 2 || counts["1"] != 2 || counts["2"] != 2 {
		t.Errorf("two asks each in two conversations: %q", replies)
	}
	one, err := a.Ask(t.Context(), delegate.Request{Prompt: "pid\ncount"})
	if err != nil {
		t.Fatal(err)
	}
	pid, n, _ := strings.Cut(one.Text, " ")
	if pids[pid] != 0 || n != "1" {
		t.Errorf("without a key: %q, want a process of its own", one.Text)
	}
}

func TestSecondAskOfAConversationWaitsForTheFirst(t *testing.T) {
	a := newScripted(t)
	ctx, cancel := context.WithCancel(t.Context())
	started, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, _ = a.Ask(ctx, delegate.Request{Prompt: "say x\nhold", Conversation: "thread", Progress: onText(func() { close(started) })})
	}()
	<-started
	waiting, stop := context.WithCancel(t.Context())
	stop()
	e := mustFail(t, a, func() error {
		_, err := a.Ask(waiting, delegate.Request{Prompt: "say y", Conversation: "thread"})
		return err
	})
	if e.Kind != delegate.KindCanceled || e.Accepted {
		t.Errorf("canceled while waiting: %+v", e)
	}
	e = askFails(t, a, delegate.Request{Prompt: "say y", Conversation: "thread", Timeout: 1})
	if e.Kind != delegate.KindUnreachable || !strings.Contains(e.Cause(), "the earlier turn of this conversation: no answer within") {
		t.Errorf("timeout while waiting: %v %v", e.Kind, e)
	}
	cancel()
	<-over
}

func TestEnvironmentAndWorkDir(t *testing.T) {
	t.Setenv("AGENT_PARENT_ID", "7")
	t.Setenv("AGENT_TOKEN", "inherited-token")
	t.Setenv("KEPT", "yes")
	c := testConfig(t, "scripted", "")
	c.EnvRemove = []string{"AGENT_", "PATH"}
	c.Env["AGENT_GIVEN"] = "on purpose"
	reply := ask(t, newAgent(t, c), "env AGENT_PARENT_ID", "env AGENT_TOKEN", "env PATH", "env KEPT", "env AGENT_GIVEN", "env PWD", "where")
	want := fmt.Sprintf(`AGENT_PARENT_ID="" false AGENT_TOKEN="" false PATH="" false KEPT="yes" true AGENT_GIVEN="on purpose" true PWD=%q true %s`, c.WorkDir, c.WorkDir)
	if reply.Text != want {
		t.Errorf("the agent saw %s\nwant          %s", reply.Text, want)
	}
}

// A word stays a word, whatever the variables of the environment hold.
func TestWordsAreNoSecrets(t *testing.T) {
	t.Setenv("KEYCLOAK_REALM", "master")
	t.Setenv("REGISTRY_TOKEN", "development")
	c := testConfig(t, "scripted", "")
	c.Env["MODEL"] = "claude-sonnet-4-20250514"
	const words = "git checkout master, development, claude-sonnet-4-20250514"
	if reply := ask(t, newAgent(t, c), "say "+words); reply.Text != words {
		t.Errorf("reply %q", reply.Text)
	}
}

func TestSecretsAreBlottedOut(t *testing.T) {
	a := newScripted(t)
	var got reports
	reply, err := a.Ask(t.Context(), delegate.Request{
		Prompt:   "env TEST_API_KEY\nthink my " + testKey + "\nplan use " + testKey + "\nsay it is plant\nsay ed-&-key\nsay -91b7!",
		Progress: got.add,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := `TEST_API_KEY="[redacted]" true it is [redacted]!`; reply.Text != want {
		t.Errorf("reply %q, want %q", reply.Text, want)
	}
	var text strings.Builder
	for _, p := range got.list {
		fmt.Fprint(&text, p.Text, p.State)
	}
	if strings.Contains(text.String(), testKey) {
		t.Errorf("the progress shows the key: %q", text.String())
	}
}

func TestProbeOpensASession(t *testing.T) {
	a := newScripted(t)
	health, err := a.Probe(t.Context())
	if err != nil || health.Version != "scripted 1.2.3" || health.Protocol != "ACP 1" || health.Latency <= 0 {
		t.Errorf("Probe = %+v, %v", health, err)
	}
}
