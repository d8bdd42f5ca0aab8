package matchlog

// Lines reads the lines of a recording one by one, as a replay keeps them: the header first.
type Lines struct {
	Header *Header // nil before the first line

	states States
}

// Next reads a line. It returns nil for the header. The last part of a state becomes the whole one.
func (l *Lines) Next(line []byte) (*Entry, error) {
	if l.Header == nil {
		h, err := ParseHeader(line)
		if err == nil {
			l.Header, l.states.Schema = &h, h.Schema
		}
		return nil, err
	}
	e, _, err := l.Header.ParseEntry(line)
	if err == nil {
		err = l.states.Join(&e)
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}
