package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// complete turns the last token before the cursor into the next name when Tab is hit: the
// only match, or as much as all matches share.
func (c *Chat) complete(text string, pos int, key rune) (string, int, bool) {
	if key != '\t' || c.Complete == nil {
		return "", 0, false
	}
	names := c.Complete(text[:pos])
	if len(names) == 0 {
		return "", 0, false
	}
	start := strings.LastIndexFunc(text[:pos], unicode.IsSpace) + 1
	for !utf8.RuneStart(text[start]) { // the white space was longer than a byte
		start++
	}
	word := "@" + common(names)
	if len(word) < pos-start {
		return "", 0, false // the matches differ in case from what was typed
	}
	if len(names) == 1 {
		word += " "
	}
	return text[:start] + word + text[pos:], start + len(word), true
}

// suggest completes what stands before pos: a command's name, or a delegate's. When nothing
// can be added it returns what the word could be.
func (c *Chat) suggest(text string, pos int) (completed string, newPos int, choices []string) {
	if word := text[:pos]; strings.HasPrefix(word, "/") && !strings.ContainsFunc(word, unicode.IsSpace) {
		for _, cmd := range c.commands() {
			if strings.HasPrefix(cmd.Name, word[1:]) {
				choices = append(choices, "/"+cmd.Name)
			}
		}
		if len(choices) == 0 {
			return text, pos, nil
		}
		full := common(choices)
		if len(choices) == 1 {
			full += " "
		}
		return full + text[pos:], len(full), choices
	}
	if c.Complete == nil {
		return text, pos, nil
	}
	for _, name := range c.Complete(text[:pos]) {
		choices = append(choices, "@"+name)
	}
	if completed, newPos, ok := c.complete(text, pos, '\t'); ok {
		return completed, newPos, choices
	}
	return text, pos, choices
}

// common returns the longest prefix of all names, by whole characters.
func common(names []string) string {
	prefix := []rune(names[0])
	for _, name := range names[1:] {
		runes := []rune(name)
		n := 0
		for n < len(prefix) && n < len(runes) && prefix[n] == runes[n] {
			n++
		}
		prefix = prefix[:n]
	}
	return string(prefix)
}
