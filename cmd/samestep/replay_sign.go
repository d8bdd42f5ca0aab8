package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/replay"
)

func replaySignCommand() *cli.Command {
	return &cli.Command{
		Name:      "sign",
		Usage:     "sign the content of a replay",
		ArgsUsage: "IN OUT",
		Description: `Writes the same file with an Ed25519 signature of its content hash, for verify --key.
The key is a PEM file from "openssl genpkey -algorithm ed25519".`,
		Flags:  []cli.Flag{&cli.StringFlag{Name: "key", Usage: "the private key in `FILE` (PEM, PKCS #8)"}, jsonFlag},
		Action: written(replaySign),
	}
}

func replaySign(c *cli.Context) error {
	if !c.IsSet("key") {
		return usagef("want --key")
	}
	key, err := readKey[ed25519.PrivateKey](c.String("key"), "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return err
	}
	return copyReplay(c, func(f *replayFile, out *os.File) error {
		r, err := f.reader()
		if err != nil {
			return err
		}
		return replay.Sign(out, r, key)
	})
}

// readKey reads an Ed25519 key from a PEM file.
func readKey[K ed25519.PrivateKey | ed25519.PublicKey](name, pemType string, parse func([]byte) (any, error)) (K, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s: no PEM block", name)
	}
	if block.Type != pemType {
		return nil, fmt.Errorf("%s: got a %s, want a %s", name, block.Type, pemType)
	}
	parsed, err := parse(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	key, ok := parsed.(K)
	if !ok {
		return nil, fmt.Errorf("%s: got a %T, want an Ed25519 key", name, parsed)
	}
	return key, nil
}

// verifySignature returns an error unless the replay has a signature by the public key in a file.
func verifySignature(r *replay.Reader, name string) error {
	key, err := readKey[ed25519.PublicKey](name, "PUBLIC KEY", x509.ParsePKIXPublicKey)
	if err != nil {
		return err
	}
	return replay.VerifySignature(r, key)
}
