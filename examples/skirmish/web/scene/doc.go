// Package scene writes what is to be drawn of a match: one block of numbers for each frame, so that the page makes one
// call from JavaScript to WebAssembly.
//
// A [Painter] compares two states one tick apart and writes the content of a [View]: the visible part of the map, as
// far as a team sees it. All numbers are 32-bit little-endian words. Places are in 1/1024 of a cell. A frame is
//
//	header    17 words, see the Head constants
//	zones      4 words each: x, y, radius, kind | not ready 2^8 | holder 2^16
//	crystals   3 words each: x, y, remaining amount in 1/1000
//	units      6 words each: x, y, ID, look, health, work
//	effects    5 words each: sort | owner 2^8 | age 2^16, from x, y, to x, y
//	dots       1 word each: x | y 2^11 | owner 2^22 | building 2^27 | selected 2^28
//
// in this order. The holder of a spawn zone in sight is 1 + player. The look of a unit is kind | owner 2^8 | flags 2^16 | heading 2^24, with the heading in 1/256 of a
// turn from east towards the south of the screen. Health and work are in 1/1000 of the whole; work also has the kind in
// training 2^16 and the queue 2^24. The work of a unit that is no building is the time that is left to its next hit. The age of an effect runs from 0 to 255. Dots are for the minimap: x and y in
// quarters of a cell, for every unit that the team sees.
//
// The fog and the ground change rarely and are separate: one byte for each cell, row by row ([Fog], [Ground]).
package scene
