package roomnode

import (
	"context"
	"errors"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/exchange"
)

// Record puts an ordinary turn of the program's own agent on the thread, as one checkpoint:
// what the operator asked and what the agent answered. Members read both in their windows,
// the answer under the lead's name. An empty answer leaves the question alone. Record waits
// for the thread; its error is one of the texts, or of the store.
func (n *Node) Record(ctx context.Context, thread, question, answer string) error {
	err := errors.Join(langrooms.CheckThreadID(thread), langrooms.CheckText(question), langrooms.CheckText(answer))
	if err != nil {
		return err
	}
	messages := []langrooms.Message{langrooms.NewMessage(langrooms.RoleHuman, question)}
	if answer != "" {
		messages = append(messages, langrooms.NewMessage(langrooms.RoleAI, answer))
	}
	turn, err := exchange.Begin(ctx, n.cfg.Saver, thread)
	if err != nil {
		return err
	}
	return errors.Join(turn.Put("input", messages...), turn.End())
}
