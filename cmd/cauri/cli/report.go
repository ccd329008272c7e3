package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// reported is the maximum number of transactions and of events in a report.
const reported = 200

func (p *program) reportCommand() *cobra.Command {
	var path string
	var o output
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write a zip file about a sandbox for who helps you",
		Long: `Write a zip file about a sandbox for who helps you: versions, configuration without
Secrets, conditions, and the last transactions and events.

It holds a fixed list of fields. There is no key, no secret, no body, no reference, no
description and no URL in it, and of each phone number the last four digits. Look into
it before you send it.`,
		Example: "  " + p.called("report", "") + "\n  " + p.called("report", "--file=report.zip"),
	}
	t := p.target(cmd)
	cmd.Flags().StringVar(&path, "file", "", "file to write; empty: cauri-report- and the time. It must not exist")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, _, err := t.find(cmd.Context(), args)
		if err != nil {
			return err
		}
		defer s.close()
		found, err := p.report(cmd.Context(), s)
		if err != nil {
			return err
		}
		if path == "" {
			path = "cauri-report-" + stampTime(p.now()) + ".zip"
		}
		if err := writeZip(path, found); err != nil {
			return err
		}
		return o.print(cmd.OutOrStdout(), object{"file": path}, []string{path}, func(out io.Writer) { Fprintf(out, "%s\n", path) })
	}
	return cmd
}

// reportFile is a file in the zip.
type reportFile struct {
	name    string
	content any
}

// reportVersions has the versions of the parts, and the errors of the report.
type reportVersions struct {
	Program      string   `json:"program"`
	Platform     string   `json:"platform"`
	Kubernetes   string   `json:"kubernetes,omitempty"`
	API          string   `json:"api,omitempty"`
	Interface    string   `json:"interface,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Problems     []string `json:"problems"`
}

// report collects the files. A failed read does not end the report, because users report broken systems. The files
// contain the errors.
func (p *program) report(ctx context.Context, s *sandbox) ([]reportFile, error) {
	versions := reportVersions{Program: p.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH, Problems: []string{}}
	read := func(what string, err error) bool {
		if err != nil { // the text of the error may contain a URL
			versions.Problems = append(versions.Problems, fmt.Sprintf("%s: %s", what, ExitCodes[ExitCode(err)]))
		}
		return err == nil
	}
	var files []reportFile
	if s.cluster != nil {
		var err error
		versions.Kubernetes, err = s.cluster.Version(ctx)
		read("the version of Kubernetes", err)
		if resource, err := s.read(ctx); read("the resource", err) {
			files = append(files, reportFile{"sandbox.json", sandboxFields(resource)})
		}
	}
	if api, err := s.connect(ctx); read("the way to the API", err) {
		health, err := api.Health(ctx)
		read("the health", err)
		meta, err := api.Meta(ctx)
		read("the capabilities", err)
		versions.API, versions.Interface, versions.Capabilities = health.Version, meta.APIVersion, meta.Capabilities
		if found, err := api.Payments(ctx, nil, reported); read("the transactions", err) {
			files = append(files, reportFile{"transactions.json", transactionFields(found)})
		}
		if found, err := api.Events(ctx, nil, reported); read("the events", err) {
			files = append(files, reportFile{"events.json", eventFields(found)})
		}
	}
	return append(files, reportFile{"versions.json", versions}), ctx.Err()
}

// The fields of a report are an allow list.

func sandboxFields(s *v1alpha1.SandboxEnvironment) object {
	var environments, conditions []object
	for _, e := range s.Status.Environments {
		environments = append(environments, object{"operator": e.Operator, "country": e.Country, "enabled": e.Enabled})
	}
	for _, c := range s.Status.Conditions { // without the message, which may contain a URL
		conditions = append(conditions, object{"type": c.Type, "status": c.Status, "reason": c.Reason, "observedGeneration": c.ObservedGeneration,
			"lastTransitionTime": c.LastTransitionTime})
	}
	fields := object{
		"generation": s.Generation, "observedGeneration": s.Status.ObservedGeneration, "suspend": s.Spec.Suspend,
		"latencyPercent": s.Spec.LatencyPercent, "pendingTimeout": s.Spec.PendingTimeout, "testNumbers": s.Spec.TestNumbers,
		"hasWebhook": s.Spec.Webhook != nil, "hasQuota": s.Spec.Quota != nil, "hasTTL": s.Spec.TTL != "", "balances": s.Status.Balances,
		"transactions": s.Status.Transactions, "environments": environments, "conditions": conditions,
	}
	if s.Status.Webhook != nil {
		fields["delivered"], fields["failed"] = s.Status.Webhook.Delivered, s.Status.Webhook.Failed
	}
	return fields
}

func transactionFields(found []wire.Payment) []object {
	all := make([]object, 0, len(found))
	for i := range found {
		t := &found[i]
		all = append(all, object{
			"id": t.ID, "type": t.Type, "status": t.Status, "amount": t.Amount, "currency": t.Currency, "operator": t.Operator,
			"country": t.Country, "msisdn": lastDigits(t.MSISDN), "createdAt": t.CreatedAt, "completedAt": t.CompletedAt,
			"latencyMs": t.LatencyMs, "scenario": t.Scenario,
		})
	}
	return all
}

func eventFields(found []wire.EventSummary) []object {
	all := make([]object, 0, len(found))
	for i := range found {
		e := &found[i]
		all = append(all, object{
			"id": e.ID, "event": e.Event, "status": e.Status, "state": e.State, "attemptCount": e.AttemptCount, "createdAt": e.CreatedAt,
			"lastResponseStatus": e.LastResponseStatus, "nextAttemptAt": e.NextAttemptAt, "deliveredAt": e.DeliveredAt,
		})
	}
	return all
}

// lastDigits returns the last four digits of a number.
func lastDigits(msisdn string) string {
	const kept = 4
	if len(msisdn) <= kept {
		return msisdn
	}
	return strings.Repeat("*", len(msisdn)-kept) + msisdn[len(msisdn)-kept:]
}

// writeZip writes a new zip file that only its owner can read. It returns an error if the file exists.
func writeZip(path string, files []reportFile) (err error) {
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	for _, file := range files {
		into, err := archive.Create(file.name)
		if err != nil {
			return err
		}
		encoder := json.NewEncoder(into)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(file.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usage(fmt.Errorf("%s exists: name another file with --file", path))
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content.Bytes())
	return errors.Join(err, file.Close())
}
