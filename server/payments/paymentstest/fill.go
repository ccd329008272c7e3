// Package paymentstest gives tests orders and transactions in which no field is empty, so that a field that a test does
// not know of is compared too.
package paymentstest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// Fill sets each field of the struct at target to a value that is not its zero value. A text has the name of its field
// and the text of the parameter. Fill panics if a field has a type for which it knows no value.
func Fill(target any, text string) { fill(reflect.ValueOf(target).Elem(), text) }

func fill(v reflect.Value, text string) {
	switch field := v.Addr().Interface().(type) {
	case *time.Time:
		*field = time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
		return
	case *time.Duration:
		*field = 7 * time.Second
		return
	case *json.RawMessage:
		*field = json.RawMessage(strconv.Quote(text))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case field.Anonymous:
				fill(v.Field(i), text)
			case field.IsExported():
				fill(v.Field(i), field.Name+" of "+text)
			}
		}
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Array:
		fill(v.Index(0), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	default:
		panic(fmt.Sprintf("no value is known for a %s", v.Type()))
	}
}
