package apidoc

import "encoding/json"

// published removes the keyword patternDescription from the document. Only messages and the page use this keyword.
func published(document []byte) []byte {
	return changed(document, func(object map[string]json.RawMessage) { delete(object, "patternDescription") })
}

// openAPI30 converts an OpenAPI 3.1 document to the older version 3.0.3, for tools that read only 3.0. Two features do
// not exist in 3.0.3: the events move to x-webhooks, and each schema keeps only its first example. openAPI30 does not
// change the bytes of examples, because the bodies of events are signed.
func openAPI30(document []byte) []byte {
	d := parsed(changed(document, olderSchema))
	d["openapi"] = rawJSON(`"3.0.3"`)
	d["x-webhooks"] = d["webhooks"]
	delete(d, "webhooks")
	return encoded(d)
}

// changed calls the function change on every object of a document, except those inside of examples and default values.
func changed(text json.RawMessage, change func(map[string]json.RawMessage)) json.RawMessage {
	switch text[0] {
	case '[':
		var items []json.RawMessage
		mustDecode(text, &items)
		for i := range items {
			items[i] = changed(items[i], change)
		}
		return encoded(items)
	case '{':
		object := parsed(text)
		for keyword, value := range object {
			switch keyword {
			case "value", "example", "default": // examples and default values
			case "properties":
				fields := parsed(value)
				for name := range fields {
					fields[name] = changed(fields[name], change)
				}
				object[keyword] = encoded(fields)
			default:
				object[keyword] = changed(value, change)
			}
		}
		change(object)
		return encoded(object)
	}
	return text
}

// olderSchema replaces the keywords of a schema that differ in 3.0. It may run on other objects too, because these do
// not have the keywords in this form.
func olderSchema(object map[string]json.RawMessage) {
	if ref := object["$ref"]; ref != nil && len(object) > 1 { // 3.0 ignores the siblings of $ref
		delete(object, "$ref")
		object["allOf"] = encoded([]map[string]json.RawMessage{{"$ref": ref}})
	}
	var types []string
	if json.Unmarshal(object["type"], &types) == nil {
		for _, name := range types {
			if name == "null" {
				object["nullable"] = rawJSON("true")
			} else {
				object["type"] = encoded(name)
			}
		}
	}
	if value := object["const"]; value != nil {
		object["enum"] = encoded([]json.RawMessage{value})
		delete(object, "const")
	}
	var examples []json.RawMessage
	if json.Unmarshal(object["examples"], &examples) == nil {
		object["example"] = examples[0]
		delete(object, "examples")
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if value := object[exclusive]; value != nil {
			object[bound], object[exclusive] = value, rawJSON("true")
		}
	}
}

func parsed(text json.RawMessage) (object map[string]json.RawMessage) {
	mustDecode(text, &object)
	return object
}

// mustDecode and encoded panic on an error. The document is constant, so an error would fail every test.
func mustDecode(text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		panic("the API's description: " + err.Error())
	}
}

func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic("the API's description: " + err.Error())
	}
	return text
}
