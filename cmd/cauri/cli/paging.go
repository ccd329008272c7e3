package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

const (
	// pageShown is how many entries of a long list a command shows.
	pageShown = 20
	// mostListed is the maximum number of entries that a command reads.
	mostListed = 10_000
)

// paging has the flags of a list.
type paging struct {
	limit  int
	cursor string
	all    bool
	given  func(flag string) bool
}

// add declares the flags. The parameter limit is how many entries the command shows without them.
func (l *paging) add(cmd *cobra.Command, limit int) {
	flags := cmd.Flags()
	flags.IntVar(&l.limit, "limit", limit, "how many")
	flags.StringVar(&l.cursor, "cursor", "", "go on behind an earlier list: its nextCursor")
	flags.BoolVar(&l.all, "all", false, fmt.Sprintf("all, at most %d", mostListed))
	l.given = flags.Changed
}

func (l *paging) check() error {
	switch {
	case l.all && l.given("limit"):
		return usage(errors.New("--limit and --all both say how many: leave one of them out"))
	case l.limit < 1 || l.limit > mostListed:
		return usage(fmt.Errorf("--limit=%d: write a number from 1 to %d", l.limit, mostListed))
	}
	return nil
}

// most returns the maximum number of entries.
func (l *paging) most() int {
	if l.all {
		return mostListed
	}
	return l.limit
}

// of adds the cursor to the query of a list of the API.
func (l *paging) of(query url.Values) url.Values {
	if l.cursor != "" {
		query.Set("cursor", l.cursor)
	}
	return query
}

// cut returns the part of a whole list that the flags ask for. The cursors are numbers of entries.
func cut[T any](l *paging, all []T) (part sandboxapi.List[T], err error) {
	begin := 0
	if l.cursor != "" {
		if begin, err = strconv.Atoi(l.cursor); err != nil || begin < 0 || begin > len(all) {
			return part, usage(fmt.Errorf("--cursor=%s: write the nextCursor of an earlier list, or leave it out", l.cursor))
		}
	}
	part = whole(all[begin:])
	if most := l.most(); most < len(part.Data) {
		part.Data, part.HasMore, part.NextCursor = part.Data[:most], true, new(strconv.Itoa(begin+most))
	}
	return part, nil
}

// whole returns a list without further entries.
func whole[T any](all []T) sandboxapi.List[T] {
	return sandboxapi.List[T]{Data: append([]T{}, all...)}
}

// printList prints a list. The parameter name returns the id of an entry. The function table prints the list for people;
// if there are further entries, a line behind it says so.
func printList[T any](cmd *cobra.Command, o *output, found sandboxapi.List[T], name func(*T) string, table func(io.Writer)) error {
	names := make([]string, len(found.Data))
	for i := range found.Data {
		names[i] = name(&found.Data[i])
	}
	if err := o.print(cmd.OutOrStdout(), found, names, table); err != nil || !found.HasMore {
		return err
	}
	const more = "There are more: --limit or --all shows them."
	switch o.format {
	case "":
		Fprintf(cmd.OutOrStdout(), "\n"+more+"\n")
	case formatName:
		printerTo(cmd.ErrOrStderr())(more)
	}
	return nil
}
