package main

import (
	"cmp"
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
	var o cli.Output
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Show which encryption keys are in use, and whether one can be removed",
		Long: `Show which encryption keys are in use, and whether one can be removed.

The keys themselves are never shown, only the first four bytes of their SHA-256.
The command ends with an error while a stored secret is encrypted with another key
than the first one of the file. The controller re-encrypts it within a minute.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(o.Check(), requireDatabaseURL(url)); err != nil {
				return err
			}
			return runKeys(cmd.Context(), &o, cmd.OutOrStdout(), url, keyFile)
		},
	}
	databaseURL(cmd, &url)
	cmd.Flags().StringVar(&keyFile, "encryption-key-file", "", "file with the keys that encrypt stored secrets, one key a line, in base64")
	o.Add(cmd)
	return cmd
}

func runKeys(ctx context.Context, o *cli.Output, out io.Writer, url, keyFile string) error {
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
	if err := printKeys(o, out, uses); err != nil {
		return err
	}
	left := 0
	for _, use := range uses[1:] {
		left += use.Secrets
	}
	if left > 0 {
		return cli.Negative(fmt.Errorf("%s not encrypted with the first key: keep every key in the file that is still in use",
			english.Plural(left, "stored secret is", "stored secrets are")))
	}
	return nil
}

// keyUse is the number of stored secrets that are encrypted with a key.
type keyUse struct {
	Key     string `json:"key"`
	InFile  string `json:"inFile"` // first, yes or missing
	Secrets int    `json:"secrets"`
}

// keyUses returns the keys of the file in order, then the keys that only the database has.
func keyUses(file []string, sealed []sandboxes.SealedSecrets) []keyUse {
	var uses []keyUse
	for i, key := range file {
		use := keyUse{Key: key, InFile: "yes"}
		if i == 0 {
			use.InFile = "first"
		}
		uses = append(uses, use)
	}
	for _, s := range sealed {
		at := slices.Index(file, s.Key)
		if at < 0 {
			at = len(uses)
			uses = append(uses, keyUse{Key: s.Key, InFile: "missing"})
		}
		uses[at].Secrets += s.Secrets
	}
	return uses
}

func printKeys(o *cli.Output, out io.Writer, uses []keyUse) error {
	var names []string
	for _, use := range uses {
		names = append(names, use.Key)
	}
	return cli.PrintList(o, out, uses, names, func(out io.Writer) { _ = tableOfKeys(out, uses) }) // nobody reads the output any more
}

func tableOfKeys(out io.Writer, uses []keyUse) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	cli.Fprintf(table, "KEY\tIN THE FILE\tSECRETS\n")
	for _, use := range uses {
		cli.Fprintf(table, "%s\t%s\t%d\n", use.Key, use.InFile, use.Secrets)
	}
	return table.Flush()
}
