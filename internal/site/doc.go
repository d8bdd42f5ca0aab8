// Package site serves a web page with its WebAssembly from memory, and builds the WebAssembly of a checkout.
//
//	programs, err := site.Build(ctx, site.BuildOptions{Packages: map[string]string{"skirmish": "./examples/skirmish/web/wasm"}})
//	s, err := site.New(page, programs)
//	err = http.ListenAndServe("127.0.0.1:8766", s.Over(matches))
//
// A site is made of the files of one or more file systems. HTML documents in the root of one have their own name as
// their path, and index.html is "/". All else is at /page/HASH/PATH, where HASH is made of everything in the site: so
// it may be cached for ever, and a document, which is asked for each time, never meets files of another version. A
// document names files by "PATH", in double quotes, and is given their whole address; files name each other by relative
// paths.
//
// What is served was compressed before. A file NAME.br stands for NAME.
package site
