package attack

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

var _ = register(&Attack{
	Row: 4, Name: "key", About: "servers start with a public key that is not PEM; JWTs are forged with the public key as a secret, and in other ways",
	Serve: serveJWT,
	Run: func(ctx context.Context, h *Attackers) error {
		public, private, err := readKeys(h.Dir)
		if err != nil {
			return fmt.Errorf("%w: only a server that this command starts has them", errUnfit)
		}
		if err := h.startWithKeys(ctx, public); err != nil {
			return err
		}
		right, err := sign(header("EdDSA"), claims(), func(b []byte) []byte { return ed25519.Sign(private, b) })
		if err != nil {
			return err
		}
		if status, _, err := h.ask(ctx, h.near, "DELETE", "/matches/nothing", right, ""); err != nil || status != http.StatusNotFound {
			if ctx.Err() != nil {
				return nil // a slow machine had no time for the request
			}
			return fmt.Errorf("%w: a right JWT got %d, %w", errUnfit, status, err)
		}
		forged, err := forgeries(public, private)
		if err != nil {
			return err
		}
		return h.repeat(ctx, 2, 50, func(ctx context.Context, n int) error {
			f := forged[n%len(forged)]
			if n/len(forged)%2 == 0 {
				status, _, err := h.ask(ctx, h.client, "DELETE", "/matches/nothing", f.token, "")
				if err != nil {
					return nil
				}
				h.try(fmt.Sprint(status))
				if status != http.StatusForbidden && status != http.StatusTooManyRequests {
					h.win("an admin's JWT %s: got %d", f.how, status)
				}
				return nil
			}
			p, err := h.join(ctx, f.token, protocol.SessionToken{})
			h.try(outcome(err))
			if err == nil {
				h.win("a JWT %s was welcomed", f.how)
				p.leave(ctx)
			}
			return nil
		})
	},
})

// serveJWT lets the server take JWTs that are signed with a key pair in dir.
func serveJWT(dir string) ([]string, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "jwt.pem")
	return []string{"--set", "jwt-key=" + file}, errors.Join(
		os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600),
		os.WriteFile(filepath.Join(dir, "jwt.key"), private, 0o600))
}

// readKeys returns the keys of serveJWT.
func readKeys(dir string) (ed25519.PublicKey, ed25519.PrivateKey, error) {
	b, err := os.ReadFile(filepath.Join(dir, "jwt.key"))
	if err != nil {
		return nil, nil, err
	}
	if len(b) != ed25519.PrivateKeySize {
		return nil, nil, fmt.Errorf("attack: key: got %d bytes, want %d", len(b), ed25519.PrivateKeySize)
	}
	private := ed25519.PrivateKey(b)
	return private.Public().(ed25519.PublicKey), private, nil
}

// A form is a public key in some encoding.
type form struct {
	name string
	b    []byte
}

// forms returns a public key in encodings that are not PEM.
func forms(public ed25519.PublicKey) ([]form, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	const kind = "ssh-ed25519"
	var wire []byte
	for _, part := range [][]byte{[]byte(kind), public} {
		wire = append(binary.BigEndian.AppendUint32(wire, uint32(len(part))), part...)
	}
	damaged := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	damaged = bytes.Replace(damaged, []byte("-----END"), []byte("----END"), 1)
	return []form{
		{"OpenSSH", fmt.Appendf(nil, "%s %s ops@example\n", kind, base64.StdEncoding.EncodeToString(wire))},
		{"JWKS", fmt.Appendf(nil, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))},
		{"DER", der},
		{"damaged PEM", damaged},
	}, nil
}

// startWithKeys starts servers with keys in other encodings, as an operator may do by
// mistake. No such server may run.
func (h *Attackers) startWithKeys(ctx context.Context, public ed25519.PublicKey) error {
	all, err := forms(public)
	if err != nil {
		return err
	}
	for _, f := range all {
		file := filepath.Join(h.Dir, "jwt.other")
		if err := os.WriteFile(file, f.b, 0o600); err != nil {
			return err
		}
		for _, algorithm := range []string{"", "HS256"} {
			short, cancel := context.WithTimeout(ctx, 10*time.Second)
			p := exec.CommandContext(short, h.Program, "serve", "--listen", "127.0.0.1:0", "--dir", "", "--log-level", "warn", "--set", "web=false", "--set", "jwt-key="+file, "--set", "jwt-algorithm="+algorithm)
			out, err := p.Output()
			cancel()
			if ctx.Err() != nil {
				return nil // the time is over
			}
			h.try("start")
			if err == nil || bytes.Contains(out, []byte("listening")) {
				h.win("the server started with a key as %s, algorithm %q", f.name, algorithm)
			}
		}
	}
	return nil
}

func header(algorithm string) map[string]any {
	return map[string]any{"alg": algorithm, "typ": "JWT"}
}

// claims are those of an admin.
func claims() map[string]any {
	return map[string]any{"sub": "forger", "role": "admin", "exp": time.Now().Add(time.Hour).Unix()}
}

// sign returns a JWT.
func sign(header, claims map[string]any, by func([]byte) []byte) (string, error) {
	h, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	c, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(h) + "." + base64.RawURLEncoding.EncodeToString(c)
	return text + "." + base64.RawURLEncoding.EncodeToString(by([]byte(text))), nil
}

// A forgery is a JWT that must be refused.
type forgery struct{ how, token string }

// forgeries returns JWTs of an admin that must be refused. The issuer's private key
// signs those for another audience.
func forgeries(public ed25519.PublicKey, private ed25519.PrivateKey) (all []forgery, err error) {
	add := func(how string, header, claims map[string]any, by func([]byte) []byte) {
		token, failed := sign(header, claims, by)
		err = errors.Join(err, failed)
		all = append(all, forgery{how, token})
	}
	secret := func(key []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			m := hmac.New(sha256.New, key)
			m.Write(b)
			return m.Sum(nil)
		}
	}
	issuer := func(b []byte) []byte { return ed25519.Sign(private, b) }
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	file := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	add("with the PEM file as a secret", header("HS256"), claims(), secret(file))
	add("with the PEM text as a secret", header("HS256"), claims(), secret(bytes.TrimSpace(file)))
	add("with the key's bytes as a secret", header("HS256"), claims(), secret(public))
	others, err := forms(public)
	if err != nil {
		return nil, err
	}
	for _, f := range others {
		add("with the key as "+f.name+" as a secret", header("HS256"), claims(), secret(f.b))
	}
	add("without a signature", header("none"), claims(), func([]byte) []byte { return nil })
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	add("of another key", header("EdDSA"), claims(), func(b []byte) []byte { return ed25519.Sign(other, b) })
	late, foreign, critical := claims(), claims(), header("EdDSA")
	late["exp"], foreign["aud"] = time.Now().Add(-time.Hour).Unix(), "another service"
	critical["crit"], critical["b64"] = []string{"b64"}, true
	add("that is expired", header("EdDSA"), late, issuer)
	add("for another audience", header("EdDSA"), foreign, issuer)
	add("with a critical header", critical, claims(), issuer)
	return all, err
}
