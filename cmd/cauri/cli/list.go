package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/duration"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
)

// listedSandbox is a sandbox of `cauri list`.
type listedSandbox struct {
	Namespace    string     `json:"namespace,omitempty"`
	Name         string     `json:"name,omitempty"`
	Current      bool       `json:"current"` // whether commands without a sandbox use it
	Ready        string     `json:"ready,omitempty"`
	Status       string     `json:"status,omitempty"` // reason of the condition Ready
	URL          string     `json:"url"`
	Transactions *int64     `json:"transactions,omitempty"`
	CreatedAt    *time.Time `json:"createdAt,omitempty"`
	From         string     `json:"from,omitempty"` // variable or file with its URL, for a sandbox without a cluster
}

func (p *program) listCommand() *cobra.Command {
	var o output
	var all bool
	var page paging
	t := &target{plugin: p.Plugin, folder: p.Folder, choices: p.choices(), completing: true}
	cmd := &cobra.Command{
		Use:        "list",
		SuggestFor: []string{"sandboxes", "sandbox"},
		Short:      "List the sandboxes of a namespace, or of all, and which one commands use",
		Long: `List the sandboxes of a namespace, or of all. The one with a * is the one that commands
use where nothing names another one (` + t.program("use") + ` --help has the order). It shows no API key.

Without a cluster it says which sandbox commands use here, if a file or a variable
names one.`,
		Example: "  " + t.program("list") + "\n  " + t.program("list -A") + "\n  " + t.program("list -A -o json"),
		Args:    NoArguments,
	}
	t.cmd = cmd
	t.kube.AddSelection(cmd.Flags())
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "those of all namespaces, as far as you may list them")
	page.add(cmd, mostListed)
	o.add(cmd)
	cmd.Flags().Lookup("output").Usage = "json, yaml, csv or name: for programs; name prints namespace/name only"
	completeFlag(cmd, "output", formatJSON, formatYAML, formatCSV, formatName)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(); err != nil && o.format != formatCSV {
			return usage(fmt.Errorf("--output=%s: write json, yaml, csv or name", o.format))
		}
		if err := page.check(); err != nil {
			return err
		}
		sandboxes, err := t.list(cmd.Context(), all)
		if err != nil {
			return err
		}
		found, err := cut(&page, sandboxes)
		if err != nil {
			return err
		}
		if o.format == formatCSV {
			return listInCSV(cmd.OutOrStdout(), found.Data)
		}
		name := func(s *listedSandbox) string { return cmp.Or(s.From, s.Namespace+"/"+s.Name) }
		return printList(cmd, &o, found, name, func(out io.Writer) { p.printSandboxes(out, found.Data, t, all) })
	}
	return cmd
}

// list returns the sandboxes of the namespace, or of all namespaces. Without a cluster, it returns the sandbox whose
// URL is in a variable or a file.
func (t *target) list(ctx context.Context, all bool) ([]listedSandbox, error) {
	namespace := t.kube.Namespace
	t.kube.Namespace = "" // listedSandbox.Current ignores -n
	cluster, err := t.kube.Open()
	if err != nil {
		if here := t.addressedHere(); here != nil {
			return []listedSandbox{*here}, nil
		}
		return nil, usage(err)
	}
	if namespace = cmp.Or(namespace, cluster.Namespace); all {
		namespace = ""
	}
	t.kube.Namespace = cmp.Or(namespace, cluster.Namespace)
	sandboxes, err := cluster.Sandboxes(ctx, namespace)
	if err != nil {
		if here := t.addressedHere(); here != nil {
			Fprintf(t.cmd.ErrOrStderr(), "Commands use the sandbox %s, which %s names.\n", here.URL, here.From)
		}
		return nil, err
	}
	current := t.current(cluster, sandboxes)
	found := make([]listedSandbox, 0, len(sandboxes))
	for i := range sandboxes {
		found = append(found, listing(&sandboxes[i], current))
	}
	return found, nil
}

