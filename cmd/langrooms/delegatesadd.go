package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/delegate/a2aagent"
	"github.com/langrooms/langrooms/delegate/acpagent"
	"github.com/langrooms/langrooms/delegate/openaiagent"
	"github.com/langrooms/langrooms/hotreload"
	"github.com/langrooms/langrooms/setting"
)

// newDelegate is a new entry of the roster as flags give it.
type newDelegate struct {
	hotreload.Delegate
	// What an entry of each type has of its own, and what several have.
	a2a                                      a2aagent.Settings
	openai                                   openaiagent.Settings
	acp                                      acpagent.Settings
	url, model                               string
	http                                     setting.HTTP
	keyEnv, proxyEnv                         string
	params                                   map[string]string
	servers                                  []string
	stream                                   bool
	temperature, costIn, costOut             float64
	pollTimeout, timeout, total, idleSeconds float64
}

// addCommand writes a new entry; the program that runs takes it up by itself.
func (p *program) addCommand() *cobra.Command {
	var d newDelegate
	c := &cobra.Command{Use: "add NAME", Short: "Add a delegate to the configuration file", Args: oneArg(&d.Name)}
	f := c.Flags()
	f.StringVar(&d.Type, "type", "", "a2a, acp or openai")
	f.StringVar(&d.Description, "description", "", "what it is good for")
	f.StringVar(&d.Instructions, "instructions", "", "what it is told of its part at the beginning of each conversation")
	f.StringArrayVar(&d.Accepts, "accepts", nil, "a media `TYPE` of files that it takes, such as image/*; repeatable")
	f.Float64Var(&d.costIn, "cost-input-per-mtok", 0, "what a million tokens of a prompt cost, in US dollars")
	f.Float64Var(&d.costOut, "cost-output-per-mtok", 0, "what a million tokens of a reply cost, in US dollars")
	f.StringVar(&d.url, "url", "", "its endpoint (a2a, openai)")
	f.StringVar(&d.model, "model", "", "the model's name (openai, acp)")
	f.StringVar(&d.keyEnv, "key-env", "", "the environment `VARIABLE` that holds the credential (a2a, openai)")
	f.Float64Var(&d.timeout, "timeout", 0, "the bound in `SECONDS` on a silence (openai) or a prompt (acp)")
	d.addA2A(f)
	d.addHTTP(f)
	d.addOpenAI(f)
	d.addACP(f)
	c.RunE = func(*cobra.Command, []string) error {
		if err := d.complete(f); err != nil {
			return err
		}
		if err := delegate.CheckName(d.Name); err != nil {
			return err
		}
		if err := hotreload.AddDelegate(p.config, d.Delegate); err != nil {
			return p.noFile(err)
		}
		if f.Changed("retries") && d.http.Retries == 0 { // which an entry without the key does not mean
			if err := hotreload.Set(p.config, "delegates."+d.Name+".retries", "0"); err != nil {
				return p.noFile(err)
			}
		}
		p.said("Added %s to %s.", d.Delegate, p.config)
		return nil
	}
	return required(c, "type")
}

func (d *newDelegate) addA2A(f *pflag.FlagSet) {
	f.StringVar(&d.a2a.Auth.Scheme, "auth", "", "bearer, apiKey or oauth2 (a2a)")
	f.StringVar(&d.a2a.Auth.ClientID, "client-id", "", "the client's id (a2a with oauth2)")
	f.StringVar(&d.a2a.Auth.TokenURL, "token-url", "", "where tokens are issued (a2a with oauth2)")
	f.StringArrayVar(&d.a2a.Auth.Scopes, "scope", nil, "a scope to ask for (a2a with oauth2); repeatable")
	f.StringVar(&d.a2a.CardURL, "card-url", "", "where the agent card is (a2a)")
	f.StringVar(&d.a2a.Binding, "binding", "", "JSONRPC or HTTP+JSON (a2a)")
	f.Float64Var(&d.pollTimeout, "poll-timeout", 0, "how many `SECONDS` it may work without progress (a2a)")
}

func (d *newDelegate) addHTTP(f *pflag.FlagSet) {
	f.StringToStringVar(&d.http.Headers, "header", nil, "a header `NAME=VALUE` of every request (a2a, openai); repeatable")
	f.StringToStringVar(&d.http.HeadersEnv, "header-env", nil, "a header whose value is in a variable, `NAME=VARIABLE` (a2a, openai); repeatable")
	f.StringVar(&d.http.CAFile, "ca-file", "", "a PEM file of trusted certificates (a2a, openai)")
	f.StringVar(&d.http.CertFile, "cert-file", "", "the PEM file of a client certificate (a2a, openai)")
	f.StringVar(&d.http.KeyFile, "key-file", "", "the PEM file of its key (a2a, openai)")
	f.StringVar(&d.proxyEnv, "proxy-env", "", "the environment `VARIABLE` that holds a proxy's URL (a2a, openai)")
	f.IntVar(&d.http.Retries, "retries", 1, "how often a request is tried again after 429 and 503 (a2a, openai)")
}

