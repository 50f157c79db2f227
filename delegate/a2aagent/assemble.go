package a2aagent

import "strings"

// assembly puts the pieces of an answer together as a subscription brings them, to report
// each piece once and in the answer's order. When it cannot be sure of that any more, it
// reports nothing more: the answer itself comes from looking at the task.
type assembly struct {
	begun bool // a snapshot has shown what was there before the subscription
	known map[string]bool
	last  string // id of the artifact that grows
	text  []byte // of the artifact that grows
	lost  bool
	// spoken says that words were reported, held is what the growing artifact begins with
	// while it is blank, and open that it has had words.
	spoken, open bool
	held         string
}

// maxArtifacts bounds what is remembered of one subscription.
const maxArtifacts = 1000

// add takes in an update and returns the piece of the answer that is new.
func (a *assembly) add(w *wireTask) string {
	if w.Artifact != nil {
		return a.artifact(w.Artifact, w.Append)
	}
	var piece strings.Builder
	for i := range w.Artifacts {
		piece.WriteString(a.artifact(&w.Artifacts[i], false))
	}
	a.begun = a.begun || w.Status != nil
	return piece.String()
}

func (a *assembly) artifact(w *wireArtifact, more bool) string {
	if a.known == nil {
		a.known = make(map[string]bool)
	}
	if a.lost || len(a.known) > maxArtifacts || len(a.text) > maxAnswer {
		a.lost, a.text = true, nil
		return ""
	}
	text, known := render(w.Parts), a.known[w.ArtifactID]
	switch {
	case !known:
		a.lost = more && !a.begun // its beginning was before the subscription
		a.known[w.ArtifactID], a.last, a.text = true, w.ArtifactID, nil
		a.held, a.open = "", false
	case w.ArtifactID != a.last:
		a.lost = more
		return "" // an earlier one, sent again
	case !more:
		rest, grown := strings.CutPrefix(text, string(a.text))
		a.lost, text = !grown, rest
	}
	if a.lost {
		return ""
	}
	a.text = append(a.text, text...)
	return a.part(text)
}

// part returns the piece to report of the artifact that grows: one that begins after another
// is a paragraph of its own, and a blank one is none.
func (a *assembly) part(text string) string {
	if a.open {
		return text
	}
	if a.held += text; blank(a.held) {
		return ""
	}
	text, a.open = a.held, true
	if a.spoken {
		text = "\n\n" + strings.TrimLeft(text, "\n")
	}
	a.spoken = true
	return text
}
