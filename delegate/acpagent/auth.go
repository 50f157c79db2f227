package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/langrooms/langrooms/delegate"
)

// authMethod is a way to authenticate that the agent offers (protocol document
// "Initialization"). Type and Vars are a proposal that agents follow already.
type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"`
	Vars        []struct {
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	} `json:"vars"`
}

// variables returns the environment variables that the method needs. Agents that do not
// list them name the variable in the words for people: "Use OPENAI_API_KEY".
func (m authMethod) variables() []string {
	var names []string
	for _, v := range m.Vars {
		if !v.Optional {
			names = append(names, v.Name)
		}
	}
	if len(m.Vars) == 0 && m.Type == "" {
		names = keyVariable.FindAllString(m.Name+" "+m.Description, -1)
	}
	return names
}

var keyVariable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\b`)

// unattended returns the first method that needs no person, when err is the agent's wish for
// authentication: each variable that it needs is set in the agent's environment.
func (s *session) unattended(err error) (id string, ok bool) {
	if !wantsAuth(err) {
		return "", false
	}
	set := make(map[string]bool)
	for _, pair := range s.cmd.Env {
		name, value, _ := strings.Cut(pair, "=")
		set[name] = value != ""
	}
	for _, m := range s.hello.AuthMethods {
		names := m.variables()
		if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !set[name] }) {
			return m.ID, true
		}
	}
	return "", false
}

func wantsAuth(err error) bool {
	var refused *acp.RequestError
	return errors.As(err, &refused) && refused.Code == codeAuthRequired
}

// authenticate uses one of the agent's methods.
func (s *session) authenticate(ctx context.Context, id string) error {
	if !slices.ContainsFunc(s.hello.AuthMethods, func(m authMethod) bool { return m.ID == id }) {
		return misfitf("auth_method: the agent does not offer %q; it offers %s", id, s.hello.offers())
	}
	var nothing json.RawMessage
	err := s.command(ctx, acp.AgentMethodAuthenticate, acp.AuthenticateRequest{MethodId: id}, &nothing)
	if err != nil {
		return fmt.Errorf("with method %q: %w", id, err)
	}
	return nil
}

// maxOffers bounds a list of what an agent offers in an error.
const maxOffers = 12

// offers lists the agent's methods and the variables that they need.
func (h hello) offers() string {
	var words []string
	for _, m := range h.AuthMethods {
		word := m.ID
		if names := m.variables(); len(names) > 0 {
			word += " (needs " + strings.Join(names, ", ") + ")"
		}
		words = append(words, word)
	}
	return list(words)
}

// list joins words of a peer for an error.
func list(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	if over := len(words) - maxOffers; over > 0 {
		words = append(slices.Clone(words[:maxOffers]), fmt.Sprintf("and %d more", over))
	}
	return delegate.OneLine(strings.Join(words, ", "), delegate.MaxCause/2)
}
