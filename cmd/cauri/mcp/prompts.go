package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cauri-dev/cauri/server/payments"
)

// prompt is a prompt with the choices of its arguments.
type prompt struct {
	sdk.Prompt
	choices map[string][]string
	text    func(given map[string]string) string
}

var prompts = []prompt{
	{
		Prompt: sdk.Prompt{
			Name: "integrate", Title: "Integrate mobile money", Description: "Write the code of a shop against the sandbox, and try it.",
			Arguments: []*sdk.PromptArgument{
				{Name: "language", Description: "Of the shop, such as JavaScript, PHP, Python, Go or Java.", Required: true},
				{Name: "what", Description: "collect, refund, pay out, or an operator's own API by its name."},
			},
		},
		choices: map[string][]string{
			"language": {"C#", "Go", "Java", "JavaScript", "PHP", "Python", "Ruby", "TypeScript"},
			"what":     append([]string{"collect", "refund", "pay out"}, payments.Texts(payments.Operators)...),
		},
		text: func(given map[string]string) string {
			what := or(given["what"], "collect")
			return fmt.Sprintf(`Write the code of a shop in %[1]s that does this with mobile money: %[2]s. Try it against the Cauri sandbox of this server.

1. get_status: the address, and the file with CAURI_URI, CAURI_API_KEY and CAURI_WEBHOOK_SECRET. The code reads these variables. Never write their values.
2. read_docs with the query "%[2]s", and with operation (createPayment, createRefund or createDisbursement). For an operator's own API, read its page.
3. Store the order with its reference before the request. Send the same reference when you repeat a request.
4. A webhook tells the end: verify the bytes as they arrive, before anything parses them; book each tx_id once; answer 204 within 5 seconds. read_docs page webhooks.
5. Try it: let the shop send a payment, then explain its reference. When something is wrong, follow next until a cause.
6. grade_receiver, and repair what fails. Then use the prompt prove_the_checkout.`, given["language"], what)
		},
	},
	{
		Prompt: sdk.Prompt{
			Name: "find_the_bug", Title: "Find the bug", Description: "Find out why a checkout does not work, from what the sandbox saw.",
			Arguments: []*sdk.PromptArgument{
				{Name: "symptom", Description: "What goes wrong, with an id, an order, a reference or a number if there is one.", Required: true},
			},
		},
		text: func(given map[string]string) string {
			return fmt.Sprintf(`Find out why this goes wrong. The symptom, in the words of who saw it: %q

1. get_status, and explain for each id, order, reference or number of the symptom.
2. Follow next of each output, one step after the other. Stop at a cause: it is the diagnosis. A change in next is what to change in the code.
3. No trace of the request? list_requests has those that were refused. Nothing there either: the shop did not reach the sandbox, so compare its address with that of get_status.
4. Booked twice, or never: switch_fault twice, let the shop sell something, and check_expectations with a merchant line about the order.
5. Say the cause, what shows it (ids), and the change. After the change, try again, and switch off the faults that you switched on.`, given["symptom"])
		},
	},
	{
		Prompt: sdk.Prompt{
			Name: "prove_the_checkout", Title: "Prove the checkout", Description: "Try the situations that a checkout must survive, and write an Expectation for the pipeline.",
			Arguments: []*sdk.PromptArgument{
				{Name: "situations", Description: "Such as refused, timeout, webhook twice, webhook late, answer lost; all of them if left out."},
			},
		},
		choices: map[string][]string{"situations": {"answer lost", "refused", "refund", "timeout", "webhook forged", "webhook late", "webhook twice"}},
		text: func(given map[string]string) string {
			return fmt.Sprintf(`Prove that the checkout of this project survives: %s.

For each situation:
1. Make it happen: a payer with the outcome (list_payers), or switch_fault with a preset, limited by reference.
2. Let the shop sell something, as a customer would. Do not call make_payment in its place.
3. check_expectations: one transaction for the order, its event delivered, and a merchant line that asks the shop for the order.
4. switch_fault off.

Then grade_receiver: the letter must be A or B. At the end, write the lines that held into a file expectations.yaml (read_docs page expectations), and a step of the pipeline `+
				"that runs `cauri expect -f expectations.yaml` and `cauri grade` (read_docs page ci). Say what failed, with its cause.",
				or(given["situations"], "a refusal, a timeout, a webhook that comes twice, late and forged, a lost answer, a refund"))
		},
	},
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (s *Server) addPrompts() {
	for _, p := range prompts {
		s.mcp.AddPrompt(&p.Prompt, func(_ context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			for _, a := range p.Arguments {
				if a.Required && strings.TrimSpace(request.Params.Arguments[a.Name]) == "" {
					return nil, fmt.Errorf("the prompt %s needs %s: %s", p.Name, a.Name, a.Description)
				}
			}
			return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: p.text(request.Params.Arguments)}},
			}}, nil
		})
	}
}

// choicesOf returns the choices of an argument of a prompt.
func choicesOf(name, argument string) []string {
	for i := range prompts {
		if prompts[i].Name == name {
			return prompts[i].choices[argument]
		}
	}
	return nil
}
