package setting

// HTTP is how a peer is reached over HTTP, beyond its URL and credential.
type HTTP struct {
	// Headers are set on every request. Their values may be secret. HeadersEnv names the
	// variable of a header's value.
	Headers    map[string]string
	HeadersEnv map[string]string
	// CAFile, CertFile and KeyFile are PEM files.
	CAFile, CertFile, KeyFile string
	// Proxy is a URL; none means the environment's.
	Proxy Secret
	// Retries is how often a request is tried again after 429 and 503, by default 1.
	Retries int
}

// HTTPFields are the keys of an HTTP, which at finds in an entry's settings.
func HTTPFields[T any](at func(settings *T) *HTTP) []Of[T] {
	return []Of[T]{
		{Field: Field{Key: "headers", Kind: Map, Check: CheckHeader,
			Help: "Headers set on every request to the peer; what is secret goes into `headers_env`."}, At: func(s *T) any { return &at(s).Headers }},
		{Field: Field{Key: "headers_env", Kind: Map, Variables: true, Check: CheckHeader,
			Help: "Headers whose values are in environment variables: the header's name and the variable's; read at each use."}, At: func(s *T) any { return &at(s).HeadersEnv }},
		{Field: Field{Key: "ca_file", Kind: Text,
			Help: "A PEM file of certificates that are trusted beside the system's."}, At: func(s *T) any { return &at(s).CAFile }},
		{Field: Field{Key: "cert_file", Kind: Text,
			Help: "The PEM file of a client certificate."}, At: func(s *T) any { return &at(s).CertFile }},
		{Field: Field{Key: "key_file", Kind: Text,
			Help: "The PEM file of its key."}, At: func(s *T) any { return &at(s).KeyFile }},
		{Field: Field{Key: "proxy", Kind: SecretText,
			Help: "The URL of a proxy; absent means the environment's (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). One that holds a password is better named by `proxy_env`."}, At: func(s *T) any { return &at(s).Proxy }},
		{Field: Field{Key: "proxy_env", Kind: Variable,
			Help: "The environment variable that holds the proxy's URL."}, At: func(s *T) any { return &at(s).Proxy }},
		{Field: Field{Key: "retries", Kind: Whole, Default: 1, Ceiling: 5, Unit: "times",
			Help: "How often a request is tried again after 429, and after 503 with Retry-After; a wait of up to 30 s is kept."}, At: func(s *T) any { return &at(s).Retries }},
	}
}

// Problems is what is wrong with keys that do not go together.
func (h HTTP) Problems() []Problem {
	if (h.CertFile == "") != (h.KeyFile == "") {
		return []Problem{{Key: "cert_file", Text: "cert_file and key_file go together, and one of them is missing"}}
	}
	return nil
}
