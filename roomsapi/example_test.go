package roomsapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/langrooms/langrooms/checkpointer/memorysaver"
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/exchange"
	"github.com/langrooms/langrooms/roomsapi"
	"github.com/langrooms/langrooms/sharedsession"
)

func Example() {
	saver := memorysaver.New()
	defer saver.Close()
	roster, _ := delegate.NewRegistry(voice{"proto", "it builds"})
	rooms, _ := sharedsession.New(sharedsession.Config{Saver: saver,
		Room: func() (exchange.Room, func()) { return exchange.Room{Roster: roster}, func() {} }})
	defer rooms.Close()
	api, _ := roomsapi.New(roomsapi.Config{Rooms: rooms, Who: func(*http.Request) sharedsession.Caller {
		return sharedsession.Caller{Party: sharedsession.Party{Kind: sharedsession.User, Name: "ada"}}
	}})

	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("POST", "/api/rooms", strings.NewReader(`{"name": "release", "agents": []}`)))
	fmt.Print(w.Code, " ", w.Body)
	// Output:
	// 422 {"detail":{"code":"no_participants","message":"a room needs at least one agent"}}
}
