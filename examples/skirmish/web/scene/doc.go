// Package scene tells what is to be drawn of a match, as one block of numbers for
// each frame, so that a page crosses from its program to its own language once.
//
// A [Painter] compares two states one tick apart and writes what is in a [View]:
// the part of the map that is on the screen, as far as a team sees it. All numbers
// are 32-bit little-endian words. Places are in 1/1024 of a cell. A frame is
//
//	header    16 words, see the Head constants
//	zones      4 words each: x, y, radius, kind | rests 2^8
//	crystals   3 words each: x, y, what is left of it in 1/1000
//	units      6 words each: x, y, ID, look, health, work
//	effects    5 words each: sort | owner 2^8 | age 2^16, from x, y, to x, y
//	dots       1 word each: x | y 2^11 | owner 2^22 | building 2^27 | chosen 2^28
//
// in this order. The look of a unit is kind | owner 2^8 | flags 2^16 | heading 2^24,
// with the heading in 1/256 of a turn from east towards south, as the screen has
// it. Health and work are 1/1000 of the whole; work also has kind in making 2^16
// and queue 2^24. The age of an effect is 0 when it begins and 255 at its end. Dots are for
// the small map: x and y in quarters of a cell, of every unit that the team sees.
//
// The fog and the ground change seldom and have bytes of their own, one for each
// cell, row by row: [Painter.Fog], [Ground].
package scene
