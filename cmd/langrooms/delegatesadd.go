package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/hotreload"
)

// newDelegate is a new entry of the roster as flags give it.
type newDelegate struct {
	hotreload.Delegate
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
	f.Float64Var(&d.costIn, "cost-input-per-mtok", 0, "what a million tokens of a prompt cost, in US dollars")
	f.Float64Var(&d.costOut, "cost-output-per-mtok", 0, "what a million tokens of a reply cost, in US dollars")
	f.StringVar(&d.URL, "url", "", "its endpoint (a2a, openai)")
	f.StringVar(&d.Model, "model", "", "the model's name (openai, acp)")
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
		if f.Changed("retries") && d.HTTP.Retries == 0 { // which an entry without the key does not mean
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
	f.StringVar(&d.Auth.Scheme, "auth", "", "bearer, apiKey or oauth2 (a2a)")
	f.StringVar(&d.Auth.ClientID, "client-id", "", "the client's id (a2a with oauth2)")
	f.StringVar(&d.Auth.TokenURL, "token-url", "", "where tokens are issued (a2a with oauth2)")
	f.StringArrayVar(&d.Auth.Scopes, "scope", nil, "a scope to ask for (a2a with oauth2); repeatable")
	f.StringVar(&d.CardURL, "card-url", "", "where the agent card is (a2a)")
	f.StringVar(&d.Binding, "binding", "", "JSONRPC or HTTP+JSON (a2a)")
	f.Float64Var(&d.pollTimeout, "poll-timeout", 0, "how many `SECONDS` it may work without progress (a2a)")
}

func (d *newDelegate) addHTTP(f *pflag.FlagSet) {
	f.StringToStringVar(&d.HTTP.Headers, "header", nil, "a header `NAME=VALUE` of every request (a2a, openai); repeatable")
	f.StringToStringVar(&d.HTTP.HeadersEnv, "header-env", nil, "a header whose value is in a variable, `NAME=VARIABLE` (a2a, openai); repeatable")
	f.StringVar(&d.HTTP.CAFile, "ca-file", "", "a PEM file of trusted certificates (a2a, openai)")
	f.StringVar(&d.HTTP.CertFile, "cert-file", "", "the PEM file of a client certificate (a2a, openai)")
	f.StringVar(&d.HTTP.KeyFile, "key-file", "", "the PEM file of its key (a2a, openai)")
	f.StringVar(&d.proxyEnv, "proxy-env", "", "the environment `VARIABLE` that holds a proxy's URL (a2a, openai)")
	f.IntVar(&d.HTTP.Retries, "retries", 1, "how often a request is tried again after 429 and 503 (a2a, openai)")
}

func (d *newDelegate) addOpenAI(f *pflag.FlagSet) {
	f.StringVar(&d.SystemPrompt, "system-prompt", "", "what the model is told before the room's message (openai)")
	f.IntVar(&d.MaxTokens, "max-tokens", 0, "the bound on one reply (openai)")
	f.Float64Var(&d.temperature, "temperature", 0, "the temperature to send (openai); absent sends none")
	f.Float64Var(&d.total, "total-timeout", 0, "the bound in `SECONDS` on one call (openai)")
	f.StringToStringVar(&d.params, "param", nil, "a further field `NAME=JSON` of each request (openai); repeatable")
	f.BoolVar(&d.stream, "stream", true, "--stream=false asks for answers in one piece (openai)")
	f.StringVar(&d.KeyHeader, "key-header", "", "the header that carries the key (openai)")
	f.StringVar(&d.APIVersion, "api-version", "", "the API's version in the query, as Azure wants it (openai)")
	f.BoolVar(&d.OwnReplies, "own-replies", false, "show it its own replies too (openai)")
}

func (d *newDelegate) addACP(f *pflag.FlagSet) {
	f.StringVar(&d.Command, "command", "", "the program to start (acp)")
	f.StringArrayVar(&d.Args, "arg", nil, "an argument of the program (acp); repeatable")
	f.StringVar(&d.WorkDir, "workdir", "", "where the program works (acp)")
	f.StringToStringVar(&d.Env, "env", nil, "a variable `NAME=VALUE` of the program (acp); repeatable")
	f.StringArrayVar(&d.EnvRemove, "env-remove", nil, "a variable that the program does not inherit (acp); repeatable")
	f.Float64Var(&d.idleSeconds, "idle-limit", 0, "how many `SECONDS` the program is kept after an address (acp)")
	f.StringVar(&d.Mode, "mode", "", "the session mode (acp)")
	f.StringVar(&d.AuthMethod, "auth-method", "", "the agent's way to authenticate (acp)")
	f.StringVar(&d.Permissions, "permissions", "", "auto, allowlist, readonly or ask (acp)")
	f.StringArrayVar(&d.AllowKinds, "allow-kind", nil, "a kind of tool call to allow (acp); repeatable")
	f.StringArrayVar(&d.DenyKinds, "deny-kind", nil, "a kind of tool call to refuse (acp); repeatable")
	f.StringArrayVar(&d.servers, "mcp-server", nil, "a tool server (acp): langrooms, or `JSON` such as {\"name\": \"files\", \"command\": \"mcp-files\"}; repeatable")
}

// complete fills in what is not a plain field.
func (d *newDelegate) complete(f *pflag.FlagSet) error {
	switch {
	case d.keyEnv == "":
	case d.Type == "a2a":
		d.Auth.Credential = hotreload.SecretFromEnv(d.keyEnv)
	default:
		d.APIKey = hotreload.SecretFromEnv(d.keyEnv)
	}
	d.Params = paramValues(d.params)
	if !d.stream {
		d.Stream = &d.stream
	}
	if d.proxyEnv != "" {
		d.HTTP.Proxy = hotreload.SecretFromEnv(d.proxyEnv)
	}
	if !f.Changed("retries") {
		d.HTTP.Retries = 0
	}
	for flag, at := range map[string]struct {
		from *float64
		to   **float64
	}{"temperature": {&d.temperature, &d.Temperature}, "cost-input-per-mtok": {&d.costIn, &d.Cost.InputPerMTok}, "cost-output-per-mtok": {&d.costOut, &d.Cost.OutputPerMTok}} {
		if f.Changed(flag) {
			*at.to = at.from
		}
	}
	for _, bound := range []struct {
		seconds float64
		to      *time.Duration
	}{{d.pollTimeout, &d.PollTimeout}, {d.timeout, &d.Timeout}, {d.total, &d.TotalTimeout}, {d.idleSeconds, &d.IdleLimit}} {
		*bound.to = time.Duration(bound.seconds * float64(time.Second))
	}
	for _, text := range d.servers {
		server, err := hotreload.ParseMCPServer(text)
		if err != nil {
			return err
		}
		d.MCPServers = append(d.MCPServers, server)
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
