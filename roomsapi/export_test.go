package roomsapi

// Routes are the patterns that the server answers, for the tests.
func Routes(s *Server) []string {
	var patterns []string
	for pattern := range s.routes() {
		patterns = append(patterns, pattern)
	}
	return patterns
}
