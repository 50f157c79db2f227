package delegatetool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/room"
)

type args = map[string]any

// A delegation is a room address by the lead: same window, same conversation, one round;
// its records stand behind the tool's result, in the same update (spec: rooms, 8).
func TestForeground(t *testing.T) {
	for name, lead := range map[string]string{"": "assistant", "vera": "vera"} {
		t.Run("lead "+lead, func(t *testing.T) {
			proto := named("proto")
			tu := begin(t)
			got, err := tu.call(delegatetool.Config{Room: with(roster(t, proto), func(r *exchange.Room) { r.Lead = name })},
				args{"target": "@Proto", "query": " what broke? ", "summary": "ignored", "timeout": 1.5})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "result", "auth did", got)
			expect(t, "asked", []delegate.Request{{Conversation: "t", Epoch: tu.Epoch(), Timeout: 1500 * time.Millisecond,
				Prompt: room.Prompt(room.PromptInput{Member: "proto", Message: "what broke?",
					Window: room.Window{Lines: []room.Line{{Author: "operator", Text: "hello"}}}})}}, proto.asked)
			expect(t, "thread", []string{"human: hello", "ai: the call", "tool: the result",
				"human " + lead + " → proto: what broke?", "human proto (seen 4): auth did"}, tu.flush())
			expect(t, "events", []langrooms.EventType{langrooms.EventDispatchStarted, langrooms.EventDispatchEnded}, tu.events)
		})
	}
}

// The limits of the window are the room's.
func TestLimits(t *testing.T) {
	proto := named("proto")
	tu := begin(t)
	_, err := tu.call(delegatetool.Config{Room: with(roster(t, proto), func(r *exchange.Room) { r.Limits.Chars = 9 })},
		args{"target": "proto", "query": "q"})
	if err != nil {
		t.Fatal(err)
	}
	says(t, proto.asked[0].Prompt, "(earlier messages omitted)")
}

// Whatever a delegate does, the model gets a text that it can act on.
func TestAnswers(t *testing.T) {
	running := "still running after 300s without observable progress — the peer may still be working; raise its poll timeout (task k1)"
	for name, tt := range map[string]struct {
		reply   delegate.Reply
		kind    delegate.Kind
		cause   string
		task    string
		collect func(context.Context, delegate.Handle) delegate.Waiting
		want    string // the whole result or error
	}{
		"words":     {reply: delegate.Reply{Text: " yes \n"}, want: "yes"},
		"pass":      {reply: delegate.Reply{Text: "pass"}, want: "pass"},
		"silence":   {reply: delegate.Reply{Text: " \n"}, want: "@proto answered without text."},
		"cut short": {reply: delegate.Reply{Text: "half", Incomplete: "max_tokens"}, want: "half\n\n(The answer is incomplete: max_tokens)"},
		"a pause":   {reply: delegate.Reply{Text: "⏸ needs input: which?", Paused: true}, want: "⏸ needs input: which?"},
		"a parked task": {reply: delegate.Reply{Text: "⏸ needs input: which?", Paused: true, Task: "k1"},
			want: "⏸ needs input: which?\n\nTo answer it, call delegate_to with target \"proto\", the answer as query, and resume_task_id \"k1\"."},
		"a failure": {kind: delegate.KindUnreachable, cause: "connection refused", want: "delegate @proto failed: connection refused"},
		"a hostile failure": {kind: delegate.KindFailed, cause: "a\nb\x1b[31m" + strings.Repeat("x", 5000),
			want: "delegate @proto failed: a b [31m" + strings.Repeat("x", 2000-8) + "…"},
		"still running, not waited for": {kind: delegate.KindStillRunning, cause: running, task: "k1",
			want: "delegate @proto is still working: " + running + ". The answer will not come by itself: to wait for it, call delegate_to with target \"proto\" and resume_task_id \"k1\""},
		"still running, nobody will take it": {kind: delegate.KindStillRunning, cause: running, task: "k1",
			collect: func(context.Context, delegate.Handle) delegate.Waiting { return delegate.NotWaited },
			want:    "delegate @proto is still working: " + running + ". The answer will not come by itself: to wait for it, call delegate_to with target \"proto\" and resume_task_id \"k1\""},
		"still running without a task": {kind: delegate.KindStillRunning, cause: running,
			collect: func(context.Context, delegate.Handle) delegate.Waiting { return delegate.Waited },
			want:    "delegate @proto is still working: " + running + ". The answer will not come by itself"},
		"still running, waited for": {kind: delegate.KindStillRunning, cause: running, task: "k1",
			collect: func(context.Context, delegate.Handle) delegate.Waiting { return delegate.Waited },
			want: "delegate @proto is still working: " + running + ". The answer is being waited for in the background and will be " +
				"delivered on a later turn if it comes: do not delegate it again and do not report it as lost"},
		"still running, kept": {kind: delegate.KindStillRunning, cause: running, task: "k1",
			collect: func(context.Context, delegate.Handle) delegate.Waiting { return delegate.Kept },
			want: "delegate @proto is still working: " + running + ". Nobody waits for the answer now; the next turn on this thread begins by " +
				"looking for it: do not delegate it again and do not report it as lost"},
	} {
		t.Run(name, func(t *testing.T) {
			proto := named("proto")
			proto.reply = func(context.Context, delegate.Request) (delegate.Reply, error) { return tt.reply, nil }
			if tt.kind != "" {
				proto.fails(tt.kind, tt.cause, tt.task)
			}
			got, err := begin(t).call(delegatetool.Config{Room: with(roster(t, proto), func(r *exchange.Room) { r.Collect = tt.collect })}, args{"target": "proto", "query": "q"})
			if (err != nil) != (tt.kind != "") {
				t.Errorf("result %q, error %v", got, err)
			}
			if err != nil {
				got = err.Error()
			}
			expect(t, "what the model reads", tt.want, got)
		})
	}
}

