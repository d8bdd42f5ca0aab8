// Package browser drives pages of games in Chromium, and serves a match for them.
//
//	s := browser.NewStage(t, browser.StageOptions{Site: site, Match: spec})
//	b := browser.Open(t, s.URL+"/#/watch/arena")
//	b.Until(browser.Inspected)
//	b.Agree(2)
//	b.NeverDiffered()
//
// All tests of a package share one browser, which its TestMain stops with [Main]. They skip without Chromium.
package browser
