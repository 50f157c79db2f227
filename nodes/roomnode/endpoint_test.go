package roomnode_test

import (
	"io"
	"net/http"
	"net/http/httptest"
)

// exampleServer is the model endpoint of the Example; TestMain ends it.
var exampleServer *httptest.Server

// endpoint serves a model that always says the same.
func endpoint() string {
	exampleServer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"I'd blame auth\"}}]}\n\ndata: [DONE]\n\n")
	}))
	return exampleServer.URL
}
