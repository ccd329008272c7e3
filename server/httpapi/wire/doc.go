// Package wire has what the API reads and writes: requests with their strict decoding and their hash, responses, error
// bodies, cursors, and the parameters of lists.
package wire