// addressedHere returns the sandbox whose URL is in a variable or a file; nil for none.
func (t *target) addressedHere() *listedSandbox {
	before := t.before()
	if before == "" || before == variableSandbox {
		return nil
	}
	t.fillFromVariables()
	t.nearby()
	s := &sandbox{target: t, uri: t.uri, apiKey: t.apiKey}
	if t.fromEnvironment(s) != nil {
		return nil
	}
	return &listedSandbox{URL: s.uri, Current: true, From: before}
}

// current returns namespace/name of the sandbox that commands without a sandbox use; "" for none.
func (t *target) current(cluster *kube.Cluster, sandboxes []v1alpha1.SandboxEnvironment) string {
	if before := t.before(); before == variableSandbox {
		key, err := (&target{}).key(cluster, os.Getenv(variableSandbox))
		if err == nil {
			return key.String()
		}
	} else if before != "" {
		Fprintf(t.cmd.ErrOrStderr(), "Here commands use a sandbox that is not one of these: %s names it.\n", before)
		return ""
	}
	if chosen := t.choices.of(cluster); chosen != "" {
		return chosen
	}
	only := ""
	for i := range sandboxes {
		if s := &sandboxes[i]; s.Namespace == cluster.Namespace {
			if only != "" {
				return ""
			}
			only = s.Namespace + "/" + s.Name
		}
	}
	return only
}

func listing(s *v1alpha1.SandboxEnvironment, current string) listedSandbox {
	one := listedSandbox{Namespace: s.Namespace, Name: s.Name, URL: s.Status.URL, Current: s.Namespace+"/"+s.Name == current}
	if !s.CreationTimestamp.IsZero() {
		one.CreatedAt = &s.CreationTimestamp.Time
	}
	if ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		one.Ready, one.Status = string(ready.Status), ready.Reason
	}
	if s.Status.Transactions != nil {
		one.Transactions = &s.Status.Transactions.Total
	}
	return one
}

func (p *program) printSandboxes(out io.Writer, found []listedSandbox, t *target, all bool) {
	switch {
	case len(found) == 0 && all:
		Fprintf(out, "There are no sandboxes. Apply a SandboxEnvironment to make one.\n")
		return
	case len(found) == 0:
		Fprintf(out, "The namespace %s has no sandboxes. Apply a SandboxEnvironment to make one, or list those of all namespaces with -A.\n",
			t.kube.Namespace)
		return
	case found[0].From != "":
		Fprintf(out, "There is no cluster. Commands use the sandbox %s, which %s names.\n", found[0].URL, found[0].From)
		return
	}
	titles := "CURRENT NAME READY STATUS URL TRANSACTIONS AGE"
	if all {
		titles = "CURRENT NAMESPACE NAME READY STATUS URL TRANSACTIONS AGE"
	}
	rows := make([][]string, 0, len(found))
	for i := range found {
		s := &found[i]
		row := []string{" "}
		if s.Current {
			row[0] = "*"
		}
		if all {
			row = append(row, s.Namespace)
		}
		age := optional(s.CreatedAt, func(at time.Time) string { return duration.HumanDuration(p.now().Sub(at)) })
		rows = append(rows, append(row, s.Name, s.Ready, s.Status, s.URL, optional(s.Transactions, countText), age))
	}
	table(out, Table{Titles: titles, Rows: rows, Shorten: "URL STATUS", Drop: "AGE TRANSACTIONS"})
}

func countText(n int64) string { return strconv.FormatInt(n, 10) }

// listInCSV prints a list in CSV. It needs no protection against CSV injection, because no text can begin like a
// formula.
func listInCSV(out io.Writer, found []listedSandbox) error {
	writer := csv.NewWriter(out)
	records := [][]string{{"namespace", "name", "current", "ready", "status", "url", "transactions", "created_at"}}
	for i := range found {
		s := &found[i]
		created := optional(s.CreatedAt, MachineTime)
		records = append(records, []string{s.Namespace, s.Name, strconv.FormatBool(s.Current), s.Ready, s.Status, s.URL,
			optional(s.Transactions, countText), created})
	}
	return writer.WriteAll(records)
}
