// Package s3 keeps an archive in object storage that speaks the protocol of Amazon S3: MinIO, Ceph, Garage, or one of
// the clouds.
package s3
