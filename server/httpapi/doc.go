// Package httpapi is the /v1 API that a merchant's backend talks to.
//
// It is stateless: a request is authenticated from the directory in memory, its outcome is decided by package payments, and the
// transaction is recorded by package store before anything is answered.
package httpapi
