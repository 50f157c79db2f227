package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/langrooms/langrooms/checkpointer"
)

// fullID is a message's whole id; it needs no look at the thread.
const fullID = 36

// lastForm is "last", and "last~N" for the Nth message before it.
var lastForm = regexp.MustCompile(`^last(?:~([0-9]{1,9}))?$`)

// messageID returns the id of the message that text names on a thread: an id, the beginning
// of exactly one, or one counted from the newest. What names none is returned as it is, so
// that the thread's own refusal names it; empty stays empty.
func messageID(ctx context.Context, saver checkpointer.Saver, thread, text string) (string, error) {
	if text == "" || len(text) >= fullID {
		return text, nil
	}
	back, counted := -1, lastForm.FindStringSubmatch(text)
	if counted != nil {
		back, _ = strconv.Atoi("0" + counted[1]) // digits, few enough
	}
	found := ""
	for m, err := range saver.Messages(ctx, checkpointer.Ref{Thread: thread}, checkpointer.Range{Backward: true}) {
		switch {
		case err != nil:
			return "", err
		case counted != nil && back == 0:
			return m.ID, nil
		case counted != nil:
			back--
		case strings.HasPrefix(m.ID, text) && found != "":
			return "", fmt.Errorf("more than one message's id begins with %s", text)
		case strings.HasPrefix(m.ID, text):
			found = m.ID
		}
	}
	switch {
	case counted != nil:
		return "", fmt.Errorf("the thread %s has no message %s", shownID(thread), text)
	case found != "":
		return found, nil
	}
	return text, nil
}
