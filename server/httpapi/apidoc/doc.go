// Package apidoc has the API's description, and serves it: an OpenAPI document with examples, and a page with the same
// content.
package apidoc
