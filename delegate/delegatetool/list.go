package delegatetool

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/delegate"
)

// ListDelegates is the tool list_delegates: who can be reached, with types and
// descriptions. Make one with [NewList].
type ListDelegates struct{ roster *delegate.Live }

// NewList returns the tool. It does no I/O.
func NewList(roster *delegate.Live) (*ListDelegates, error) {
	if roster == nil {
		return nil, errors.New("delegatetool: the roster is nil")
	}
	return &ListDelegates{roster}, nil
}

// Name returns "list_delegates".
func (l *ListDelegates) Name() string { return "list_delegates" }

// Description says what the tool does.
func (l *ListDelegates) Description() string {
	return "List the agents that delegate_to can reach, with their types and descriptions."
}

// Definition is what the model is offered.
func (l *ListDelegates) Definition() llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: l.Name(), Description: l.Description(),
		Parameters: map[string]any{"type": "object", "properties": map[string]any{}},
	}}
}

// Call lists the roster; it reads no arguments.
func (l *ListDelegates) Call(context.Context, string) (string, error) {
	return roster(l.roster.Current()), nil
}
