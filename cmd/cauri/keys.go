package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func newKeysCommand() *cobra.Command {
	var url, keyFile string
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Show which encryption keys are in use, and whether one can be removed",
		Long: `Show which encryption keys are in use, and whether one can be removed.

The keys themselves are never shown, only the first four bytes of their SHA-256.
The command ends with an error while a stored secret is encrypted with another key
than the first one of the file. The controller re-encrypts it within a minute.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := requireDatabaseURL(url); err != nil {
				return err
			}
			return runKeys(cmd.Context(), cmd.OutOrStdout(), url, keyFile)
		},
	}
	databaseURL(cmd, &url)
	cmd.Flags().StringVar(&keyFile, "encryption-key-file", "", "file with the keys that encrypt stored secrets, one key a line, in base64")
	return cmd
}

func runKeys(ctx context.Context, out io.Writer, url, keyFile string) error {
	ring, err := loadKeyRing(keyFile)
	if err != nil {
		return err
	}
	db, err := postgres.Open(url, postgres.Options{MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	sealed, err := sandboxes.New(db, sandboxes.Options{KeyRing: ring}).SealedSecrets(ctx)
	if err != nil {
		return err
	}
	uses := keyUses(ring.Keys(), sealed)
	if err := printKeys(out, uses); err != nil {
		return err
	}
	left := 0
	for _, use := range uses[1:] {
		left += use.secrets
	}
	if left > 0 {
		return cli.Negative(fmt.Errorf("%s not encrypted with the first key: keep every key in the file that is still in use",
			english.Plural(left, "stored secret is", "stored secrets are")))
	}
	return nil
}

// keyUse is the number of stored secrets that are encrypted with a key.
type keyUse struct {
	key     string
	inFile  string
	secrets int
}

// keyUses returns the keys of the file in order, then the keys that only the database has.
func keyUses(file []string, sealed []sandboxes.SealedSecrets) []keyUse {
	var uses []keyUse
	for i, key := range file {
		use := keyUse{key: key, inFile: "yes"}
		if i == 0 {
			use.inFile = "first"
		}
		uses = append(uses, use)
	}
	for _, s := range sealed {
		at := slices.Index(file, s.Key)
		if at < 0 {
			at = len(uses)
			uses = append(uses, keyUse{key: s.Key, inFile: "missing"})
		}
		uses[at].secrets += s.Secrets
	}
	return uses
}

func printKeys(out io.Writer, uses []keyUse) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	cli.Fprintf(table, "KEY\tIN THE FILE\tSECRETS\n")
	for _, use := range uses {
		cli.Fprintf(table, "%s\t%s\t%d\n", use.key, use.inFile, use.secrets)
	}
	return table.Flush()
}
