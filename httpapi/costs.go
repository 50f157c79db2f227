package httpapi

import "net/http"

// costs says what a thread has cost, by member and in all. What nobody told the cost of is
// counted beside the sums (langrooms.Spending).
func (s *Server) costs(_ http.ResponseWriter, r *http.Request) (any, error) {
	if s.cfg.Costs == nil {
		return nil, errNoThread
	}
	return s.cfg.Costs(r.Context(), s.cfg.Who(r), r.PathValue("id"))
}
