package front

import (
	"fmt"
	"net/url"
	pathpkg "path"
	"slices"
	"strings"
)

// Origins are patterns of the hosts whose pages may open WebSockets.
type Origins []string

// Check refuses patterns that can match no page.
func (o Origins) Check() error {
	for _, pattern := range o {
		_, after, schemed := strings.Cut(pattern, "://")
		if _, err := pathpkg.Match(pattern, ""); err != nil || strings.Contains(after, "/") || !schemed && strings.Contains(pattern, "/") {
			return fmt.Errorf("server: origin: got %q, want a host, such as play.example or localhost:5173", pattern)
		}
	}
	return nil
}

// Allow reports whether a page is of the host of the request, or of one of these.
func (o Origins) Allow(origin, host string) bool {
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, host) || slices.ContainsFunc(o, func(pattern string) bool {
		target := u.Host
		if strings.Contains(pattern, "://") {
			target = u.Scheme + "://" + u.Host
		}
		ok, err := pathpkg.Match(strings.ToLower(pattern), target)
		return ok && err == nil // Check has refused malformed patterns
	})
}
