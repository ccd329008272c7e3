// Package wait stands in for testcontainers-go's.
package wait

type HTTPStrategy struct{ path string }

func ForHTTP(path string) *HTTPStrategy { return &HTTPStrategy{path} }

func (s *HTTPStrategy) WithPort(string) *HTTPStrategy { return s }

func (s *HTTPStrategy) Target() string { return s.path }
