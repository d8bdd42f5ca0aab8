package server

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
)

const httpPage = "../docs/spec/http.md"

// clientObjects are the objects that a client of a match reads. The others are in openapi.json alone.
var clientObjects = []string{"Datagrams", "Asset", "Error", "Schemas"}

// docs/spec/http.md has the routes, codes and objects of openapi.json that a client needs. With -rewrite it is written.
func TestHTTPPage(t *testing.T) {
	want := pageOf(t, openAPI)
	if script.Rewrite() {
		if err := os.WriteFile(httpPage, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(httpPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/spec/http.md differs from openapi.json: run the test with -rewrite")
	}
	if other := strings.Replace(string(openAPI), "Create a match", "Make a match", 1); pageOf(t, []byte(other)) == want {
		t.Error("control: another summary gives the same page")
	}
}

// An ordered object keeps the order of its keys.
type ordered []struct {
	Key   string
	Value json.RawMessage
}

func (o *ordered) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(strings.NewReader(string(b)))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, struct {
			Key   string
			Value json.RawMessage
		}{key.(string), value})
	}
	return nil
}

// A node is a part of the document: an operation, a parameter, an answer or a type.
type node struct {
	Ref         string `json:"$ref"`
	Summary     string
	Description string
	Security    []map[string]any

	Type       string
	Format     string
	Pattern    string
	Enum       []string
	Meanings   ordered `json:"x-enum-descriptions"`
	Required   json.RawMessage
	Properties ordered
	Items      *node
	AllOf      []node
}

// pageOf returns the page of a document.
func pageOf(t *testing.T, document []byte) string {
	t.Helper()
	var doc struct {
		Info       node
		Paths      ordered
		Components struct{ Schemas ordered }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	var b, codes strings.Builder
	fmt.Fprintf(&b, "# HTTP\n\nA test writes this page from `server/openapi.json`, which a server answers at `/openapi.json`. That has the values and answers of each route, and all objects.\n\n%s\n\n"+
		"| method and path | what it does | token |\n|---|---|---|\n", doc.Info.Description)
	for _, p := range doc.Paths {
		var methods ordered
		decode(t, p.Value, &methods)
		for _, m := range methods {
			if m.Key != "parameters" {
				fmt.Fprintf(&b, "| `%s %s` | %s |\n", strings.ToUpper(m.Key), p.Key, cellsOf(parse(t, m.Value)))
			}
		}
	}
	b.WriteString("\n## Objects\n\nFields in *italics* may be missing.\n")
	for _, s := range doc.Components.Schemas {
		n := parse(t, s.Value)
		var object strings.Builder
		fields(t, &object, &codes, n, "")
		if !slices.Contains(clientObjects, s.Key) {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", s.Key)
		if n.Description != "" {
			fmt.Fprintf(&b, "%s\n\n", n.Description)
		}
		fmt.Fprintf(&b, "| field | type | meaning |\n|---|---|---|\n%s", &object)
	}
	fmt.Fprintf(&b, "\n## Codes of errors\n\n| code | status and meaning |\n|---|---|\n%s", &codes)
	return b.String()
}

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%.200s: %v", b, err)
	}
}

func parse(t *testing.T, b []byte) (n node) {
	t.Helper()
	decode(t, b, &n)
	return n
}

// cellsOf returns the cells of a row.
func cellsOf(o node) string {
	token := "none"
	for i, s := range o.Security {
		_, with := s["token"]
		switch {
		case with && i == 0:
			token = "needed"
		case with:
			token = "optional"
		}
	}
	return o.Summary + " | " + token
}

// fields writes the rows of an object, and of the objects in it.
func fields(t *testing.T, b, codes *strings.Builder, n node, path string) {
	t.Helper()
	var required []string
	if n.Required != nil {
		decode(t, n.Required, &required)
	}
	for _, p := range n.Properties {
		f := parse(t, p.Value)
		name := "`" + path + p.Key + "`"
		if !slices.Contains(required, p.Key) {
			name = "*" + name + "*"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, typeOf(f), f.Description)
		for _, m := range f.Meanings {
			var text string
			decode(t, m.Value, &text)
			fmt.Fprintf(codes, "| `%s` | %s |\n", m.Key, text)
		}
		fields(t, b, codes, f, path+p.Key+".")
		if f.Items != nil {
			fields(t, b, codes, *f.Items, path+p.Key+"[].")
		}
	}
}

// typeOf returns the type of a value.
func typeOf(n node) string {
	switch {
	case n.Ref != "":
		name := n.Ref[strings.LastIndexByte(n.Ref, '/')+1:]
		if !slices.Contains(clientObjects, name) {
			return name
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case len(n.AllOf) == 1:
		return typeOf(n.AllOf[0])
	case n.Items != nil:
		return "array of " + typeOf(*n.Items)
	case n.Enum != nil && n.Meanings == nil:
		return "`" + strings.Join(n.Enum, "`, `") + "`"
	case n.Pattern != "":
		return n.Type + " `" + strings.ReplaceAll(n.Pattern, "|", "\\|") + "`"
	case n.Format != "":
		return n.Type + ", " + n.Format
	}
	return n.Type
}
