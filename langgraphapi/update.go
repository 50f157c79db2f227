package langgraphapi

import "net/http"

func (s *Server) threadCopy(w http.ResponseWriter, r *http.Request)  { notHere(w, r) }
func (s *Server) stateUpdate(w http.ResponseWriter, r *http.Request) { notHere(w, r) }
