package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// devPhone is a test client of the sample: the payer that the table of markets has for a country.
type devPhone payments.Payer

// devPhones returns the phones of the sample: that of a country, or without one those of the first two countries, which are
// enough to see two currencies.
func devPhones(country payments.Country) (phones []devPhone) {
	countries := payments.Countries[:2]
	if country != "" {
		countries = []payments.Country{country}
	}
	for _, c := range countries {
		phones = append(phones, devPhone(c.Facts().Payer))
	}
	return phones
}

// Market returns the operator and the country of the phone, by its number.
func (p devPhone) Market() (m sandboxes.Market) {
	m.Operator, m.Country, _ = operators.Detect(nil, p.MSISDN)
	return m
}

// devSample returns the resources of `cauri dev` without files: every operator in each of its countries. With a country, its
// environments and its currency come first, and the only phone is of it. It returns an error for a country that is no
// market.
func devSample(country payments.Country) ([]byte, error) {
	if country != "" && !slices.Contains(payments.Countries, country) {
		return nil, fmt.Errorf("--country=%s (CAURI_COUNTRY): write one of %s", country, payments.OneOf(payments.Countries))
	}
	phones := devPhones(country)
	first := phones[0].Market()
	place := func(m sandboxes.Market) int {
		switch {
		case m == first:
			return 0
		case m.Country == first.Country:
			return 1
		}
		return 2
	}
	var environments []sandboxes.Market
	for _, c := range payments.Countries {
		for _, o := range payments.Operators {
			if o.In(c) {
				environments = append(environments, sandboxes.Market{Operator: o, Country: c})
			}
		}
	}
	slices.SortStableFunc(environments, func(a, b sandboxes.Market) int { return place(a) - place(b) })
	var currencies []payments.Currency
	for _, e := range environments {
		if currency, _ := e.Country.Currency(); !slices.Contains(currencies, currency) {
			currencies = append(currencies, currency)
		}
	}
	return sampleOf(environments, currencies, phones), nil
}

// sampleOf writes the resources. It uses no template: a program that executes one has to keep each method of each type,
// and is a quarter larger.
func sampleOf(environments []sandboxes.Market, currencies []payments.Currency, phones []devPhone) []byte {
	var text bytes.Buffer
	text.WriteString(`# The sandbox of ` + "`cauri dev`" + ` without --file. Edit it, and apply it by ` + "`cauri dev -f`" + `, or by kubectl in a cluster.
apiVersion: cauri.dev/v1alpha1
kind: SandboxEnvironment
metadata:
  name: shop
spec:
  environments: # the first one is that of examples
`)
	for _, e := range environments {
		cli.Fprintf(&text, "  - {operator: %s, country: %s, commissionBps: 150}\n", e.Operator, e.Country)
	}
	text.WriteString("  openingFloat:\n")
	for _, c := range currencies {
		cli.Fprintf(&text, "  - {currency: %s, amount: 1000000}\n", c)
	}
	text.WriteString(`  stores:
  - slug: shop
  latencyPercent: 20
  testNumbers: Standard
  api: {testClients: true, reset: true, faults: true}
`)
	for _, p := range phones {
		cli.Fprintf(&text, `---
# %s, %s %s: approves payments.
apiVersion: cauri.dev/v1alpha1
kind: TestClient
metadata:
  name: %s
spec:
  sandboxRef: {name: shop}
  msisdn: %q
  balance: 1000000
`, p.Name, p.Market().Operator.Name(), p.Market().Country, p.Resource, p.MSISDN)
	}
	return text.Bytes()
}

// countryCode returns the country of --country in capitals, as its code is written.
func (o devOptions) countryCode() payments.Country {
	return payments.Country(strings.ToUpper(o.country))
}

// writeSample prints the sample.
func (o devOptions) writeSample(out io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	sample, err := devSample(o.countryCode())
	if err != nil {
		return cli.Usage(err)
	}
	_, err = out.Write(sample)
	return err
}