func (d *newDelegate) addOpenAI(f *pflag.FlagSet) {
	f.StringVar(&d.openai.SystemPrompt, "system-prompt", "", "what the model is told before the room's message (openai)")
	f.IntVar(&d.openai.MaxTokens, "max-tokens", 0, "the bound on one reply (openai)")
	f.Float64Var(&d.temperature, "temperature", 0, "the temperature to send (openai); absent sends none")
	f.Float64Var(&d.total, "total-timeout", 0, "the bound in `SECONDS` on one call (openai)")
	f.StringToStringVar(&d.params, "param", nil, "a further field `NAME=JSON` of each request (openai); repeatable")
	f.BoolVar(&d.stream, "stream", true, "--stream=false asks for answers in one piece (openai)")
	f.StringVar(&d.openai.KeyHeader, "key-header", "", "the header that carries the key (openai)")
	f.StringVar(&d.openai.APIVersion, "api-version", "", "the API's version in the query, as Azure wants it (openai)")
	f.BoolVar(&d.openai.OwnReplies, "own-replies", false, "show it its own replies too (openai)")
}

func (d *newDelegate) addACP(f *pflag.FlagSet) {
	f.StringVar(&d.acp.Command, "command", "", "the program to start (acp)")
	f.StringArrayVar(&d.acp.Args, "arg", nil, "an argument of the program (acp); repeatable")
	f.StringVar(&d.acp.WorkDir, "workdir", "", "where the program works (acp)")
	f.BoolVar(&d.acp.Worktree, "worktree", false, "let it work in a git worktree of its own for each thread (acp)")
	f.StringToStringVar(&d.acp.Env, "env", nil, "a variable `NAME=VALUE` of the program (acp); repeatable")
	f.StringArrayVar(&d.acp.EnvRemove, "env-remove", nil, "a variable that the program does not inherit (acp); repeatable")
	f.Float64Var(&d.idleSeconds, "idle-limit", 0, "how many `SECONDS` the program is kept after an address (acp)")
	f.StringVar(&d.acp.Mode, "mode", "", "the session mode (acp)")
	f.StringVar(&d.acp.AuthMethod, "auth-method", "", "the agent's way to authenticate (acp)")
	f.StringVar(&d.acp.Permissions, "permissions", "", "auto, allowlist, readonly or ask (acp)")
	f.StringArrayVar(&d.acp.AllowKinds, "allow-kind", nil, "a kind of tool call to allow (acp); repeatable")
	f.StringArrayVar(&d.acp.DenyKinds, "deny-kind", nil, "a kind of tool call to refuse (acp); repeatable")
	f.StringArrayVar(&d.servers, "mcp-server", nil, "a tool server (acp): langrooms, or `JSON` such as {\"name\": \"files\", \"command\": \"mcp-files\"}; repeatable")
}

// complete makes the settings of the entry's type.
func (d *newDelegate) complete(f *pflag.FlagSet) error {
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	optional := func(flag string, at *float64) *float64 {
		if f.Changed(flag) {
			return at
		}
		return nil
	}
	d.Cost = hotreload.Cost{InputPerMTok: optional("cost-input-per-mtok", &d.costIn), OutputPerMTok: optional("cost-output-per-mtok", &d.costOut)}
	d.a2a.PollTimeout, d.acp.IdleLimit, d.openai.TotalTimeout = seconds(d.pollTimeout), seconds(d.idleSeconds), seconds(d.total)
	d.openai.Params, d.openai.Temperature = paramValues(d.params), optional("temperature", &d.temperature)
	if !d.stream {
		d.openai.Stream = &d.stream
	}
	for _, text := range d.servers {
		server, err := hotreload.ParseMCPServer(text)
		if err != nil {
			return err
		}
		d.acp.MCPServers = append(d.acp.MCPServers, server)
	}
	return d.settle(f, seconds(d.timeout))
}

// settle gives the type's settings what several types have, and refuses what the type has not.
func (d *newDelegate) settle(f *pflag.FlagSet, timeout time.Duration) error {
	if d.proxyEnv != "" {
		d.http.Proxy = setting.FromEnv(d.proxyEnv)
	}
	if !f.Changed("retries") {
		d.http.Retries = 0
	}
	var key setting.Secret
	if d.keyEnv != "" {
		key = setting.FromEnv(d.keyEnv)
	}
	var own any
	var left []any // what the type has not
	switch d.Type {
	case "a2a":
		own, left = &d.a2a, []any{d.openai, d.acp, d.model, timeout}
		d.a2a.URL, d.a2a.Auth.Credential, d.a2a.HTTP = d.url, key, d.http
	case "openai":
		own, left = &d.openai, []any{d.a2a, d.acp}
		d.openai.URL, d.openai.Model, d.openai.APIKey, d.openai.Timeout, d.openai.HTTP = d.url, d.model, key, timeout, d.http
	case "acp":
		own, left = &d.acp, []any{d.a2a, d.openai, d.url, key, d.http}
		d.acp.Model, d.acp.Timeout = d.model, timeout
	default:
		return nil // which the file says
	}
	d.Settings = own
	for _, unused := range left {
		if !reflect.ValueOf(unused).IsZero() {
			return fmt.Errorf("%w: %s has a field that type %s does not have", hotreload.ErrBadDelegate, d.Name, d.Type)
		}
	}
	return nil
}

// paramValues reads values as JSON; one that is none is text.
func paramValues(params map[string]string) map[string]any {
	var values map[string]any
	for name, text := range params {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		if values == nil {
			values = make(map[string]any)
		}
		values[name] = value
	}
	return values
}
