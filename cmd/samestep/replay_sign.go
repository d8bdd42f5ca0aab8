package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

func replaySignCommand() *cli.Command {
	return &cli.Command{
		Name:      "sign",
		Usage:     "sign what a match was",
		ArgsUsage: "IN OUT",
		Description: `Writes the same file with an Ed25519 signature of its content hash. See verify
--key. The key is a PEM file as "openssl genpkey -algorithm ed25519" makes it.`,
		Flags:        []cli.Flag{&cli.StringFlag{Name: "key", Usage: "the private key in `FILE` (PEM, PKCS #8)"}, jsonFlag},
		OnUsageError: usageError,
		Action:       written(replaySign),
	}
}

func replaySign(c *cli.Context) error {
	if c.NArg() != 2 || !c.IsSet("key") {
		return usagef("sign: want --key, one file to read and one to write")
	}
	private, err := readKey(c.String("key"), "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
	if err != nil {
		return err
	}
	key, ok := private.(ed25519.PrivateKey)
	if !ok {
		return fmt.Errorf("%s: got a %T, want an Ed25519 key", c.String("key"), private)
	}
	return withReplay(c.Args().First(), func(f *replayFile) error {
		r, err := f.reader()
		if err != nil {
			return err
		}
		return files.Create(c.Args().Get(1), func(out *os.File) error { return replay.Sign(out, r, key) })
	})
}

// readKey reads the key in a PEM file, which must hold one of a type.
func readKey(name, pemType string, parse func([]byte) (any, error)) (any, error) {
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
	key, err := parse(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// verifySignature requires that a replay is signed with the private half of the
// key in a file.
func verifySignature(r *replay.Reader, name string) error {
	public, err := readKey(name, "PUBLIC KEY", x509.ParsePKIXPublicKey)
	if err != nil {
		return err
	}
	key, ok := public.(ed25519.PublicKey)
	if !ok {
		return fmt.Errorf("%s: got a %T, want an Ed25519 key", name, public)
	}
	return replay.VerifySignature(r, key)
}
