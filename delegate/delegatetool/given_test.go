package delegatetool_test

import (
	"testing"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/exchange"
)

// A turn that has cost what it may delegates nothing any more, and the model is told why.
func TestMaxCost(t *testing.T) {
	proto := named("proto")
	tu := begin(t)
	tu.Charge("assistant", &langrooms.Usage{CostUSD: new(0.5)})
	cfg := delegatetool.Config{Room: with(roster(t, proto), func(r *exchange.Room) { r.MaxCostUSD = 0.5 }),
		Background: func(delegatetool.Job) error { t.Error("it runs in the background"); return nil }}
	for _, background := range []bool{false, true} {
		_, err := tu.call(cfg, args{"target": "proto", "query": "q", "background": background})
		if want := "delegate @proto was not asked: the message has reached its cost bound: $0.50 of $0.50 (room.max_cost_usd)"; err == nil || err.Error() != want {
			t.Errorf("background %v: %v, want %s", background, err, want)
		}
	}
	expect(t, "asked", 0, len(proto.asked))
	expect(t, "thread", []string{"human: hello", "ai: the call", "tool: the result"}, tu.flush())
}

// What the operator gave the lead with this message goes along, and is not stored again; what came with
// an earlier one does not.
func TestFilesGoAlong(t *testing.T) {
	file := langrooms.Part{Kind: langrooms.PartBinary, Name: "a.png", MIMEType: "image/png", Data: []byte("png")}
	given := langrooms.NewMessage(langrooms.RoleHuman, "what is this?")
	given.Parts = append(given.Parts, file)
	call := langrooms.NewMessage(langrooms.RoleAI, "I will ask.")
	call.Parts = append(call.Parts, langrooms.Part{Kind: langrooms.PartToolCall, ToolCall: &langrooms.ToolCall{ID: "c", Name: "delegate_to", Arguments: "{}"}})
	result := langrooms.NewMessage(langrooms.RoleTool, "it says so")
	for name, tt := range map[string]struct {
		before []langrooms.Message
		want   int
	}{
		"with this message":          {[]langrooms.Message{given}, 1},
		"at the second call":         {[]langrooms.Message{given, call, result}, 1},
		"with an earlier one":        {[]langrooms.Message{given, langrooms.NewMessage(langrooms.RoleAI, "A chart."), langrooms.NewMessage(langrooms.RoleHuman, "and?")}, 0},
		"of a turn that has an end":  {[]langrooms.Message{given, langrooms.NewMessage(langrooms.RoleAI, "A chart."), langrooms.NewMessage(langrooms.RoleSystem, "woken")}, 0},
		"with a message before this": {[]langrooms.Message{given, langrooms.NewMessage(langrooms.RoleHuman, "never mind")}, 0},
	} {
		proto := named("proto")
		tu := begin(t, tt.before...)
		if _, err := tu.call(delegatetool.Config{Room: exchange.RoomOf(roster(t, proto))}, args{"target": "proto", "query": "q"}); err != nil {
			t.Fatal(err)
		}
		expect(t, name, tt.want, len(proto.asked[0].Files))
		tu.flush()
		history, err := tu.History()
		if err != nil {
			t.Fatal(err)
		}
		stored := 0
		for _, m := range history {
			stored += len(m.Files())
		}
		expect(t, name+": stored once", 1, stored)
	}
}
