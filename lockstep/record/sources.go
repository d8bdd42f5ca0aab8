package record

import (
	"strings"
)

// Sources say from which sources a program was built, as the go command wrote it into the program. A field is empty if it is
// not known.
type Sources struct {
	Module   string `json:"module"`             // path of the module with the rules
	Version  string `json:"version,omitempty"`  // of the module, such as v1.3.0
	Revision string `json:"revision,omitempty"` // of the repository, such as the hexadecimal digits of a git commit
	Modified bool   `json:"modified,omitempty"` // files differed from the revision
}

const modified = "modified"

// String returns the sources as text, which [ParseSources] reads: "example.com/hex v1.3.0 3b18e512dba7 modified". It is empty
// without a module.
func (s Sources) String() string {
	if s.Module == "" {
		return ""
	}
	words := []string{s.Module}
	for _, w := range []string{s.Version, s.Revision} {
		if w != "" {
			words = append(words, w)
		}
	}
	if s.Modified {
		words = append(words, modified)
	}
	return strings.Join(words, " ")
}

// ParseSources reads the text of sources. Words that it does not know are a revision, because a revision may be anything.
func ParseSources(text string) (s Sources) {
	for i, w := range strings.Fields(text) {
		switch {
		case i == 0:
			s.Module = w
		case w == modified:
			s.Modified = true
		case len(w) > 1 && w[0] == 'v' && w[1] >= '0' && w[1] <= '9':
			s.Version = w
		default:
			s.Revision = w
		}
	}
	return s
}

// shortRevision is how many digits of a revision name it if there is no room for all.
const shortRevision = 12

// TextAfter returns the text of the sources that fits behind a platform, see [JoinPlatform]: if need be with the beginning of
// the revision only, and then without the version. It is empty if nothing fits.
func (s Sources) TextAfter(platform string) string {
	short := s
	short.Revision = s.Revision[:min(shortRevision, len(s.Revision))]
	least := short
	least.Version = ""
	for _, one := range []Sources{s, short, least} {
		if len(platform)+len(platformEnd)+len(one.String()) <= MaxName {
			return one.String()
		}
	}
	return ""
}

// platformEnd stands between a platform and the sources.
const platformEnd = "; "

// JoinPlatform returns the text for the platform of a header or an auth: the platform, and behind it the sources unless they
// are empty or too long together.
func JoinPlatform(platform, sources string) string {
	if sources == "" || len(platform)+len(platformEnd)+len(sources) > MaxName {
		return platform
	}
	return platform + platformEnd + sources
}

// SplitPlatform divides the text of [JoinPlatform]. Joined, the parts are the text again.
func SplitPlatform(text string) (platform, sources string) {
	platform, sources, _ = strings.Cut(text, platformEnd)
	if platform == "" || sources == "" {
		return text, ""
	}
	return platform, sources
}

// Checkout returns what git knows the sources by: the revision, the one in a version that the go command made of it, or a tag. It is
// "" for none, and for a name that nobody should type.
func (s Sources) Checkout() string {
	for _, text := range []string{s.Revision, s.Version} {
		if strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("-+._/", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return ""
		}
	}
	if s.Revision != "" || s.Version == "" {
		return s.Revision
	}
	version := strings.TrimSuffix(s.Version, "+incompatible")
	if n := len(version) - shortRevision; n > 0 && version[n-1] == '-' && strings.Count(version, "-") >= 2 {
		return version[n:]
	}
	return version
}

// ShortCheckout returns what Checkout returns, of a revision only the first digits, as people type it.
func (s Sources) ShortCheckout() string {
	if s.Revision == "" {
		return s.Checkout()
	}
	text := s.Checkout()
	return text[:min(shortRevision, len(text))]
}
