package sharedsession_test

import (
	"context"
	"fmt"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/sharedsession"
)

// A person opens a room with two agents; one hands over to the other.
func Example() {
	ctx := context.Background()
	saver := memorysaver.New()
	defer saver.Close()
	roster, _ := delegate.NewRegistry(says("proto", "It builds. @reviewer please read the diff."), says("reviewer", "The diff is fine."))
	rooms, _ := sharedsession.New(sharedsession.Config{
		Saver: saver,
		Room:  func() (exchange.Room, func()) { return exchange.Room{Roster: roster}, func() {} },
	})
	defer rooms.Close()

	ada := sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.User, Name: "ada"}}
	room, _ := rooms.Create(ctx, ada, sharedsession.NewRoom{
		Name: "release", Agents: []sharedsession.Invitee{{Name: "proto"}, {Name: "reviewer"}}})
	rooms.Post(ctx, ada, room.ID, sharedsession.NewPost{Content: "@proto is it ready?", Wait: true})
	room, _ = rooms.Read(ctx, ada, room.ID, sharedsession.Page{})
	for _, m := range room.Messages {
		who := "room"
		if m.Sender != nil {
			who = m.Sender.Name
		}
		fmt.Printf("%d %s: %s\n", m.Seq, who, m.Content)
	}
	// Output:
	// 1 room: ada created the room with @proto, @reviewer.
	// 2 ada: @proto is it ready?
	// 3 proto: It builds. @reviewer please read the diff.
	// 4 reviewer: The diff is fine.
}
