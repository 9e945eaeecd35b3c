package export

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// ServiceName is the default service.name.
const ServiceName = "dsh-actor"

// Identity says who makes the spans. OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES win over all of it.
type Identity struct {
	// Service is service.name; the default is ServiceName.
	Service string
	// Version is service.version.
	Version string
	// Instance is service.instance.id; the default is a new random UUID.
	Instance string
	// Attributes are added.
	Attributes []attribute.KeyValue
}

// NewResource returns the resource of this process. The error names what of the
// environment could not be read; the resource is usable all the same.
func NewResource(ctx context.Context, id Identity) (*resource.Resource, error) {
	if id.Service == "" {
		id.Service = ServiceName
	}
	if id.Instance == "" {
		id.Instance = newUUID()
	}
	list := []attribute.KeyValue{
		attribute.String("service.name", id.Service),
		attribute.String("service.instance.id", id.Instance),
		attribute.Int("process.pid", os.Getpid()),
		attribute.String("process.runtime.name", "go"),
		attribute.String("process.runtime.version", runtime.Version()),
		attribute.String("os.type", runtime.GOOS),
		attribute.String("host.arch", runtime.GOARCH),
		attribute.String("telemetry.sdk.language", "go"),
		attribute.String("telemetry.sdk.name", "opentelemetry"),
	}
	if id.Version != "" {
		list = append(list, attribute.String("service.version", id.Version))
	}
	if host, err := os.Hostname(); err == nil {
		list = append(list, attribute.String("host.name", host))
	}
	list = append(list, id.Attributes...)
	ours := resource.NewSchemaless(list...)
	env, envErr := resource.New(ctx, resource.WithFromEnv())
	if env == nil {
		env = resource.Empty()
	}
	// The environment's schema is of the SDK's own making and says nothing about
	// the names above.
	merged, err := resource.Merge(ours, resource.NewSchemaless(env.Attributes()...))
	if err != nil {
		return ours, fmt.Errorf("resource: %w", err)
	}
	if envErr != nil {
		return merged, fmt.Errorf("resource from the environment: %w", envErr)
	}
	return merged, nil
}

// newUUID returns a random UUID (version 4).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
