package room

import (
	"regexp"
	"strings"
)

// Models and servers that do not keep reasoning apart write it in front of the answer,
// between tags of these names and forms.
var (
	reasoningOpen = regexp.MustCompile(`^(?i:<(?:[a-z]+:)?(think|thinking|thought|thoughts|reasoning|reflection)(?:\s[^<>]*)?>|\[(think|thinking)\]|◁(think)▷)`)
	// A template may write the opening tag itself, so that the model's text begins behind it.
	reasoningEnd = regexp.MustCompile(`(?i)</(?:[a-z]+:)?(?:think|thinking)>[ \t]*(?:\n|$)`)
)

// CutReasoning parts a reply into its words and the reasoning in front of them: each leading
// block between <think>, <thinking>, <reasoning> or such tags, also one that is never closed,
// and what stands before a closing tag without an opening one. Both are trimmed.
func CutReasoning(text string) (words, reasoning string) {
	var thoughts []string
	words = trimInvisible(text)
	for {
		open := reasoningOpen.FindStringSubmatch(words)
		if open == nil {
			break
		}
		thought, rest := cutClosing(words[len(open[0]):], open[1]+open[2]+open[3])
		thoughts, words = append(thoughts, strings.TrimSpace(thought)), trimInvisible(rest)
	}
	if end := reasoningEnd.FindStringIndex(words); end != nil && strings.Count(words[:end[0]], "```")%2 == 0 {
		thoughts, words = append(thoughts, strings.TrimSpace(words[:end[0]])), trimInvisible(words[end[1]:])
	}
	switch {
	case words == "": // what shows nothing is no answer
		return "", strings.TrimSpace(strings.Join(thoughts, "\n"))
	case thoughts == nil:
		return strings.TrimSpace(text), ""
	}
	return words, strings.TrimSpace(strings.Join(thoughts, "\n"))
}

// cutClosing parts text at the tag that closes one of this name. Without it all of the text
// is in front of it.
func cutClosing(text, name string) (before, after string) {
	closing := regexp.MustCompile(`(?i)(?:</(?:[a-z]+:)?` + name + `\s*>|\[/` + name + `\]|◁/` + name + `▷)`)
	if at := closing.FindStringIndex(text); at != nil {
		return text[:at[0]], text[at[1]:]
	}
	return text, ""
}

func trimInvisible(text string) string {
	return strings.TrimSpace(strings.TrimLeftFunc(text, isInvisible))
}