// The handle that is waited for belongs to the record of the failure.
func TestCollectingHandle(t *testing.T) {
	var handles []delegate.Handle
	tu := begin(t)
	_, err := tu.call(delegatetool.Config{Room: with(roster(t, named("proto").fails(delegate.KindStillRunning, "still running", "k1")), func(r *exchange.Room) {
		r.Collect = func(_ context.Context, h delegate.Handle) delegate.Waiting {
			handles = append(handles, h)
			return delegate.Waited
		}
	})}, args{"target": "proto", "query": "q"})
	if err == nil {
		t.Fatal("no error")
	}
	lines := tu.flush()
	if len(handles) != 1 {
		t.Fatalf("%d handles", len(handles))
	}
	h := handles[0]
	says(t, lines[h.Anchor], "human proto (failed): (could not be reached: still running)")
	expect(t, "handle", delegate.Handle{Thread: "t", Delegate: "proto", Task: "k1", Stamp: langrooms.Stamp{From: "proto", Exchange: h.Stamp.Exchange, Round: 1, Seen: 4}, Anchor: 4, Epoch: tu.Epoch()}, h)
}

// What cannot be dispatched is an error that the model can act on; nobody is asked and
// nothing is recorded.
func TestRefusals(t *testing.T) {
	available := "Available: proto, Reviewer, REVIEWER."
	for name, tt := range map[string]struct {
		arguments any
		want      []string
	}{
		"unknown":            {args{"target": "prto", "query": "q"}, []string{"Unknown or unreachable delegate: @prto. " + available, "proto"}},
		"ambiguous case":     {args{"target": "reviewer", "query": "q"}, []string{"Unknown or unreachable delegate: @reviewer. " + available}},
		"no target":          {args{"query": "q"}, []string{"Unknown or unreachable delegate: @. " + available}},
		"blank target":       {args{"target": " \n", "query": "q"}, []string{"Unknown or unreachable delegate"}},
		"two targets":        {args{"target": "proto @Reviewer", "query": "q"}, []string{"Unknown or unreachable delegate"}},
		"a target and more":  {args{"target": "proto please", "query": "q"}, []string{"Unknown or unreachable delegate"}},
		"a huge target":      {args{"target": strings.Repeat("x", 1<<20), "query": "q"}, []string{"Unknown or unreachable delegate", "…"}},
		"a hostile target":   {args{"target": "a\x1b[2J\u202eb", "query": "q"}, []string{"Unknown or unreachable delegate"}},
		"no query":           {args{"target": "proto"}, []string{"the query to @proto is empty"}},
		"blank query":        {args{"target": "proto", "query": " \n"}, []string{"the query to @proto is empty"}},
		"a huge query":       {args{"target": "proto", "query": strings.Repeat("x", langrooms.MaxText+1)}, []string{"the query to @proto", "500001 characters"}},
		"a negative timeout": {args{"target": "proto", "query": "q", "timeout": -1}, []string{"the timeout is -1 seconds, it must be 0 to 86400"}},
		"a huge timeout":     {args{"target": "proto", "query": "q", "timeout": 1e300}, []string{"it must be 0 to 86400"}},
		"a timeout in words": {args{"target": "proto", "query": "q", "timeout": "long"}, []string{"the arguments of delegate_to cannot be read"}},
		"no JSON":            {"proto, please", []string{"the arguments of delegate_to cannot be read"}},
		"cut off":            {`{"target":"proto","que`, []string{"the arguments of delegate_to cannot be read"}},
		"a list":             {`["proto"]`, []string{"the arguments of delegate_to cannot be read"}},
		"a million arrays":   {`{"target":"proto","query":"q","x":` + strings.Repeat("[", 1_000_000), []string{"the arguments of delegate_to cannot be read"}},
		"no background":      {args{"target": "proto", "query": "q", "background": true}, []string{"runs no delegations in the background"}},
		"resume in the background": {args{"target": "proto", "query": "q", "background": true, "resume_task_id": "k1"},
			[]string{"a task of @proto cannot be resumed in the background"}},
	} {
		t.Run(name, func(t *testing.T) {
			proto, tu := named("proto"), begin(t)
			got, err := tu.call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto, named("Reviewer"), named("REVIEWER")))}, tt.arguments)
			if err == nil {
				t.Fatalf("result %q", got)
			}
			says(t, err, tt.want...)
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("the error is %d bytes long: %q", len(err.Error()), err)
			}
			expect(t, "asked", 0, len(proto.asked))
			expect(t, "recorded", 3, len(tu.flush()))
		})
	}
}

