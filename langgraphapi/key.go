package langgraphapi

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"unicode/utf8"
)

const (
	// keyHeader makes a request for a run one that can be sent again.
	keyHeader = "Idempotency-Key"
	// againHeader says that an answer is about a run that an earlier request has begun.
	againHeader = "Idempotency-Replayed"
	// maxKey bounds a key, in characters.
	maxKey = 255
)

// runKey is the key of a request for a run, of the caller's, and what came with it.
type runKey struct {
	key    string
	caller string
	body   hash.Hash
}

// keyed returns the key of r, whose body is summed up as it is read.
func (s *Server) keyed(r *http.Request) runKey {
	k := runKey{key: r.Header.Get(keyHeader), caller: s.who(r).Name, body: sha256.New()}
	if k.key != "" {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, k.body), r.Body}
	}
	return k
}

// check refuses keys that cannot be kept.
func (k runKey) check(temporary bool) error {
	switch {
	case k.key == "":
		return nil
	case utf8.RuneCountInString(k.key) > maxKey:
		return refused(http.StatusUnprocessableEntity, "%s: it has more than %d characters", keyHeader, maxKey)
	case temporary:
		return refused(http.StatusUnprocessableEntity, "%s: a run without a thread is kept nowhere, so it cannot be found again; ask for it on a thread", keyHeader)
	}
	return nil
}

// sums are the key, as that of this caller, and the request, as they are kept.
func (k runKey) sums() (key, digest string) {
	if k.key == "" {
		return "", ""
	}
	sum := sha256.Sum256([]byte(k.caller + "\x00" + k.key))
	return hex.EncodeToString(sum[:16]), hex.EncodeToString(k.body.Sum(nil)[:16])
}
