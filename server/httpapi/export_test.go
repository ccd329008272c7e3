package httpapi

import "github.com/go-chi/chi/v5"

// Routes is all that the server answers.
func (s *Server) Routes() chi.Routes { return s.handler.(chi.Routes) }