func TestOutsideOfATurn(t *testing.T) {
	tool, err := delegatetool.New(delegatetool.Config{Room: exchange.RoomOf(roster(t, named("proto")))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Run(t.Context(), `{"target":"proto","query":"q"}`); err == nil {
		t.Error("a call outside of a turn is taken")
	} else {
		says(t, err, "in a turn")
	}
	if _, err := delegatetool.New(delegatetool.Config{}); err == nil {
		t.Error("New without a room")
	} else {
		says(t, err, "Config.Room")
	}
	_, err = begin(t).call(delegatetool.Config{Room: exchange.RoomOf(delegate.NewLive(nil))}, args{"target": "proto", "query": "q"})
	says(t, err, "no delegate is configured")
}

// The operator's stop reaches the delegate and is not its failure.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	proto := named("proto")
	proto.reply = func(ctx context.Context, _ delegate.Request) (delegate.Reply, error) {
		cancel()
		<-ctx.Done()
		return delegate.Reply{}, ctx.Err()
	}
	in := exchange.RoomOf(roster(t, proto))
	tool, err := delegatetool.New(delegatetool.Config{Room: in})
	if err != nil {
		t.Fatal(err)
	}
	tu := begin(t)
	_, err = tool.Run(tu.context(ctx, in), `{"target":"proto","query":"q"}`)
	says(t, err, "stopped by the operator")
	says(t, tu.flush()[4], "human proto (failed): (stopped by the operator)")
}

// A resumed task is sent the query as it is, without a window or a conversation; only some
// types can do that.
func TestResume(t *testing.T) {
	proto, stateless, tu := named("proto"), named("oracle"), begin(t)
	stateless.info.Resumable, stateless.info.Type = false, "openai"
	var claimed []string
	cfg := delegatetool.Config{Room: exchange.RoomOf(roster(t, proto, stateless)),
		Claim: func(thread, target, task string) { claimed = append(claimed, thread+" "+target+" "+task) }}
	got, err := tu.call(cfg, args{"target": "PROTO", "query": "the blue one", "resume_task_id": "k1"})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "result", "auth did", got)
	expect(t, "asked", []delegate.Request{{Prompt: "the blue one", ResumeTask: "k1"}}, proto.asked)
	expect(t, "claimed", []string{"t proto k1"}, claimed)

	if _, err := tu.call(cfg, args{"target": "proto", "resume_task_id": "k2"}); err != nil {
		t.Errorf("waiting for a task without a word: %v", err)
	}
	_, err = tu.call(cfg, args{"target": "oracle", "query": "q", "resume_task_id": "k1"})
	says(t, err, "delegate @oracle is of type openai, which cannot resume a task")
	expect(t, "asked", 0, len(stateless.asked))
}

