package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/internal/names"
	"github.com/langrooms/langrooms/room"
	"github.com/langrooms/langrooms/sharedsession"
)

// mentioned is what a text means and how its last token can go on.
type mentioned struct {
	// Kind is lead, addressed, unknown or empty (addressees and no message).
	Kind string   `json:"kind" enum:"lead,addressed,unknown,empty"`
	To   []string `json:"to"`
	// Group is "all" or "others" where a token stands for several (spec: rooms, 1.8); who they are
	// is the thread's to say.
	Group string `json:"group,omitempty" enum:"all,others"`
	// Token is the first token where it names nobody, Near a name like it.
	Token  string  `json:"token,omitempty"`
	Near   string  `json:"near,omitempty"`
	Offers []voice `json:"offers"`
}

// voice is a delegate as everybody may see it.
type voice struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

var kinds = map[room.AddressKind]string{room.NotAddressed: "lead", room.Addressed: "addressed", room.UnknownDelegate: "unknown", room.NoMessage: "empty"}

// mentions reads a text as the room does (at=start, spec: rooms, 1), or as a shared session
// does (at=anywhere, spec: shared sessions, 4.1). q is the text up to the cursor, text all
// of it.
func (s *Server) mentions(_ http.ResponseWriter, r *http.Request) (any, error) {
	form := r.URL.Query()
	q, text := form.Get("q"), form.Get("text")
	if text == "" {
		text = q
	}
	at := cmp.Or(form.Get("at"), "start")
	if at != "start" && at != "anywhere" || !utf8.ValidString(q) || !utf8.ValidString(text) {
		return nil, &refusal{http.StatusUnprocessableEntity, "invalid_query", "at must be start or anywhere, and the texts UTF-8"}
	}
	roster, release := s.cfg.Roster.Acquire()
	defer release()
	voices := s.voices(roster, s.cfg.Who(r))
	all := make([]string, len(voices))
	for i, v := range voices {
		all[i] = v.Name
	}
	out := mentioned{Kind: "lead", To: []string{}, Offers: []voice{}}
	var can []string
	head, token, open := lastToken(q)
	if at == "anywhere" {
		if found, _ := sharedsession.Mentions(text, all); len(found) > 0 {
			out.Kind, out.To = "addressed", found
		}
		can = all
	} else {
		a := room.Parse(text, all)
		out.Kind, out.Token, out.Near, out.Group = kinds[a.Kind], a.Token, a.Near, a.Group
		out.To = append(out.To, a.To...)
		can = room.Complete(head+"@", all)
	}
	if open {
		out.Offers = append(out.Offers, matching(voices, can, token)...)
	}
	return out, nil
}

// lastToken splits a text at the @ that begins its last token; open is false when there is
// none, or a word stands right before it.
func lastToken(text string) (head, token string, open bool) {
	i := strings.LastIndexByte(text, '@')
	if i < 0 || strings.ContainsFunc(text[i:], unicode.IsSpace) {
		return text, "", false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	if i > 0 && (before == '_' || unicode.IsLetter(before) || unicode.IsNumber(before)) {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// matching is the voices among can whose name begins with the token, has a word that does, or
// contains it, in this order.
func matching(voices []voice, can []string, token string) []voice {
	want := names.Key(token)
	rank := func(v voice) int {
		key := names.Key(v.Name)
		switch i := strings.Index(key, want); {
		case i == 0:
			return 0
		case i < 0:
			return -1
		case slices.ContainsFunc(strings.FieldsFunc(key, isBreak), func(word string) bool { return strings.HasPrefix(word, want) }):
			return 1
		}
		return 2
	}
	var found []voice
	for _, v := range voices {
		if slices.Contains(can, v.Name) && rank(v) >= 0 {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b voice) int { return cmp.Compare(rank(a), rank(b)) })
	return found
}

func isBreak(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// voices is the part of a roster that the caller reaches.
func (s *Server) voices(roster *delegate.Registry, who Caller) []voice {
	list := []voice{}
	for _, d := range roster.All() {
		if i := d.Info(); who.reaches(i.Name) {
			list = append(list, voice{i.Name, i.Type, i.Description})
		}
	}
	return list
}
