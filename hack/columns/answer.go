package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
)

const (
	answerOf = "server/httpapi/wire/payment.go"
	answer   = "server/httpapi/wire/payment_json.go"
)

// appends is how a field of an answer is written as JSON, by its type and whether it may be left out: %s stands for its
// name and for the field.
var appends = map[string]string{
	"string":             "o.text(%q, v.%s)",
	"*string":            "o.optionalText(%q, v.%s)",
	"int64":              "o.integer(%q, v.%s)",
	"int":                "o.integer(%q, int64(v.%s))",
	"bool":               "o.boolean(%q, v.%s)",
	"*int64,omitempty":   "o.integerIfAny(%q, v.%s)",
	"[]string,omitempty": "o.texts(%q, v.%s)",
	"json.RawMessage":    "o.raw(%q, v.%s)",
}

// renderAnswer returns the file that writes the Payment in a source as JSON.
func renderAnswer(source string) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	b := header("wire", answerOf)
	b.WriteString("// appendJSON implements appender.\nfunc (v Payment) appendJSON(b []byte) []byte {\no := jsonObject(append(b, '{'))\n")
	written := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Payment" {
			return true
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			tag, _ := strconv.Unquote(f.Tag.Value)
			name, omit, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			kind := strings.TrimSuffix(types.ExprString(f.Type)+","+omit, ",")
			how, ok := appends[kind]
			if !ok {
				err = fmt.Errorf("%s: a field of type %s: say in hack/columns how it is written", name, kind)
				return false
			}
			fmt.Fprintf(b, how+"\n", name, f.Names[0].Name)
			written++
		}
		return false
	})
	if err == nil && written == 0 {
		err = fmt.Errorf("%s has no Payment", source)
	}
	b.WriteString("return append(o, '}')\n}\n")
	return b.Bytes(), err
}
