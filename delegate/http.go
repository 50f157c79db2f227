package delegate

// HTTP is how a peer is reached over HTTP, beyond its URL and credential. The zero value
// sends no headers of its own, trusts the system's authorities, takes the proxy that the
// environment names (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) and tries nothing twice.
type HTTP struct {
	// Headers are set on every request to the peer, by name. A value is resolved at each
	// request, so that a rotated one is found, and never shown. A header that the protocol
	// sets itself, and the credential's, win.
	Headers map[string]func() (string, error)
	// CAFile is a file of PEM certificates that are trusted beside the system's.
	CAFile string
	// CertFile and KeyFile are the PEM files of a client certificate: both or none. They are
	// read at each handshake.
	CertFile, KeyFile string
	// Proxy resolves the URL of the proxy (http, https or socks5; it may hold a credential).
	// Nil, or an empty one, means the environment's.
	Proxy func() (string, error)
	// Retries is how often a request is tried again that the peer would not take for now:
	// status 429, and 503 with Retry-After. A wait that is asked for is kept up to 30 s; a
	// longer one is not waited for.
	Retries int
}
