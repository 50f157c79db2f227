package setup

import (
	"github.com/langrooms/langrooms/delegate/delegatetool"
	"github.com/langrooms/langrooms/nodes/leadnode"
	"github.com/langrooms/langrooms/nodes/roomnode"
)

// Nodes returns the two nodes that a message goes through: the room, which answers what
// addresses somebody, and the lead for everything else. Both, and the lead's tools, take
// their room from [App.Room].
func (a *App) Nodes() (*roomnode.Node, *leadnode.Node, error) {
	room, err := roomnode.New(roomnode.Config{Saver: a.Saver, Room: a.Room})
	if err != nil {
		return nil, nil, err
	}
	tools, err := a.Tools()
	if err != nil {
		return nil, nil, err
	}
	lead, err := leadnode.New(leadnode.Config{Saver: a.Saver, Model: a.instructedModel, Room: a.Room, Tools: tools,
		MaxTokens: a.historyTokens, Long: a.shorten})
	return room, lead, err
}

// Tools returns what the lead can call: delegate_to and list_delegates. They work in the room
// that [App.Room] has fixed for the turn.
func (a *App) Tools() ([]leadnode.Tool, error) {
	to, err := delegatetool.New(delegatetool.Config{Room: a.Room, Claim: a.Inbox.Claim, Background: a.background()})
	if err != nil {
		return nil, err
	}
	list, err := delegatetool.NewList(a.Room)
	return []leadnode.Tool{to, list}, err
}

// background runs delegations whose answer is not waited for; a program of one turn has none.
func (a *App) background() func(delegatetool.Job) error {
	if a.options.OneTurn {
		return nil
	}
	return a.Inbox.Background
}
