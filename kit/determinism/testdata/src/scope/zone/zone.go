// Package zone uses the time zone of the machine, or does not.
//
//samestep:deterministic
package zone

import (
	"fmt"
	"time"
)

const stamp = "2006-01-02 15:04 MST"

// A stay keeps times.
type stay struct{ from, to time.Time }

func bad(a, b int64, text string) (list []any) {
	list = append(list, time.Unix(a, b))          // want `outside: time.Unix returns`
	list = append(list, time.UnixMilli(a).Day())  // want `outside: time.UnixMilli returns`
	list = append(list, time.UnixMicro(a).Year()) // want `outside: `
	_, offset := time.Unix(a, 0).Zone()           // want `outside: `
	s := stay{from: time.Unix(a, 0)}              // want `outside: `
	t := time.Unix(a, 0)                          // want `outside: `
	u := time.Unix(a, 0)                          // want `outside: `
	later := t.Before(u) && u.Hour() < t.Hour()
	next := time.Unix(a, 0).AddDate(0, 1, 0).Unix() // want `outside: `
	v, err := time.Parse(stamp, text)               // want `outside: time.Parse of a zone name`
	w, err := time.Parse(time.RFC3339, text)        // want `outside: time.Parse returns`
	x, err := time.Parse(time.RFC1123, text)        // want `outside: `
	make := time.Unix                               // want `outside: `
	return append(list, s, later, next, v, w.String(), x.UTC(), err, offset, make)
}

func printed(t time.Time, s stay, all []time.Time) string {
	text := fmt.Sprint(t, 1)             // want `outside: fmt.Sprint prints the time zone of t`
	text += fmt.Sprintf("%v", s)         // want `outside: `
	text += fmt.Sprintf("%d %v", 1, all) // want `outside: `
	utc := t.UTC()
	return text + fmt.Sprint(t.UTC(), utc, time.Date(1, 1, 1, 1, 1, 1, 1, time.UTC)) + fmt.Sprintf("%T", t)
}

func good(a, b int64, text string) (list []any) {
	list = append(list, time.Unix(a, b).UTC(), time.UnixMilli(a).In(time.UTC).Hour(), time.Unix(a, b).Add(time.Hour).UTC())
	list = append(list, (time.Unix(a, b)).Unix(), time.Unix(a, 0).Sub(time.Unix(b, 0)))
	t, u := time.Unix(a, 0), time.UnixMicro(b)
	list = append(list, t.Before(u), u.After(t), t.Equal(u), t.UTC().Hour())
	v, err := time.Parse("2006-01-02 15:04", text)
	w, err := time.Parse(time.RFC3339, text)
	x, err := time.ParseInLocation(stamp, text, time.UTC)
	var y = time.Unix(a, 0)
	y = y.UTC()
	return append(list, v.Hour(), err, w.UnixMilli(), w.UTC().String(), x.Hour())
}
