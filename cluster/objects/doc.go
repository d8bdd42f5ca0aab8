// Package objects keeps an archive in the object store of a cluster's storage, as an alternative to package s3.
//
// A file is in chunks of 128 KiB, each a message of the bucket, and a last message with its size and its SHA-256. A file
// without the last message does not exist, so a [Store.Put] that a crash cuts short leaves the old file as it was.
//
// What is stored survives the death of a storage node at once, if the storage has three copies (storage.Layout). A node
// alone brings it to its disk after its Sync interval: with a negative one, before Put returns.
package objects
