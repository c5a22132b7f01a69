package abilities

import (
	"encoding/json"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/restwarden/restwarden/policies/call/phpvars"
)

func TestAbilityInput_AsThePlatform(t *testing.T) {
	for name, test := range map[string]struct {
		schema, input string
		refused       bool
	}{
		"integer/text":              {`{"type":"integer"}`, `"5"`, false},
		"integer/whole float":       {`{"type":"integer"}`, `5.0`, false},
		"integer/fraction":          {`{"type":"integer"}`, `"5.5"`, true},
		"integer/word":              {`{"type":"integer"}`, `"five"`, true},
		"integer/boolean":           {`{"type":"integer"}`, `true`, true},
		"number/text":               {`{"type":"number"}`, `" 1.5"`, false},
		"number/hex":                {`{"type":"number"}`, `"0x1"`, true},
		"number/below":              {`{"type":"number","minimum":1}`, `"0.5"`, true},
		"number/exclusive numeric":  {`{"type":"number","exclusiveMinimum":0}`, `-1`, false},
		"number/exclusive":          {`{"type":"number","minimum":1,"exclusiveMinimum":true}`, `1`, true},
		"number/multiple":           {`{"type":"integer","multipleOf":5}`, `"7"`, true},
		"boolean/text":              {`{"type":"boolean"}`, `"TRUE"`, false},
		"boolean/one":               {`{"type":"boolean"}`, `1`, false},
		"boolean/two":               {`{"type":"boolean"}`, `2`, true},
		"boolean/empty":             {`{"type":"boolean"}`, `""`, true},
		"array/text":                {`{"type":"array","items":{"type":"integer"},"minItems":2}`, `"1,2"`, false},
		"array/text, wrong item":    {`{"type":"array","items":{"type":"integer"}}`, `"1,b"`, true},
		"array/keys of a list":      {`{"type":"array"}`, `{"3":1}`, false},
		"array/object":              {`{"type":"array"}`, `{"a":1}`, true},
		"array/unique, types":       {`{"type":"array","uniqueItems":true}`, `[1,"1",1.0]`, false},
		"array/not unique":          {`{"type":"array","uniqueItems":true}`, `"a,a"`, true},
		"array/empty items":         {`{"type":"array","items":[]}`, `[1,{}]`, false},
		"object/empty list":         {`{"type":"object"}`, `[]`, false},
		"object/empty text":         {`{"type":"object"}`, `""`, false},
		"object/text":               {`{"type":"object"}`, `"a"`, true},
		"object/deep":               {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"boolean"}}}}`, `{"a":["0","x"]}`, true},
		"object/required by flag":   {`{"type":"object","properties":{"a":{"required":true}}}`, `{}`, true},
		"object/required empty":     {`{"type":"object","required":[],"properties":{"a":{"required":true}}}`, `{}`, false},
		"object/pattern, no rest":   {`{"type":"object","patternProperties":{"^a":{"type":"integer"}},"additionalProperties":false}`, `{"a1":"5"}`, false},
		"object/additional":         {`{"type":"object","properties":[],"additionalProperties":false}`, `{"a":1}`, true},
		"types/best":                {`{"type":["integer","null"]}`, `"7"`, false},
		"types/none":                {`{"type":["integer","null"]}`, `"x"`, true},
		"types/unknown":             {`{"type":["integer","mixed"]}`, `"x"`, false},
		"type/mixed":                {`{"type":"mixed"}`, `"x"`, false},
		"string/length as text":     {`{"type":"string","minLength":"2"}`, `"x"`, true},
		"string/letters":            {`{"type":"string","maxLength":2}`, `"éé"`, false},
		"string/number":             {`{"type":"string"}`, `5`, true},
		"string/lookahead":          {`{"type":"string","pattern":"^(?=a)"}`, `"b"`, false},
		"string/pattern":            {`{"type":"string","pattern":"^a"}`, `"b"`, true},
		"string/uuid":               {`{"type":"string","format":"uuid"}`, `"x"`, true},
		"string/uri":                {`{"type":"string","format":"uri"}`, `"no uri"`, false},
		"string/null keywords":      {`{"type":"string","description":null,"default":null}`, `"x"`, false},
		"enum/converted":            {`{"type":"integer","enum":[1,2,2]}`, `"2"`, false},
		"enum/other":                {`{"type":"integer","enum":[1,2]}`, `"3"`, true},
		"enum/empty":                {`{"type":"string","enum":[]}`, `"x"`, false},
		"anyOf/inherits the type":   {`{"type":"integer","anyOf":[{"minimum":5},{"maximum":1}]}`, `"3"`, true},
		"anyOf/one fits":            {`{"anyOf":[{"type":"integer"},{"type":"boolean"}]}`, `"true"`, false},
		"oneOf/two fit":             {`{"oneOf":[{"type":"integer"},{"type":"boolean"}]}`, `"1"`, true},
		"oneOf/one cannot be known": {`{"oneOf":[{"type":"string","pattern":"(?=a)"},{"type":"string"}]}`, `"b"`, false},
		"unknown keywords":          {`{"type":"string","not":{},"const":5,"$ref":"file:///x"}`, `"b"`, false},
		"a list":                    {`[1]`, `"b"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			v, _, err := input([]byte(test.input))
			if err != nil {
				t.Fatal(err)
			}
			got, err := newSchemaCache().violation(&ability{InputSchema: []byte(test.schema)}, v)
			if err != nil || (got != "") != test.refused {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestAbilityInput_NoSchema(t *testing.T) {
	if _, err := newSchemaCache().violation(&ability{InputSchema: []byte(`5`)}, "x"); err == nil {
		t.Error("a number passes as a schema")
	}
}

// FuzzAbilityInput: no object is a schema that cannot be used.
func FuzzAbilityInput(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":["integer","mixed"]}},"required":[5]}`, `{"a":"5"}`)
	f.Add(`{"anyOf":[{"type":"array","uniqueItems":1}],"enum":[{}],"minItems":"x"}`, `[1,{"0":[]}]`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		var object map[string]any
		v, _, err := input([]byte(text))
		if json.Unmarshal([]byte(schema), &object) != nil || err != nil {
			return
		}
		if _, err := newSchemaCache().violation(&ability{InputSchema: []byte(schema)}, v); err != nil {
			t.Error(err)
		}
	})
}

