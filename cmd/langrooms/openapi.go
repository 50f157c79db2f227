package main

import (
	"net/http"

	"github.com/langrooms/langrooms/httpapi"
	"github.com/langrooms/langrooms/internal/openapi"
	"github.com/langrooms/langrooms/langgraphapi"
	"github.com/langrooms/langrooms/roomsapi"
)

// apiDocument describes what the server answers under /api and as LangGraph's API.
func apiDocument() (*openapi.Document, error) {
	return openapi.New("langrooms", version(), langgraphapi.OpenAPI(), roomsapi.OpenAPI(), httpapi.OpenAPI())
}

// mountDocument serves the document.
func mountDocument(mux *http.ServeMux) error {
	d, err := apiDocument()
	if err != nil {
		return err
	}
	data := d.JSON()
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data) // who asked may have gone
	})
	return nil
}
