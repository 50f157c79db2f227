package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/httpapi"
)

func Example() {
	roster, _ := delegate.NewRegistry(voice{"proto"}, voice{"reviewer"})
	live := delegate.NewLive(roster)
	defer live.Close()
	api, _ := httpapi.New(httpapi.Config{Roster: live, InForce: hotreload.Default,
		Who: func(*http.Request) httpapi.Caller { return httpapi.Caller{} }})

	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest("GET", "/api/mentions?q=@proto+@rev", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output:
	// 200 {"kind":"addressed","to":["proto"],"offers":[{"name":"reviewer","type":"script","description":"a reviewer"}]}
}
