// Package apidoc is the API's description: an OpenAPI document with examples, and a page made of it, both as they are served.
package apidoc
