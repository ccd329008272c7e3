// Package wire has the types of the API's JSON: requests with strict decoding and their hash, responses and errors. It
// also has cursors and the parameters of lists.
package wire