// A task is claimed when its outcome is known, and left to its collection when not.
func TestResumeClaims(t *testing.T) {
	for kind, want := range map[delegate.Kind]bool{
		delegate.KindFailed: true, delegate.KindCanceled: true,
		delegate.KindUnreachable: false, delegate.KindRefused: false, delegate.KindTimeout: false,
		delegate.KindProtocol: false, delegate.KindStillRunning: false,
	} {
		t.Run(string(kind), func(t *testing.T) {
			claimed := false
			_, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, named("proto").fails(kind, "so it is", "k1"))),
				Claim: func(string, string, string) { claimed = true }}, args{"target": "proto", "query": "q", "resume_task_id": "k1"})
			says(t, err, ": so it is")
			expect(t, "claimed", want, claimed)
		})
	}
}

// A resumed task that touch was lost with is waited for, and that waiting is not claimed.
func TestResumeLeavesWhatItCollects(t *testing.T) {
	claimed := false
	_, err := begin(t).call(delegatetool.Config{Room: with(roster(t, named("proto").fails(delegate.KindFailed, "lost touch", "k1")), func(r *exchange.Room) {
		r.Collect = func(context.Context, delegate.Handle) delegate.Waiting { return delegate.Waited }
	}),
		Claim: func(string, string, string) { claimed = true }}, args{"target": "proto", "query": "q", "resume_task_id": "k1"})
	says(t, err, "will be delivered on a later turn")
	expect(t, "claimed", false, claimed)
}

// In the background the model gets a receipt at once, and the address is recorded with the
// turn.
func TestBackground(t *testing.T) {
	var jobs []delegatetool.Job
	proto, tu := named("proto"), begin(t)
	got, err := tu.call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto)), Background: func(j delegatetool.Job) error { jobs = append(jobs, j); return nil }},
		args{"target": "proto", "query": " q ", "background": true, "timeout": 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	says(t, got, "Delegated to @proto in the background", "later turn")
	expect(t, "asked", 0, len(proto.asked))
	lines := tu.flush()
	expect(t, "thread", []string{"human: hello", "ai: the call", "tool: the result", "human assistant → proto: q"}, lines)
	expect(t, "jobs", []delegatetool.Job{{Thread: "t", Target: "proto", Query: "q", Exchange: jobs[0].Exchange, Anchor: 3,
		Epoch: tu.Epoch(), Timeout: 1}}, jobs)

	_, err = begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto)), Background: func(delegatetool.Job) error { return errors.New("the program is ending") }},
		args{"target": "proto", "query": "q", "background": true})
	says(t, err, "delegating to @proto in the background: the program is ending")
}

// A job that was refused leaves no address that would wait for an answer for ever.
func TestBackgroundRefusedLeavesNothing(t *testing.T) {
	tu := begin(t)
	_, err := tu.call(delegatetool.Config{Room: exchange.RoomOf(roster(t, named("proto"))), Background: func(delegatetool.Job) error { return errors.New("no") }},
		args{"target": "proto", "query": "q", "background": true})
	if err == nil {
		t.Fatal("no error")
	}
	expect(t, "recorded", 3, len(tu.flush()))
}

// Models write a name in the form of the list, quoted, or in brackets.
func TestNamesAsModelsWriteThem(t *testing.T) {
	for _, target := range []string{"proto", "@proto", "PROTO", `"proto"`, "'@proto'", "`proto`", "[proto]", "<proto>", "**proto**", "proto.",
		"“proto”", "proto (a2a)", "- proto (a2a)", "- proto (a2a): the one called proto", `"proto (a2a)"`} {
		proto := named("proto")
		if got, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto, named("protocol")))}, args{"target": target, "query": "q"}); err != nil || len(proto.asked) != 1 {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
	bracketed := named("[ci]")
	if _, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, named("ci"), bracketed))}, args{"target": "[ci]", "query": "q"}); err != nil || len(bracketed.asked) != 1 {
		t.Errorf("a name in brackets: %v", err)
	}
}

