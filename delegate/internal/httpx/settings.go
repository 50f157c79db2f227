package httpx

import (
	"github.com/langrooms/langrooms/delegate"
	"github.com/langrooms/langrooms/setting"
)

// Options is what the configuration file says of reaching a peer over HTTP; variables are read
// at each use.
func Options(h setting.HTTP) delegate.HTTP {
	o := delegate.HTTP{CAFile: h.CAFile, CertFile: h.CertFile, KeyFile: h.KeyFile, Retries: h.Retries}
	if len(h.Headers)+len(h.HeadersEnv) > 0 {
		o.Headers = make(map[string]func() (string, error))
	}
	for name, value := range h.Headers {
		o.Headers[name] = setting.NewSecret(value).Resolve
	}
	for name, variable := range h.HeadersEnv {
		o.Headers[name] = setting.FromEnv(variable).Resolve
	}
	if !h.Proxy.IsZero() {
		o.Proxy = h.Proxy.Resolve
	}
	return o
}
