// Package postgres is the access to the database.
package postgres

import "embed"

// Migrations are the migrations of the schema, in the folder migrations.
//
//go:embed migrations/*.sql
var Migrations embed.FS
