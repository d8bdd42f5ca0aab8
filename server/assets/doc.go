// Package assets keeps the assets of matches in a folder, such as their maps: one file for each content, named by its SHA-256.
// A server reads its assets there, a client keeps those that it has fetched, and tools look there for those of a replay.
//
//	folder := assets.Folder{Dir: "assets"}
//	valley, err := folder.Add("valley.map", content) // once; the result belongs in a configuration
//	game = game.WithAssets(folder.Read)
//
// Files are checked whenever they are read, so a folder may be damaged, shared or copied.
package assets
