package requests

// Bound sets how many bytes may wait to be written, of all sandboxes and of one.
func (l *Log) Bound(most, ofOne int) { l.most, l.ofOne = most, ofOne }

// Waiting is how many bytes wait.
func (l *Log) Waiting() int { return l.bytes }
