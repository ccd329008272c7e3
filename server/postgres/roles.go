package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// defaultRoles is the beginning of the names of the roles in the migrations, and of the roles of a database of this
// name.
const defaultRoles = "cauri"

// maxRoles is the maximum length of the beginning: a name has 63 characters at most, with "_controller".
const maxRoles = 52

var (
	rolesPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	roleInText   = regexp.MustCompile(`\b` + defaultRoles + `_(tenant|api|worker|controller|%s)\b`)
)

// rolesFor returns the beginning of the names of a database's roles. Roles belong to the whole server, so that each
// database has roles of its own: the users of one have no rights in another.
func rolesFor(database string) string {
	if database == defaultRoles {
		return defaultRoles
	}
	roles := defaultRoles + "_" + database
	if rolesPattern.MatchString(roles) && len(roles) <= maxRoles {
		return roles
	}
	sum := sha256.Sum256([]byte(database))
	plain := regexp.MustCompile(`[^a-z0-9_]`).ReplaceAllString(strings.ToLower(roles), "_")
	return plain[:min(len(plain), maxRoles-9)] + "_" + hex.EncodeToString(sum[:4])
}

// querier is a connection or a pool of database/sql.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// rolesOf returns the beginning of the names of the roles in the database. For a database without tables it returns
// chosen, or the one that follows from the database's name if chosen is empty.
func rolesOf(ctx context.Context, conn querier, chosen string) (string, error) {
	if chosen != "" && (!rolesPattern.MatchString(chosen) || len(chosen) > maxRoles) {
		return "", fmt.Errorf("the names of the roles cannot begin with %q: write at most %d of a-z, 0-9 and _, a letter first", chosen, maxRoles)
	}
	var made bool
	var database string
	err := conn.QueryRowContext(ctx, "select to_regproc('tenant_role') is not null, current_database()").Scan(&made, &database)
	if err != nil {
		return "", err
	}
	if !made && chosen == "" {
		return rolesFor(database), nil
	}
	if !made {
		return chosen, nil
	}
	var tenant string
	if err := conn.QueryRowContext(ctx, "select tenant_role()").Scan(&tenant); err != nil {
		return "", err
	}
	return strings.TrimSuffix(tenant, "_tenant"), nil
}

// renamed is a folder of migrations with other names of the roles.
type renamed struct {
	fs.FS
	roles string
}

// Open implements [fs.FS].
func (r renamed) Open(name string) (fs.File, error) {
	file, err := r.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return renamedFile{file, strings.NewReader(roleInText.ReplaceAllString(string(text), r.roles+"_$1"))}, nil
}

type renamedFile struct {
	fs.File
	text io.Reader
}

// Read implements [fs.File].
func (f renamedFile) Read(p []byte) (int, error) { return f.text.Read(p) }
