// Package wire has the types of the API's JSON: the bodies of requests and answers, as their fields are written. A client of
// the API imports it, so it imports the domain alone.
package wire
