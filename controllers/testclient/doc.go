// Package testclient reconciles TestClients: it registers their SIMs in the sandbox that they name.
package testclient
