// Package inspect shows the state of any game by its schema alone: as a tree with search, as the list of changes since the
// last tick, and as the places of everything that has one. It also makes commands of what a person enters in a form.
//
//	var s inspect.Snapshot
//	s.Take(before, now) // two simulations, one tick apart
//	rows, total := s.Rows(&open, 0, 50)
//	found := s.Search("units health = 12")
//	places := s.Places(players)
//
// All results are bounded, whatever the state has. The texts are plain text, and not markup.
package inspect
