package langgraphapi

import (
	"maps"
	"slices"
	"testing"

	"github.com/langrooms/langrooms/internal/openapi"
)

// Every route is in the document, and the document has no other.
func TestOpenAPI(t *testing.T) {
	d, err := openapi.New("it", "1", OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	routes := (&Server{}).routes()
	for _, absent := range absentPaths { // which are answered with 404, and no part of it
		delete(routes, absent)
	}
	if want := slices.Sorted(maps.Keys(routes)); !slices.Equal(d.Patterns(), want) {
		t.Errorf("the document has %v, the server %v", d.Patterns(), want)
	}
}
