package delegatetool

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
)

// ListDelegates is the tool list_delegates: who can be reached, with types, descriptions
// and, where it was a failure, how the last ask ended. Make one with [NewList].
type ListDelegates struct {
	room func() (exchange.Room, func())
}

// NewList returns the tool, which lists the room's roster. It does no I/O.
func NewList(room func() (r exchange.Room, release func())) (*ListDelegates, error) {
	if room == nil {
		return nil, errors.New("delegatetool: the room is nil")
	}
	return &ListDelegates{room}, nil
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
	r, release := l.room()
	defer release()
	return roster(r.Roster, func(d delegate.Delegate) string { return lastFailure(r.Health, d) }), nil
}

// lastFailure says how the last ask of d ended, if that was a failure.
func lastFailure(health *delegate.HealthView, d delegate.Delegate) string {
	if health == nil {
		return ""
	}
	c := health.Condition(d)
	if !c.Known || c.OK {
		return ""
	}
	return fmt.Sprintf(" (failed last: %s)", c.Kind)
}
