// Package files opens and writes files without trusting the folder that they are in: other users may have put links,
// pipes and files of theirs there.
//
//	f, err := files.Open(name)                   // a name that the user gave: links are followed
//	f, err := files.OpenNoFollow(name)           // a name that was found in a folder
//	err := files.Create(name, write)             // a new file, or none
//	err := files.Replace(name, write)            // whatever has the name
//	err := files.PrivateFolder(name)             // a folder for what is read again later
//	bytes, known := files.Free(name)             // the room on the disk of a folder
//
// Every file that this package writes has mode 0600, and has its name only when it is complete. Systems without modes
// or owners ignore them.
package files
