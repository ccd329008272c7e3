package postgres

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// User is a role as which a process logs in to the database.
type User struct {
	Process  string // api, worker or controller
	Password string // printable ASCII characters
}

// EnsureUsers creates each user that is missing, and sets the group and the password of each. The user of the group
// cauri_api is cauri_api_user, and so on. The parameter url is the database URL of the owner. EnsureUsers sends SCRAM
// verifiers instead of passwords, so that no log of the database has a password. The groups have to exist: [Migrate]
// creates them.
func EnsureUsers(ctx context.Context, url string, users []User) error {
	config, err := ownerConfig(url)
	if err != nil {
		return err
	}
	err = exclusively(ctx, config, func() error { // two at a time would conflict
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
		var tenant string
		if err := conn.QueryRow(ctx, "select tenant_role()").Scan(&tenant); err != nil {
			return err
		}
		for _, user := range users {
			group := strings.TrimSuffix(tenant, "tenant") + user.Process
			if err := user.ensure(ctx, conn, group); err != nil {
				return fmt.Errorf("the user of the %s: %w", user.Process, err)
			}
		}
		return nil
	})
	return Classify(err, "making the users of the processes")
}

func (u User) ensure(ctx context.Context, conn *pgx.Conn, group string) error {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	verifier, err := scramVerifier(u.Password, salt)
	if err != nil {
		return err
	}
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)", group+"_user").Scan(&exists); err != nil {
		return err
	}
	name, group := pgx.Identifier{group + "_user"}.Sanitize(), pgx.Identifier{group}.Sanitize()
	if !exists {
		if _, err := conn.Exec(ctx, "create role "+name); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, "alter role "+name+" login password '"+verifier+"'"); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "grant "+group+" to "+name)
	return err
}

const scramIterations = 4096 // the default of Postgres

// scramVerifier returns the verifier that Postgres stores for a password (RFC 5803). It returns an error if the
// password is empty or has a character that is not printable ASCII.
func scramVerifier(password string, salt []byte) (string, error) {
	if password == "" {
		return "", errors.New("its password is empty")
	}
	for _, r := range password {
		if r < ' ' || r > '~' {
			return "", errors.New("its password has a character that is not one of ASCII's that can be printed")
		}
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", err
	}
	keyed := func(text string) []byte {
		mac := hmac.New(sha256.New, salted)
		_, _ = io.WriteString(mac, text) // never fails
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(keyed("Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramIterations, encode(salt), encode(stored[:]), encode(keyed("Server Key"))), nil
}
