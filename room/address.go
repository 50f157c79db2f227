package room

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/langrooms/langrooms/internal/names"
)

// AddressKind says what a text of the operator is.
type AddressKind int

// The kinds of a text.
const (
	// NotAddressed is an ordinary turn of the lead; so is every text when the roster is empty.
	NotAddressed AddressKind = iota
	// Addressed is a message to one or more members: To and Message are set.
	Addressed
	// UnknownDelegate means that the first token names nobody: Token and perhaps Near are
	// set. Answer with [UnknownText].
	UnknownDelegate
	// NoMessage means addressees but nothing to say to them: To is set. Answer with
	// [UsageText].
	NoMessage
)

// Address is what [Parse] found in a text.
type Address struct {
	Kind AddressKind
	// To lists the addressees in written order, each once, in the roster's spelling.
	To []string
	// Group is [GroupAll] or [GroupOthers] when a token stands for several members; see
	// [Address.Expand]. To then lists those that are named beside it, and may be empty.
	Group string
	// Message is what follows the addressees, verbatim: a suffix of the text.
	Message string
	// Token is the token that does not resolve, as typed, with its @.
	Token string
	// Near is the roster name closest to Token within an edit distance of 2, or "".
	Near string
}

// Parse finds out whom text addresses (spec 1.1–1.5). The leading run of @ tokens is
// resolved against the roster's names: exactly, else under Unicode compatibility
// composition and case folding when just one name matches, else without trailing
// punctuation. The first token that does not resolve begins the message. Characters that
// show nothing are passed over in front of an @ and in a token.
func Parse(text string, roster []string) Address {
	rest := beforeAt(text)
	if len(roster) == 0 || !strings.HasPrefix(rest, "@") {
		return Address{}
	}
	known := newRoster(roster)
	var to []string
	group := ""
	seen := make(map[string]bool)
	for {
		rest = beforeAt(rest)
		token := firstToken(rest)
		if name, ok := known.resolve(token); ok {
			if !seen[name] {
				seen[name] = true
				to = append(to, name)
			}
		} else if g := known.group(token); g != "" {
			if group != GroupAll {
				group = g
			}
		} else {
			break
		}
		rest = rest[len(token):]
	}
	nobody := len(to) == 0 && group == ""
	switch token := firstToken(rest); {
	case nobody && strings.TrimLeftFunc(token[1:], isInvisible) == "":
		return Address{}
	case nobody:
		return Address{Kind: UnknownDelegate, Token: token, Near: known.near(token)}
	case strings.TrimLeftFunc(rest, isInvisible) == "":
		return Address{Kind: NoMessage, To: to, Group: group}
	}
	return Address{Kind: Addressed, To: to, Group: group, Message: rest}
}

// beforeAt is s without the white space in front and, if an @ follows, without anything in
// front of it that shows nothing.
func beforeAt(s string) string {
	if at := strings.TrimLeftFunc(s, isInvisible); strings.HasPrefix(at, "@") {
		return at
	}
	return strings.TrimLeftFunc(s, unicode.IsSpace)
}

// firstToken returns s up to its first white space.
func firstToken(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}

// UnknownText is the answer to a token that names nobody on the roster (spec 1.4), with a
// second line that offers near unless it is empty. Token is given as typed, with its @.
func UnknownText(token string, roster []string, near string) string {
	available := make([]string, len(roster))
	for i, name := range roster {
		available[i] = inline(name)
	}
	if len(available) == 0 {
		available = []string{"none"}
	}
	text := "Unknown or unreachable delegate: " + inline(token) + ". Available: " + strings.Join(available, ", ") + "."
	if near != "" {
		text += "\nDid you mean @" + inline(near) + "?"
	}
	return text
}

// UsageText is the answer to an address without a message (spec 1.5), whose addressees are the
// members to, and with a group those that it stands for.
func UsageText(to []string, group string) string {
	if group != "" {
		to = append([]string{group}, to...)
	}
	if len(to) == 0 {
		return "There is nothing to say and nobody to say it to. Write @name and a message."
	}
	return "There is no message for " + mentions(to) + ". Write it after the name, as in: @" +
		inline(to[0]) + " what broke the build?"
}

// NotWaitingText is the answer to an answer that no task of its addressees waits for.
func NotWaitingText(to []string) string {
	if len(to) != 1 {
		return "An answer goes to one delegate that waits for it, as in: /answer @name main"
	}
	return "@" + inline(to[0]) + " does not wait for an answer. Write @" + inline(to[0]) + " and a message to speak to it."
}

// Complete lists the roster names that can complete the last token of what stands before
// the cursor, in roster order (spec 1.7). There is none unless that token begins with @
// and everything before it is addressees. Names are compared as [Parse] does; a name that is
// addressed already, or that [Parse] would not resolve to itself, is never offered.
func Complete(prefix string, roster []string) []string {
	start := 0
	if i := strings.LastIndexFunc(prefix, unicode.IsSpace); i >= 0 {
		_, width := utf8.DecodeRuneInString(prefix[i:])
		start = i + width
	}
	head, token := prefix[:start], prefix[start:]
	if token = beforeAt(token); !strings.HasPrefix(token, "@") {
		return nil
	}
	before := Parse(head, roster)
	if before.Group != "" {
		roster = nil // all are addressed
	}
	if before.Kind != NoMessage && strings.TrimSpace(head) != "" {
		return nil
	}
	var offers []string
	want := names.Key(token[1:])
	for _, name := range roster {
		known := slices.Contains(before.To, name) || slices.Contains(offers, name)
		if known || !strings.HasPrefix(names.Key(name), want) {
			continue
		}
		if a := Parse("@"+name, roster); a.Kind == NoMessage && slices.Equal(a.To, []string{name}) {
			offers = append(offers, name)
		}
	}
	if want != "" && len(roster) > 1 {
		offers = append(offers, groupsLike(want, roster)...)
	}
	return offers
}
