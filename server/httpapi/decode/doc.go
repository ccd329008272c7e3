// Package decode reads the requests of the API: bodies, strictly, with their hash; the parameters of lists; and cursors.
package decode
