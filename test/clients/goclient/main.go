// Command goclient URI KEY REFERENCE pays with the client that oapi-codegen generates from the API's description.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := pay(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("paid")
}

func pay(ctx context.Context, uri, key, reference string) error {
	client, err := NewClientWithResponses(uri, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	scenario := CreatePaymentRequestScenario("success")
	created, err := client.CreatePaymentWithResponse(ctx, nil, CreatePaymentRequest{
		Amount: 25_000, Currency: "RWF", Msisdn: "+250788123456", Reference: reference, Application: "shop", Scenario: &scenario,
	})
	if err != nil {
		return err
	}
	if created.JSON201 == nil || created.JSON201.Status != "SUCCESS" {
		return fmt.Errorf("paying: %s: %s", created.Status(), created.Body)
	}
	read, err := client.GetPaymentWithResponse(ctx, created.JSON201.Id, nil)
	if err != nil {
		return err
	}
	if read.JSON200 == nil || read.JSON200.NetAmount != created.JSON201.NetAmount || read.JSON200.CompletedAt == nil {
		return fmt.Errorf("reading: %s: %s", read.Status(), read.Body)
	}
	return nil
}
