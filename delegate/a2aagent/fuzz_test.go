package a2aagent

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/langrooms/langrooms/delegate"
)

// FuzzAnswer shows that nothing a peer sends is a panic, invalid UTF-8, or a task that is
// judged as something it is not.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		result(inTask(taskV1("COMPLETED", "s", "a", "b"))).body, result(taskV03("INPUT_REQUIRED", "q")).body,
		`{"result":{"message":{"parts":[{"data":{"a":1}},{"raw":"AAEC"},{"file":{"uri":"u"}},null]}}}`,
		rpcFailure(-32603, "m", `{"x":[1]}`).body, `{"error":"no"}`, `[]`, "\xff", `{"result":{"status":null,"artifacts":[null]}}`,
		`{"result":{"artifactUpdate":{"artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true}}}`,
	} {
		f.Add([]byte(seed))
	}
	s := &session{Agent: &Agent{cfg: Config{Name: "proto"}}, token: secretToken}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, binding := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
			env, ok := readEnvelope(body, binding)
			if !ok {
				continue
			}
			if env.err != nil && (!utf8.ValidString(env.err.Error()) || strings.ContainsAny(env.err.Error(), "\n\x1b")) {
				t.Errorf("the error %q cannot be shown", env.err)
			}
			var u update
			if loose(env.result, &u.wireResult) == nil {
				u.settled()
				u.reports(&assembly{}, s)
			}
			found, err := readResult(env.result)
			if err != nil || found.phase() == pending {
				continue
			}
			got, err := s.judge(found)
			if !utf8.ValidString(s.cleanReply(got).Text) {
				t.Errorf("the reply %q is not valid UTF-8", got.Text)
			}
			if failure := s.cleanError(err); failure != nil && delegate.AsError("", failure).Cause() == "" {
				t.Errorf("the error %#v says nothing", failure)
			}
		}
	})
}

// FuzzCard shows that no card leads away from the configured origin.
func FuzzCard(f *testing.F) {
	f.Add([]byte(cardV1))
	f.Add([]byte(cardV03))
	f.Add([]byte(`{"supportedInterfaces":[{"url":"//evil/x?y#z","protocolBinding":"HTTP+JSON"},{"url":"http://u:p@h:1/%2f"}]}`))
	target := &url.URL{Scheme: "https", Host: "peer.test"}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := (&session{Agent: &Agent{target: target}}).readCard(spot{own: true}, body)
		if err != nil {
			return
		}
		at, err := url.Parse(c.endpoint.url)
		if err != nil || origin(at) != origin(target) {
			t.Errorf("the card leads to %q (%v)", c.endpoint.url, err)
		}
	})
}

// FuzzEvents shows that an event stream of any bytes ends, and yields no empty event.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\n: c\ndata:a\r\ndata:b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		total := 0
		for data := range events(bytes.NewReader(stream)) {
			total += len(data)
			if len(data) == 0 {
				t.Error("an empty event")
			}
		}
		if total > len(stream) {
			t.Errorf("%d bytes of events from %d", total, len(stream))
		}
	})
}
