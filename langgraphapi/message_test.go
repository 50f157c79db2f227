package langgraphapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/room"
)

// What clients send is stored as the room needs it and comes back as it was sent.
func TestInputMessages(t *testing.T) {
	for _, tt := range []struct{ name, in, role, text, back string }{
		{"type and text", `{"type":"human","content":"hi","id":"a"}`, "human", "hi", `"hi"`},
		{"a role", `{"role":"user","content":"hi"}`, "human", "hi", `"hi"`},
		{"both at once", `{"type":"human","role":"assistant","content":"hi"}`, "human", "hi", `"hi"`},
		{"a bare string", `"hi"`, "human", "hi", `"hi"`},
		{"a pair", `["assistant","hi"]`, "ai", "hi", `"hi"`},
		{"blocks", `{"type":"human","content":[{"type":"text","text":"@proto"},{"type":"text","text":"hi"}]}`, "human", "@proto hi",
			`[{"type":"text","text":"@proto"},{"type":"text","text":"hi"}]`},
		{"an image beside the text", `{"type":"human","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"http://h/i"}}]}`,
			"human", "see", `[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"http://h/i"}}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m inputMessage
			if err := json.Unmarshal([]byte(tt.in), &m); err != nil {
				t.Fatal(err)
			}
			role, err := m.role()
			if err != nil {
				t.Fatal(err)
			}
			stored, err := m.stored(role)
			if err != nil || role != tt.role || stored.Text() != tt.text {
				t.Fatalf("%s %q, %v", role, stored.Text(), err)
			}
			stored.Role = langrooms.Role(role)
			if got := string(view{lead: "assistant"}.message(stored, map[string]bool{}).Content); got != tt.back {
				t.Errorf("it comes back as %s, want %s", got, tt.back)
			}
		})
	}
	for _, bad := range []string{`{"type":"nobody","content":"x"}`, `[1,2]`, `{"type":"human","content":7}`, `7`} {
		var l inputMessages
		err := json.Unmarshal([]byte(bad), &l)
		for _, m := range l {
			role, rerr := m.role()
			if err = rerr; err == nil {
				_, err = m.stored(role)
			}
		}
		if err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestView(t *testing.T) {
	address := room.NewAddress(langrooms.Operator, []string{"proto", "md"}, "x", "fix it", false)
	reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Round: 2, Failed: true}, "done")
	call := langrooms.NewMessage(langrooms.RoleAI, "let me ask")
	call.Parts = append(call.Parts, langrooms.Part{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c", Name: "delegate_to", Arguments: `{"target":`}})
	result := langrooms.NewMessage(langrooms.RoleTool, "")
	result.Parts = []langrooms.Part{{Kind: langrooms.PartToolResult, ToolResult: &langrooms.ToolResult{CallID: "c", Name: "delegate_to", Content: "no", IsError: true}}}
	for _, tt := range []struct {
		m    langrooms.Message
		want []string
	}{
		{address, []string{`"type":"human"`, `"content":"@proto @md fix it"`, `"to":["proto","md"]`}},
		{reply, []string{`"type":"ai"`, `"name":"proto"`, `"content":"done"`, `"round":2`, `"failed":true`, `"tool_calls":[]`}},
		{call, []string{`"name":"boss"`, `"tool_calls":[{"id":"c","name":"delegate_to","args":{},"type":"tool_call"}]`}},
		{result, []string{`"type":"tool"`, `"tool_call_id":"c"`, `"status":"error"`, `"content":"no"`}},
		{langrooms.NewMessage(langrooms.RoleSystem, "so far"), []string{`"type":"system"`, `"content":"so far"`}},
	} {
		got := asJSON(t, view{lead: "boss"}.message(tt.m, map[string]bool{}))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
	}
	named := view{lead: "boss", named: true}.messages([]langrooms.Message{reply, langrooms.NewMessage(langrooms.RoleAI, "so be it")})
	if string(named[0].Content) != `"done"` || string(named[1].Content) != `"**@boss** — so be it"` {
		t.Errorf("named: %s, %s", named[0].Content, named[1].Content)
	}
}

// When a message was said stands beside the room's facts, and alone where there are none.
func TestMessageTime(t *testing.T) {
	at := time.Date(2026, 12, 1, 12, 3, 4, 500_000_000, time.FixedZone("", 3600))
	reply, asked := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x"}, "done"), langrooms.NewMessage(langrooms.RoleHuman, "x")
	for _, m := range []langrooms.Message{reply, asked} {
		m.Time = at
		got := asJSON(t, view{lead: "boss"}.message(m, map[string]bool{}))
		if !strings.Contains(got, `"time":"2026-12-01T11:03:04.5Z"`) || strings.Contains(got, `"room"`) != (m.Stamp != nil) {
			t.Errorf("%s", got)
		}
	}
	asked.Time, asked.Summary = time.Time{}, &langrooms.Summary{Replaced: 7}
	if got := asJSON(t, view{}.message(asked, map[string]bool{})); !strings.Contains(got, `"metadata":{"summary":{"replaced":7}}`) {
		t.Errorf("a summary: %s", got)
	}
	asked.Summary = nil
	if got := asJSON(t, view{}.message(asked, map[string]bool{})); !strings.Contains(got, `"additional_kwargs":{}`) {
		t.Errorf("a time that nobody knows: %s", got)
	}
}

// What an answer used is told as LangChain has it, the lead's and a member's alike.
func TestUsageMetadata(t *testing.T) {
	u := &langrooms.Usage{InputTokens: 12, OutputTokens: 3, CostUSD: new(0.25)}
	reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x", Usage: u}, "done")
	lead := langrooms.NewMessage(langrooms.RoleAI, "so be it")
	lead.Usage = u
	for _, m := range []langrooms.Message{reply, lead} {
		got := asJSON(t, view{lead: "boss"}.message(m, map[string]bool{}))
		for _, want := range []string{`"usage_metadata":{"input_tokens":12,"output_tokens":3,"total_tokens":15}`, `"response_metadata":{"cost_usd":0.25}`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
	}
	reply.Stamp.Usage = &langrooms.Usage{CostUSD: new(0.0)}
	for _, m := range []langrooms.Message{reply, langrooms.NewMessage(langrooms.RoleAI, "x"), langrooms.NewMessage(langrooms.RoleHuman, "x")} {
		if got := asJSON(t, view{lead: "boss"}.message(m, map[string]bool{})); strings.Contains(got, "usage_metadata") {
			t.Errorf("unknown tokens are told: %s", got)
		}
	}
}

// Pieces of a reply are held back while it may be a pass.
func TestMayBePass(t *testing.T) {
	for text, want := range map[string]bool{"": true, "p": true, "(Pas": true, "pass": true, "**pass**": true, "pass, but": false,
		"passing": false, "hello": false, "…": true} {
		if got := room.MayBePass(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The files of a message are named beside it, the lead's images and a member's alike.
func TestFilesAreNamed(t *testing.T) {
	reply := room.NewReply(langrooms.Stamp{From: "proto", Exchange: "x"}, "here")
	reply.Parts = append(reply.Parts, langrooms.Part{Kind: langrooms.PartBinary, Name: "../a.png", MIMEType: "image/png", Data: []byte("png")})
	got := asJSON(t, view{lead: "boss"}.message(reply, map[string]bool{}))
	if want := `"files":[{"bytes":3,"n":0,"name":"a.png","type":"image/png"}]`; !strings.Contains(got, want) || strings.Contains(got, "cG5n") {
		t.Errorf("%s lacks %s", got, want)
	}
}
