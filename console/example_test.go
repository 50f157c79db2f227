package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/langrooms/langrooms/console"
)

func Example() {
	page, _ := console.New(console.Config{Cookie: "key", NeedsKey: func() bool { return true },
		Knows: func(key string) bool { return key == "sesame" },
		Who:   func(*http.Request) console.Visitor { return console.Visitor{} }})

	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))

	w = httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/signin", nil))
	fmt.Print(w.Code, " ", w.Body)
	// Output:
	// 200 text/html; charset=utf-8
	// 200 {"admin":false,"name":"","needed":true}
}
