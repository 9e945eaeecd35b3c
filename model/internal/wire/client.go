package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultConnectTimeout = 30 * time.Second
	// DefaultIdleTimeout is long because some providers say nothing while a model
	// reasons.
	DefaultIdleTimeout   = 5 * time.Minute
	DefaultMaxEventBytes = 16 << 20
)

// Config is the part of an adapter's configuration that concerns HTTP. The zero
// value of a field is its default.
type Config struct {
	BaseURL        string
	HTTPClient     *http.Client
	ConnectTimeout time.Duration // negative: no limit
	IdleTimeout    time.Duration // negative: no limit
	MaxEventBytes  int
	Header         http.Header // sent with each request
	Now            func() time.Time
}

// Client sends requests to one provider. It is safe for concurrent use.
type Client struct {
	http     *http.Client
	own      *http.Transport // nil if the host gave the client
	base     *url.URL
	header   http.Header
	connect  time.Duration
	idle     time.Duration
	maxEvent int
	now      func() time.Time
}

// NewClient checks cfg and returns a client.
func NewClient(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(cfg.BaseURL), "/"))
	if err != nil {
		var wrapped *url.Error // its text has the whole URL, and maybe a password
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("base URL %q: want http or https, a host, and no query", base.Redacted())
	}
	c := &Client{
		base: base, header: cfg.Header, now: cfg.Now, maxEvent: cfg.MaxEventBytes,
		connect: orDefault(cfg.ConnectTimeout, DefaultConnectTimeout),
		idle:    orDefault(cfg.IdleTimeout, DefaultIdleTimeout),
	}
	if c.maxEvent <= 0 {
		c.maxEvent = DefaultMaxEventBytes
	}
	if c.now == nil {
		c.now = time.Now
	}
	if cfg.HTTPClient != nil {
		shared := *cfg.HTTPClient
		c.http = &shared
	} else {
		c.own = newTransport(c.connect)
		c.http = &http.Client{Transport: c.own}
	}
	// Following a redirect would send a second request, and send the key, which is
	// in a header of the provider's own, to whatever host the answer names.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// newTransport returns a transport that one adapter owns. It keeps more idle
// connections than the standard one, whose two would make most of a server's
// sessions connect anew for each request.
func newTransport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: max(connect, 0), KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: max(connect, 0),
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		// A connection that died silently must not swallow the requests that are
		// put on it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// URL returns the endpoint at path below the base URL.
func (c *Client) URL(path string) *url.URL { return c.base.JoinPath(path) }

// Server returns the provider's address and port.
func (c *Client) Server() (address string, port int) {
	port, err := strconv.Atoi(c.base.Port())
	switch {
	case err == nil:
	case c.base.Scheme == "http":
		port = 80
	default:
		port = 443
	}
	return c.base.Hostname(), port
}

// Close ends idle connections, unless the host owns the HTTP client. Requests
// under way are not touched.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// decimal reads a number of a header that is not negative and not absurd.
func decimal(s string) (float64, bool) {
	const year = 365 * 24 * 60 * 60 * 1000 // in ms
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && f >= 0 && f <= year
}

// CheckHeaderValue reports whether a secret can be sent in a header. The error
// does not show it.
func CheckHeaderValue(what, value string) error {
	for i := range len(value) {
		if b := value[i]; b < ' ' && b != '\t' || b == 0x7f {
			return fmt.Errorf("%s has a control character", what)
		}
	}
	return nil
}
