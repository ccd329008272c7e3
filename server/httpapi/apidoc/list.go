package apidoc

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// listParameterDescriptions describes the parameters of a list. [wire.PaymentParameters] reads them.
var listParameterDescriptions = map[string]*huma.Param{
	"limit":          limitParameter("Transactions on a page."),
	"cursor":         cursorParameter(),
	"before":         beforeParameter(),
	"country":        {Description: "Of this country.", Schema: oneOf(payments.Countries...)},
	"operator":       {Description: "Of this operator.", Schema: oneOf(payments.Operators...)},
	"status":         {Description: "With this status.", Schema: &huma.Schema{Ref: statusSchema.Ref}},
	"type":           {Description: "Of this type.", Schema: oneOf(payments.Types...)},
	"order_ref":      {Description: "Of this order.", Schema: characters(120)},
	"order":          {Description: "The same as `order_ref`. If both are sent, they must be equal.", Schema: characters(120)},
	"application":    {Description: "Of the store with this slug.", Schema: characters(80)},
	"reference":      {Description: "With this reference: one transaction, or none.", Schema: characters(80)},
	"msisdn":         {Description: "Of this number. Write its `+` as `%2B`.", Schema: msisdnParameter.Schema},
	"created_after":  {Description: "Created at this time or later (RFC 3339).", Schema: dateTime()},
	"created_before": {Description: "Created before this time, which is excluded (RFC 3339).", Schema: dateTime()},
}

// listParameterOrder is the order of the list's parameters in the description. Other parameters follow.
var listParameterOrder = []string{"limit", "cursor", "before", "status", "type", "created_after", "created_before", "order_ref", "order", "reference"}

// describedParameters returns the descriptions of the parameters that the argument read parses. They begin with those
// that the argument first names, in its order. The others follow, sorted by name.
func describedParameters[Q, A any](read decode.Parameters[Q, A], descriptions map[string]*huma.Param, first []string) []*huma.Param {
	names := slices.Sorted(maps.Keys(read))
	if described := slices.Sorted(maps.Keys(descriptions)); !slices.Equal(names, described) {
		panic("the parameters of a list that are read and those that are described are not the same")
	}
	var described []*huma.Param
	for _, name := range slices.Concat(first, names) {
		p := descriptions[name]
		if p.Name == "" {
			p.Name, p.In = name, "query"
			described = append(described, p)
		}
	}
	return described
}

func oneOf[T ~string](values ...T) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: anyOf(values)}
}

func characters(most int) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: &most}
}

func dateTime() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "date-time"} }

func limitParameter(description string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{
		Type: huma.TypeInteger, Format: "int32", Minimum: new(1.0), Maximum: new(float64(wire.MaxLimit)), Default: wire.DefaultLimit,
	}}
}

func cursorParameter() *huma.Param {
	return &huma.Param{Description: "`nextCursor` of the previous page, unchanged.", Schema: &huma.Schema{Type: huma.TypeString}}
}

func beforeParameter() *huma.Param {
	return &huma.Param{
		Description: "`previousCursor` of a page, unchanged: the page before that one.", Schema: &huma.Schema{Type: huma.TypeString},
	}
}
