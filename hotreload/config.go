package hotreload

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/langrooms/langrooms"
	"github.com/langrooms/langrooms/setting"
)

// Config is what one langgraph-config.yaml says: every value in it is effective, that is,
// defaults filled in and knobs clamped. A Config that was handed out is shared and must not
// be changed.
type Config struct {
	Identity     Identity
	Lead         Lead
	Model        Model
	Checkpointer Checkpointer
	Room         Room
	// Continuity is "memory" (default) or "durable": where the peers' conversation ids are
	// kept (spec: rooms, section 7.4).
	Continuity string
	// Delegates is the roster in the file's order, valid entries only, by unique name.
	Delegates      []Delegate
	Server         Server
	SharedSessions SharedSessions
}

// Identity is who the lead is.
type Identity struct {
	// Name is the lead's name; empty, the default, means "assistant" (spec: rooms, 3.2).
	Name string
}

// Lead is what the lead is told.
type Lead struct {
	// HistoryMaxTokens bounds what the lead's model is sent of a thread, in estimated tokens: 1000
	// to 2,000,000, by default 24,000.
	HistoryMaxTokens int
	// Compact is CompactAuto, the default, or CompactOff.
	Compact string
	// Instructions stand behind the programs' own words in the lead's system prompt; empty,
	// the default, adds nothing.
	Instructions string
}

// The values of lead.compact: whether a thread that is near the bound is summarized.
const (
	CompactAuto = "auto"
	CompactOff  = "off"
)

// Model is the lead's own model.
type Model struct {
	// Provider is "demo" (default: offline, no key) or "openai" (any endpoint that speaks
	// that protocol).
	Provider string
	// URL is the endpoint's base; empty means the provider's own.
	URL string
	// Model is the model's name at the endpoint; required for provider "openai".
	Model  string
	APIKey setting.Secret
	// Temperature is sent when it is set.
	Temperature *float64
	// MaxTokens bounds one reply; 0 leaves the bound to the provider.
	MaxTokens int
	// Timeout bounds one call, by default 120 s.
	Timeout time.Duration
	// Cost is what its answers cost.
	Cost Cost
}

// String returns provider, model and endpoint, nothing that could hold a secret.
func (m Model) String() string {
	return strings.Join(strings.Fields(m.Provider+" "+m.Model+" "+setting.RedactURL(m.URL)), " ")
}

// GoString returns the same as String.
func (m Model) GoString() string { return m.String() }

// LogValue returns the same as String.
func (m Model) LogValue() slog.Value { return slog.StringValue(m.String()) }

// MarshalJSON returns the fields, secrets and what is secret in the URL hidden.
func (m Model) MarshalJSON() ([]byte, error) {
	type fields Model
	m.URL = setting.RedactURL(m.URL)
	return json.Marshal(fields(m))
}

// Checkpointer is where threads are stored. Its URL may hold a password, so it prints
// redacted.
type Checkpointer struct {
	// URL is memory:, sqlite:PATH, redis://…, rediss://…, redis+sentinel://… or
	// redis+cluster://…; by default "sqlite:langrooms.db".
	URL string
}

// String returns the URL without a password.
func (c Checkpointer) String() string { return setting.RedactURL(c.URL) }

// GoString returns the URL without a password.
func (c Checkpointer) GoString() string { return c.String() }

// LogValue returns the URL without a password.
func (c Checkpointer) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON returns the URL without a password, as {"URL": …}.
func (c Checkpointer) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"URL": c.String()})
}

// Room holds the knobs of a room run: effective, clamped values (spec: rooms, section 10).
type Room struct {
	// CatchupMaxMessages bounds the catch-up window in messages: 1 to 500, by default 40.
	CatchupMaxMessages int
	// CatchupMaxChars bounds the window in code points: 1 to 200000, by default 8000.
	CatchupMaxChars int
	// MaxRounds bounds the rounds of one address: 1 to 10, by default 3.
	MaxRounds int
	// Parallel is ParallelOff, the default, or ParallelFirst.
	Parallel string
	// MaxCostUSD bounds what one message of the operator's may cost, in US dollars: 0 to
	// 1000000, by default 0, which means no bound.
	MaxCostUSD float64
}

// The values of room.parallel: which rounds ask their members side by side.
const (
	ParallelOff   = "off"
	ParallelFirst = "first"
)

// Delegate is one entry of the roster.
type Delegate struct {
	Name, Type, Description string
	// Instructions are what it is told of its part at the beginning of each conversation; empty
	// is nothing.
	Instructions string
	// Accepts are the media types of files that it takes, such as "image/*"; nil leaves that to
	// its protocol.
	Accepts []string
	// Line is the line of the entry in the file, 1-based.
	Line int
	// Settings are what the entry says by its type, as in *a2aagent.Settings: a pointer to what the
	// type was registered with (see [setting.Register]). They may hold secrets: they are never
	// marshalled.
	Settings any `json:"-"`
	// Cost is what its turns cost, in US dollars for a million tokens; nil is unknown.
	Cost Cost
}

// Cost is the price of tokens.
type Cost struct {
	InputPerMTok, OutputPerMTok *float64
}

// Price is the price in use, or nil when a part of it is not said: then all of it is unknown.
func (c Cost) Price() *langrooms.Price {
	if c.InputPerMTok == nil || c.OutputPerMTok == nil {
		return nil
	}
	return &langrooms.Price{InputPerMTok: *c.InputPerMTok, OutputPerMTok: *c.OutputPerMTok}
}

// Equal reports whether o is the same delegate with the same launch and connection
// signature: everything but Line. A roster that is swapped live keeps equal entries running.
func (d Delegate) Equal(o Delegate) bool {
	d.Line, o.Line = 0, 0
	return reflect.DeepEqual(d, o)
}

// String returns name and type, nothing that could hold a secret.
func (d Delegate) String() string { return d.Name + " (" + d.Type + ")" }

// GoString returns the same as String.
func (d Delegate) GoString() string { return d.String() }

// LogValue returns the same as String.
func (d Delegate) LogValue() slog.Value { return slog.StringValue(d.String()) }

// Server is the REST, MCP and console server.
type Server struct {
	// Addr is HOST:PORT, by default 127.0.0.1:8080.
	Addr string
	// CORSOrigins are the web origins whose pages may call beside those on loopback.
	CORSOrigins []string
	// Keys are the identities that may call, valid entries only.
	Keys []Key
}

// Key is one identity of the server and its credential.
type Key struct {
	// Name is the identity; an agent's is its roster name.
	Name string
	// Kind is "user" (default) or "agent".
	Kind string
	Key  setting.Secret
	// Admin may read and manage every shared session (a user only).
	Admin bool
	// Agents limits which agents the identity reaches; nil means all of them.
	Agents []string
	// Owner is the user that an agent acts for, if any.
	Owner string
	// Line is the line of the entry in the file, 1-based.
	Line int
}

// SharedSessions configures shared sessions.
type SharedSessions struct {
	// Enabled is true by default.
	Enabled  bool
	Defaults SessionDefaults
}

// SessionDefaults are the budgets of a session whose creator names none.
type SessionDefaults struct {
	// MaxMessages is 1 to 500, by default 60.
	MaxMessages int
	// MaxCostUSD is in US dollars; 0, the default, means no bound.
	MaxCostUSD float64
	// TTLHours is 0 to 168, by default 24; 0 means that a session does not expire.
	TTLHours int
}

// Default returns the configuration of an empty file.
func Default() Config {
	var c Config
	for _, r := range configRows {
		store(r.at(&c), r.Kind, r.Default)
	}
	return c
}
