// Package clients tests what others make of the API's description: linters, generated clients, and the Postman collection. `make clients`
// runs it, with Node.js and the npm packages of package.json. It takes minutes, so it is a part of `make verify` and not of `make test`.
package clients
