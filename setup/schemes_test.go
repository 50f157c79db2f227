package setup

import (
	"testing"

	"github.com/langrooms/langrooms/hotreload"
)

// What can be opened can be configured.
func TestSchemesOfStores(t *testing.T) {
	for scheme := range registry.openers {
		url := scheme + "://127.0.0.1:1"
		if scheme == "memory" {
			url = "memory:"
		}
		c, findings, err := hotreload.Parse("c.yaml", []byte("checkpointer: { url: \""+url+"\" }\nmodel: { provider: demo }\n"))
		expect(t, scheme, url, c.Checkpointer.URL, err, storeUsable(findings))
	}
}
