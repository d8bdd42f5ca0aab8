package feed

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/state"
)

// An option is what the tag of a field says, by its path.
type option struct {
	Path   string
	ID     bool
	Step   int8  // log2 of the step to which a number is rounded, or exact
	Every  uint8 // a change waits for a view whose number is a multiple
	Weight uint8 // of the priority when the budget is short
}

// options reads the tags of a type.
func options(tags []state.Tag) (list []option, err error) {
	if len(tags) > MaxTags {
		return nil, &PlanError{tags[MaxTags].Path, fmt.Sprintf("more than %d tags", MaxTags)}
	}
	for _, t := range tags {
		o, err := parseTag(t.Text, t.Path)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// parseTag reads one tag.
func parseTag(tag, path string) (option, error) {
	o := option{Path: path, Step: exact, Every: 1, Weight: 1}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		number := func(least, most uint64) (uint8, error) {
			n, err := strconv.ParseUint(value, 10, 8)
			if err != nil || n < least || n > most {
				return 0, &PlanError{path, fmt.Sprintf("got the tag feed:%q, want %s=%d to %d", tag, name, least, most)}
			}
			return uint8(n), nil
		}
		var err error
		switch name {
		case "id":
			if o.ID = value == "" && strings.Contains(path, "[]."); !o.ID {
				err = &PlanError{path, "the tag id is for a field of a list's element"}
			}
		case "every":
			o.Every, err = number(1, 100)
		case "priority":
			o.Weight, err = number(1, 16)
		case "quantize":
			o.Step, err = step(value, path)
		default:
			err = &PlanError{path, fmt.Sprintf("got the tag feed:%q, want id, every=N, priority=N or quantize=1/N", tag)}
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// step returns the log2 of a step such as 1/16 or 8.
func step(text, path string) (int8, error) {
	number, below := strings.CutPrefix(text, "1/")
	n, err := strconv.ParseUint(number, 10, 48)
	if err != nil || n == 0 || n&(n-1) != 0 {
		return 0, &PlanError{path, fmt.Sprintf("got quantize=%s, want a power of two or 1/ a power of two", text)}
	}
	log := int8(bits.TrailingZeros64(n))
	if below {
		log = -log
	}
	return log, nil
}
