//go:build !js

package s3_test

import (
	"fmt"
	"log"

	"github.com/seed-49bee653/samestep/server/archive/s3"
)

// The address names the bucket, and the environment has the keys.
func ExampleFromEnvironment() {
	env := map[string]string{"AWS_ENDPOINT_URL": "https://minio.example", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
	var c s3.Config
	c, err := s3.FromEnvironment("s3://league/eu", func(name string) string { return env[name] }) // os.Getenv
	if err != nil {
		log.Fatal(err)
	}
	var store *s3.Store
	if store, err = s3.New(c); err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	fmt.Println(c.Endpoint, c.Bucket, c.Prefix)
	// Output:
	// https://minio.example league eu
}
