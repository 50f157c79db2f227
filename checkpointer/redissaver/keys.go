package redissaver

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
)

// tag returns the hash tag of an id: the id itself when it is short and plain, else "#"
// and its digest. It is never empty and holds no brace, so all keys of an id share a
// slot, whatever the id holds, and a long id costs no more than a short one.
func tag(id string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)
	}
	if id != "" && len(id) <= 43 && strings.IndexFunc(id, func(r rune) bool { return !plain(r) }) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "#" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// threadKeys returns the keys of a thread in the order that lua/lib.lua expects:
// record, rows, order, log, values, pending writes. All of them exist while the thread
// does.
func (s *Saver) threadKeys(thread string) []string { return s.keysUnder(thread, "") }

// stagedKeys are the keys beside those of a thread that hold a copy on its way.
func (s *Saver) stagedKeys(thread, name string) []string { return s.keysUnder(thread, "s:"+name+":") }

func (s *Saver) keysUnder(thread, place string) []string {
	base := s.config.Prefix + "{" + tag(thread) + "}:" + place
	keys := make([]string, 6, 8)
	for i, name := range []string{"t", "r", "i", "l", "v", "w"} {
		keys[i] = base + name
	}
	return keys
}

// fencedKeys are the keys of a thread and, for a caller with a fencing token, its fence:
// a key that may be absent is declared only where it is needed, because a cluster cannot
// serve a script with one while the slot moves.
func (s *Saver) fencedKeys(thread, token string) []string {
	keys := s.threadKeys(thread)
	if token != "" {
		keys = append(keys, s.fenceKey(thread))
	}
	return keys
}

// fenceKey holds the fencing token and the lease of a thread.
func (s *Saver) fenceKey(thread string) string { return s.config.Prefix + "{" + tag(thread) + "}:f" }

// indexKey names the sorted set of all threads, by the time of a recent put. It is in a
// slot of its own.
func (s *Saver) indexKey() string { return s.config.Prefix + "threads" }

// splitRow takes a member of the order apart, which lua/lib.lua's pair has made.
func splitRow(key string) (namespace, id string, ok bool) {
	size, rest, found := strings.Cut(key, ":")
	n, err := strconv.Atoi(size)
	if !found || err != nil || n < 0 || n > len(rest) {
		return "", "", false
	}
	return rest[:n], rest[n:], true
}
