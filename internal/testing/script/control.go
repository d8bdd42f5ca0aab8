package script

import "regexp"

// Control matches characters that could control a terminal.
var Control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]|\xc2[\x80-\x9f]`)
