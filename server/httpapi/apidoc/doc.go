// Package apidoc serves the API's description: an OpenAPI document with examples, and a page with the same content.
package apidoc
