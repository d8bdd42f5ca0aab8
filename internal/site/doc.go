// Package site serves a web page with its WebAssembly from memory, and builds the WebAssembly of a checkout.
//
//	programs, err := site.Build(ctx, site.BuildOptions{Packages: map[string]string{"skirmish": "./examples/skirmish/web/wasm"}})
//	s, err := site.New(page, programs)
//	err = http.ListenAndServe("127.0.0.1:8766", s.Over(matches))
//
// A site consists of the files of one or more file systems. An HTML document in the root of one has its own name as its
// path; index.html is "/". All other files are at /page/HASH/PATH, where HASH covers the content of the whole site. So
// browsers may cache them for ever, and a document, which they fetch each time, never gets files of another version. A
// document refers to files by "PATH" in double quotes, which the site replaces by the full path. Files refer to each other
// by relative paths. manifest.json and serviceworker.js are at their own names like documents: browsers compare these with
// the former ones. In documents, "site:version" stands for HASH, and "site:files" for the list of all paths under /page.
//
// Files may be compressed in advance: NAME.br stands for NAME.
package site