// Models write a number or a truth as text, a name as a list, and words for nothing.
func TestValuesAsModelsWriteThem(t *testing.T) {
	for _, input := range []string{
		`{"target":["proto"],"query":"q"}`,
		`{"target":"proto","query":"q","timeout":"30"}`,
		`{"target":"proto","query":"q","timeout":"","background":"False","summary":["s"]}`,
		`{"target":"proto","query":"q","timeout":null,"background":null,"resume_task_id":null}`,
		`{"target":"proto","query":"q","timeout":"none","resume_task_id":"None"}`,
		`{"target":"proto","query":"q","resume_task_id":" null "}`,
	} {
		proto := named("proto")
		if got, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto))}, input); err != nil || len(proto.asked) != 1 || proto.asked[0].ResumeTask != "" {
			t.Errorf("%s: %q, %v", input, got, err)
		}
	}
	proto := named("proto")
	if _, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto))}, `{"target":"proto","query":"q","timeout":"30"}`); err != nil || proto.asked[0].Timeout != 30*time.Second {
		t.Errorf("a time-out as text: %+v, %v", proto.asked, err)
	}
	if _, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto))}, `{"target":["proto","other"],"query":"q"}`); err == nil {
		t.Error("two targets were taken")
	}
}

// What cannot be read is said in a model's terms, with the form that is wanted.
func TestArgumentsThatCannotBeRead(t *testing.T) {
	for input, want := range map[string]string{
		`proto, please`:                "they are not valid JSON",
		``:                             "they are empty",
		`["proto"]`:                    "a JSON array is out of place",
		`{"target":"proto","query":7}`: `a JSON number is out of place in its field "query"`,
		`{"target":"proto","query":"q","timeout":"30 s"}`: `a JSON string is out of place in its field "timeout"`,
	} {
		_, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, named("proto")))}, input)
		if err == nil {
			t.Fatal("no error")
		}
		says(t, err, want, `{"target": "NAME", "query": "WHAT TO ASK"}`)
		if strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "delegatetool") {
			t.Errorf("the error names our types: %v", err)
		}
	}
	proto := named("proto")
	if _, err := begin(t).call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto))}, "```json\n{\"target\":\"proto\",\"query\":\"q\"}\n```"); err != nil || len(proto.asked) != 1 {
		t.Errorf("in a code fence: %v", err)
	}
}

// An agent of langchaingo's ends its run at a tool's error.
func TestAFailureIsAResultForLangchaingo(t *testing.T) {
	in := exchange.RoomOf(roster(t, named("proto").fails(delegate.KindUnreachable, "connection refused", "")))
	tool, err := delegatetool.New(delegatetool.Config{Room: in})
	if err != nil {
		t.Fatal(err)
	}
	var langchain interface { // tools.Tool
		Name() string
		Description() string
		Call(ctx context.Context, input string) (string, error)
	} = tool
	for input, want := range map[string]string{
		`{"target":"proto","query":"q"}`: "Error: delegate @proto failed: connection refused",
		`proto`:                          "Error: the arguments of delegate_to cannot be read",
	} {
		got, err := langchain.Call(begin(t).context(t.Context(), in), input)
		if err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, %v", input, got, err)
		}
	}
	says(t, langchain.Description(), `{"target": "NAME", "query": "WHAT TO ASK"}`)
}

func Example() {
	tool, err := delegatetool.New(delegatetool.Config{Room: exchange.RoomOf(exampleRoster())})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tool.Definition().Function.Description)
	// Output:
	// Ask another agent and get its answer. It takes part in this chat: it is told what was said since it last spoke, and its answer is recorded under its own name. The input is a JSON object: {"target": "NAME", "query": "WHAT TO ASK"}.
	// Delegates:
	// - proto (a2a): the one called proto
}

func exampleRoster() *delegate.Live {
	registry, err := delegate.NewRegistry(named("proto"))
	if err != nil {
		panic(err)
	}
	return delegate.NewLive(registry)
}
