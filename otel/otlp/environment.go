package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Exporters that OTEL_TRACES_EXPORTER can name.
const (
	exporterOTLP = "otlp"
	// exporterFile is for the host: it opens the file by package export.
	exporterFile = "otlp_file"
	exporterNone = "none"
)

// Enabled reports whether the environment asks for OTLP over the network:
// OTEL_TRACES_EXPORTER names otlp, or names nothing while an OTLP endpoint is
// given. OTEL_SDK_DISABLED=true wins. The exporter otlp_file is the host's
// business and ignored here.
func Enabled() (bool, error) {
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") {
		return false, nil
	}
	list := strings.TrimSpace(os.Getenv("OTEL_TRACES_EXPORTER"))
	if list == "" {
		return signal("ENDPOINT") != "", nil
	}
	enabled := false
	for name := range strings.SplitSeq(list, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case exporterOTLP:
			enabled = true
		case exporterNone, exporterFile, "":
		default:
			return false, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not otlp, otlp_file or none", strings.TrimSpace(name))
		}
	}
	return enabled, nil
}

// signal returns the value of OTEL_EXPORTER_OTLP_TRACES_<name>, else of
// OTEL_EXPORTER_OTLP_<name>.
func signal(name string) string {
	if v := strings.TrimSpace(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_" + name)); v != "" {
		return v
	}
	return strings.TrimSpace(os.Getenv("OTEL_EXPORTER_OTLP_" + name))
}

// check refuses what the exporter would ignore with a line in a log that nobody
// set up.
func check() error {
	switch p := signal("PROTOCOL"); p {
	case "", "http/protobuf", "http/json":
	default:
		return fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: %q is not built in, use http/protobuf or http/json", p)
	}
	if e := signal("ENDPOINT"); e != "" {
		u, err := url.Parse(e)
		if err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %q is not an http or https URL", e)
		}
	}
	return nil
}

// timeout returns OTEL_EXPORTER_OTLP_TIMEOUT, in milliseconds there, or 0.
func timeout() (time.Duration, error) {
	v := signal("TIMEOUT")
	if v == "" {
		return 0, nil
	}
	ms, err := strconv.Atoi(v)
	if err != nil || ms < 0 {
		return 0, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %q is not a number of milliseconds", v)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// tlsConfig reads the certificates that the environment names; nil if none.
func tlsConfig() (*tls.Config, error) {
	ca, cert, key := signal("CERTIFICATE"), signal("CLIENT_CERTIFICATE"), signal("CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", ca)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
