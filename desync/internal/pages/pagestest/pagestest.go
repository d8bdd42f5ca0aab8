// Package pagestest checks pages in tests.
package pagestest

import (
	"regexp"
	"strings"
	"testing"
)

// What no page has: references to elsewhere, and code.
var (
	Remote  = regexp.MustCompile(`(?i)(src|href|action|data|poster|xlink:href)\s*=|url\(|@import|<(script|link|iframe|img|object|embed|form|base)\b`)
	value   = regexp.MustCompile(`="[^"]*"`) // of an attribute, in which all quotes are escaped
	Handler = regexp.MustCompile(`(?i)<[^>]*\son\w+\s*=`)
)

// SelfContained requires that a page loads nothing and runs no scripts.
func SelfContained(t *testing.T, page string) {
	t.Helper()
	if at := Remote.FindString(page); at != "" {
		t.Errorf("the page has %q, which leads outside", at)
	}
	if at := Handler.FindString(value.ReplaceAllString(page, `=""`)); at != "" {
		t.Errorf("the page has %q, which runs something", at)
	}
	if open, closed := strings.Count(page, "<details"), strings.Count(page, "</details>"); open != closed {
		t.Errorf("%d details begin and %d end", open, closed)
	}
}
