package httpapi

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
	if want := slices.Sorted(maps.Keys(routes)); !slices.Equal(d.Patterns(), want) {
		t.Errorf("the document has %v, the server %v", d.Patterns(), want)
	}
}
