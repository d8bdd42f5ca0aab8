package script

import "strings"

// A block is what stands between two empty lines.
type block struct {
	line     int      // of the first step
	comments []string // the lines above the steps
	steps    []string // nil for a block of comments
	want     string
}

const dashes = "----"

// parse splits a script into its blocks.
func parse(src string) []block {
	var blocks []block
	var b block
	inWant := false
	var want []string
	end := func() {
		if b.comments != nil || b.steps != nil {
			b.want = strings.Join(want, "\n")
			blocks = append(blocks, b)
		}
		b, want, inWant = block{}, nil, false
	}
	for i, line := range strings.Split(src, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case inWant:
			want = append(want, line)
		case line == dashes:
			inWant = true
		case strings.HasPrefix(line, "#"):
			b.comments = append(b.comments, line)
		default:
			if b.steps == nil {
				b.line = i + 1
			}
			b.steps = append(b.steps, line)
		}
	}
	end()
	return blocks
}

// format is the script that parse makes the blocks of.
func format(blocks []block) string {
	var s strings.Builder
	for i, b := range blocks {
		if i > 0 {
			s.WriteString("\n")
		}
		lines := append(append([]string{}, b.comments...), b.steps...)
		if b.steps != nil {
			lines = append(lines, dashes)
		}
		if b.want != "" {
			lines = append(lines, b.want)
		}
		s.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return s.String()
}
