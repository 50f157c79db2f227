package sharedsession

import "testing"

// Who comes in the middle of a turn is told what was said so far, and nothing of a turn that
// has ended.
func TestWordsSoFar(t *testing.T) {
	var h hub
	h.say("r", Event{Type: EventPartial, Data: Partial{Wake: "w", Agent: "proto", Text: "half"}})
	h.say("r", Event{Type: EventPartial, Data: Partial{Wake: "w", Agent: "proto", Text: "half of it"}})
	h.say("other", Event{Type: EventPartial, Data: Partial{Wake: "v", Agent: "proto", Text: "elsewhere"}})
	u := h.join("r")
	defer u.leave()
	select {
	case e := <-u.partial:
		if e.Data.(Partial).Text != "half of it" {
			t.Errorf("told %v", e.Data)
		}
	default:
		t.Error("nothing was told")
	}
	h.hush("r", "w")
	h.hush("other", "v")
	late := h.join("r")
	defer late.leave()
	if n := len(late.partial); n != 0 || len(h.words) != 0 {
		t.Errorf("%d events of a turn that has ended, %d rooms with words", n, len(h.words))
	}
}