// FuzzNumeral: the reader takes the numbers that the expression takes of PHP's manual for
// is_numeric.
func FuzzNumeral(f *testing.F) {
	numeric := regexp.MustCompile(`^[ \t\n\r\v\f]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t\n\r\v\f]*$`)
	for _, text := range []string{"", " 1.5 ", "+.5e-7", "1.", ".", "1e", "1e+", "0x1", "1 2", "-", "--1", "1.2.3", "1e5.", "\v7\f", "1_0", "Inf", "1\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := numeric.FindStringSubmatch(text)
		n, ok := numeral(text)
		if ok != (m != nil) {
			t.Fatalf("%q is a number: %v", text, ok)
		}
		if ok {
			if want, _ := strconv.ParseFloat(m[1], 64); n != want {
				t.Errorf("%q is %v, want %v", text, n, want)
			}
		}
	})
}

// TestAbilityInput_Takes: to hold an input against a schema takes no more than a few times its size.
func TestAbilityInput_Takes(t *testing.T) {
	long := `{"` + strings.Repeat("n", 50_000) + `":[` + strings.Repeat(`"a",`, 10_000) + `"a"]}`
	for name, test := range map[string]struct {
		schema, input string
		most          uint64 // bytes for each of the input's
	}{
		"a list as an object": {`{"type":"object","properties":{"x":{}}}`, "[" + strings.Repeat("1,", 50_000) + "1]", 0},
		"a long name":         {`{"additionalProperties":{"type":"array","items":{"type":"string"}}}`, long, 60},
	} {
		v, _, err := input([]byte(test.input))
		if err != nil {
			t.Fatal(err)
		}
		cache, about := newSchemaCache(), &ability{InputSchema: []byte(test.schema)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cause, err := cache.violation(about, v)
		runtime.ReadMemStats(&after)
		if cause != "" || err != nil {
			t.Fatal(cause, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<10+test.most*uint64(len(test.input)) {
			t.Errorf("%s: %d bytes for %d", name, took, len(test.input))
		}
	}
}

// TestCoerce_Takes: a list of a form takes no map beside it.
func TestCoerce_Takes(t *testing.T) {
	v, _ := phpvars.Query("a" + strings.Repeat("[]", 60) + "=1").Get("a")
	if n := testing.AllocsPerRun(10, func() { coerce(v, func(text string) any { return text }) }); n > 3*60 {
		t.Errorf("%.0f allocations for 60 lists", n)
	}
}
