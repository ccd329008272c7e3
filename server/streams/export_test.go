package streams

// Kept is how many bytes all readers keep.
func (s *Streams) Kept() (bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		r.mu.Lock()
		bytes += r.recent.bytes
		for i := range r.again {
			bytes += r.again[i].bytes
		}
		r.mu.Unlock()
	}
	return bytes
}
