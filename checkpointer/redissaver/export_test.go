package redissaver

// FenceKey names the key of a thread's token and lease, for the tests.
func FenceKey(s *Saver, thread string) string { return s.fenceKey(thread) }

// ThreadKeys names all keys of a thread, for the tests.
func ThreadKeys(s *Saver, thread string) []string {
	return append(s.threadKeys(thread), s.fenceKey(thread))
}

// IndexKey names the index of threads, for the tests.
func IndexKey(s *Saver) string { return s.indexKey() }

// Judge says what Ping says of a server that reports these fields of INFO.
func Judge(info map[string]string) error { return judge(info, false) }
