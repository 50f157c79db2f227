package delegatetool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/room"
)

// arguments are the parameters of delegate_to.
type arguments struct {
	Target     string  `json:"target"`
	Query      string  `json:"query"`
	Summary    string  `json:"summary"`
	Background bool    `json:"background"`
	ResumeTask string  `json:"resume_task_id"`
	Timeout    float64 `json:"timeout"`
}

// shape shows the arguments to a model that writes its calls as text.
const shape = `{"target": "NAME", "query": "WHAT TO ASK"}`

// readArguments reads what a model wrote, also inside a code fence. The error says what is
// wrong in a model's terms.
func readArguments(input string) (arguments, error) {
	var a arguments
	input = strings.TrimSpace(input)
	if inside, ok := strings.CutPrefix(input, "```"); ok {
		input = strings.TrimSuffix(strings.TrimPrefix(inside, "json"), "```")
	}
	err := json.Unmarshal([]byte(input), &a)
	if err != nil {
		a, err = loosely(input, err)
	}
	if err == nil {
		a.ResumeTask = present(a.ResumeTask)
		return a, nil
	}
	why := delegate.DecodeCause(err).Error()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && strings.TrimSpace(input) == "" {
		why = "they are empty"
	} else if errors.As(err, &syntax) {
		why = "they are not valid JSON (" + why + ")"
	}
	return a, fmt.Errorf("the arguments of delegate_to cannot be read: %s; write one JSON object such as %s", why, shape)
}

// loosely reads values of another type than they should be, as models write them: a number or
// a truth as text, a name as a list of one. It returns err where the input is no object.
func loosely(input string, err error) (a arguments, _ error) {
	fields := map[string]any{}
	if json.Unmarshal([]byte(input), &fields) != nil {
		return a, err
	}
	for key, value := range fields {
		if list, ok := value.([]any); ok && len(list) == 1 {
			value = list[0]
			fields[key] = value
		}
		text, ok := value.(string)
		if !ok {
			continue
		}
		switch text = strings.ToLower(present(text)); key {
		case "timeout":
			var n float64
			if text == "" || json.Unmarshal([]byte(text), &n) == nil {
				fields[key] = n
			}
		case "background":
			if text == "" || text == "true" || text == "false" {
				fields[key] = text == "true"
			}
		}
	}
	plain, err := json.Marshal(fields)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(plain, &a)
}

// present is text without what models write for nothing.
func present(text string) string {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "null", "none", "nil", "undefined":
		return ""
	}
	return text
}

// decoration is what models put around a name.
const decoration = " \t\r\n@\"'`*_“”‘’„«»‹›()[]{}<>-•.,:;"

// resolve finds who is meant by target: by the rules of a leading @ token, else without
// decoration, else in the form of the roster's own list, "proto (acp)". An address without
// addressees is no name of the roster.
func resolve(target string, names []string) room.Address {
	target = strings.TrimSpace(target)
	plain, _, listed := strings.Cut(strings.TrimLeft(target, decoration), " (")
	var first room.Address
	for i, name := range []string{strings.TrimPrefix(target, "@"), strings.Trim(target, decoration), strings.Trim(plain, decoration)} {
		if i == 2 && !listed {
			break
		}
		address := room.Parse("@"+name+" x", names)
		if address.Kind == room.Addressed && len(address.To) == 1 && address.Message == "x" {
			return address
		}
		if i == 0 {
			first = room.Address{Near: address.Near}
		}
	}
	return first
}
