// Package sandboxenvironment reconciles SandboxEnvironments: their configuration in the database, their credentials Secret
// and their status.
package sandboxenvironment
