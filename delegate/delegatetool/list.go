package delegatetool

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/delegate"
)

// ListDelegates is the tool list_delegates: who can be reached, with types, descriptions
// and, where it was a failure, how the last ask ended. Make one with [NewList].
type ListDelegates struct {
	roster *delegate.Live
	health *delegate.HealthView
}

// NewList returns the tool; health may be nil. It does no I/O.
func NewList(roster *delegate.Live, health *delegate.HealthView) (*ListDelegates, error) {
	if roster == nil {
		return nil, errors.New("delegatetool: the roster is nil")
	}
	return &ListDelegates{roster, health}, nil
}

// Name returns "list_delegates".
func (l *ListDelegates) Name() string { return "list_delegates" }

// Description says what the tool does.
func (l *ListDelegates) Description() string {
	return "List the agents that delegate_to can reach, with their types, descriptions and last failures."
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
	return roster(l.roster.Current(), l.lastFailure), nil
}

// lastFailure says how the last ask of d ended, if that was a failure.
func (l *ListDelegates) lastFailure(d delegate.Delegate) string {
	if l.health == nil {
		return ""
	}
	c := l.health.Condition(d)
	if !c.Known || c.OK {
		return ""
	}
	return fmt.Sprintf(" (failed last: %s)", c.Kind)
}
