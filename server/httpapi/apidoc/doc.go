// Package apidoc is the API's description: an OpenAPI document with examples, and a page with the same content. It serves both.
package apidoc
