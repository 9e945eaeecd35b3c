package export

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Reasons for the loss of a span, the values of dsh.trace.dropped.reason.
const (
	// QueueFull: the span ended while the queue had no room.
	QueueFull = "queue_full"
	// ExportFailed: the exporter could not write it.
	ExportFailed = "export_failed"
	// AtShutdown: it was still queued when Shutdown ran out of time, or ended
	// after it.
	AtShutdown = "shutdown"
)

// Defaults of QueueConfig.
const (
	DefaultSize            = 16384
	DefaultBatch           = 512
	DefaultDelay           = 200 * time.Millisecond
	DefaultExportTimeout   = 10 * time.Second
	DefaultShutdownTimeout = 5 * time.Second
)

// QueueConfig adjusts a Queue. Zero values are the defaults.
type QueueConfig struct {
	// Size is the most spans that wait. A span of the runtime is about 2 kB in
	// memory.
	Size int
	// Batch is the most spans that are handed to the exporter at once.
	Batch int
	// Delay is how long a span waits for others to share its batch.
	Delay time.Duration
	// ExportTimeout bounds one call of the exporter.
	ExportTimeout time.Duration
	// ShutdownTimeout bounds Shutdown, whatever its context says.
	ShutdownTimeout time.Duration
	// Ratio is the share of traces that is exported, by trace id, for an exporter
	// that gets less than the others do; 0 is all. What is left out by it is not
	// lost.
	Ratio float64
	// OnError is told about every failed export, on the queue's goroutine.
	OnError func(error)
	// Now is the clock of the markers; the default is time.Now.
	Now func() time.Time
}

func (c QueueConfig) withDefaults() QueueConfig {
	if c.Size <= 0 {
		c.Size = DefaultSize
	}
	if c.Batch <= 0 {
		c.Batch = DefaultBatch
	}
	c.Batch = min(c.Batch, c.Size)
	if c.Delay <= 0 {
		c.Delay = DefaultDelay
	}
	if c.ExportTimeout <= 0 {
		c.ExportTimeout = DefaultExportTimeout
	}
	if c.ShutdownTimeout <= 0 {
		c.ShutdownTimeout = DefaultShutdownTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Stats counts what a Queue did.
type Stats struct {
	// Accepted spans entered the queue; Exported ones were written. Markers are
	// not counted.
	Accepted, Exported int64
	// Lost spans, by reason.
	QueueFull, ExportFailed, AtShutdown int64
	// Open spans were started and have not ended.
	Open int64
	// Errors is how many exports failed, LastError what the last one said.
	Errors    int64
	LastError error
}

// Dropped returns the number of spans that were lost, for whatever reason.
func (s Stats) Dropped() int64 { return s.QueueFull + s.ExportFailed + s.AtShutdown }

// PartialError is what an exporter returns that wrote a part of a batch.
type PartialError struct {
	// Written is how many spans were written, in the order of the batch.
	Written int
	Err     error
}

// Error returns the cause's text.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error { return e.Err }

// Queue is a span processor with a bounded queue in front of an exporter. It is
// safe for concurrent use. Whoever makes one shuts it down, by itself or through
// its provider.
type Queue struct {
	cfg      QueueConfig
	exporter sdktrace.SpanExporter
	below    uint64 // trace ids below it are exported

	mu      sync.Mutex
	ring    []sdktrace.ReadOnlySpan
	head    int
	len     int
	taken   int   // spans that the worker has and has not accounted for
	settled int64 // accepted spans that are accounted for
	waiters []waiter
	closed  bool
	sealed  bool // Shutdown ran out of time and told its count
	stats   Stats
	owed    [3]loss // losses that no marker has told yet
	scope   instrumentation.Scope
	res     *resource.Resource

	ctx    context.Context // of exports; ends when Shutdown runs out of time
	cancel context.CancelFunc
	some   chan struct{} // the queue is no longer empty
	urgent chan struct{} // a batch is full, or somebody waits
	done   chan struct{} // the worker has ended

	once sync.Once
	err  error // of Shutdown
}

// waiter is a ForceFlush: it waits until this many accepted spans are settled.
type waiter struct {
	upTo    int64
	flushed chan struct{}
}

// loss is a number of spans that were lost in a span of time.
type loss struct {
	spans       int64
	first, last time.Time
}

// and returns both losses as one; later is what was lost after l.
func (l loss) and(later loss) loss {
	if later.spans > 0 {
		l.last = later.last
	}
	l.spans += later.spans
	return l
}

// Indexes of owed and reasons.
const (
	queueFull = iota
	exportFailed
	atShutdown
)

var reasons = [3]string{QueueFull, ExportFailed, AtShutdown}

// NewQueue returns a queue in front of exporter and starts its goroutine. The
// queue owns the exporter: Shutdown shuts it down.
func NewQueue(exporter sdktrace.SpanExporter, cfg QueueConfig) *Queue {
	cfg = cfg.withDefaults()
	q := &Queue{
		cfg:      cfg,
		exporter: exporter,
		below:    math.MaxUint64,
		ring:     make([]sdktrace.ReadOnlySpan, cfg.Size),
		some:     make(chan struct{}, 1),
		urgent:   make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	if cfg.Ratio > 0 && cfg.Ratio < 1 {
		q.below = uint64(cfg.Ratio * (1 << 63)) // compared with 63 bits of the id
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.work()
	return q
}

// keeps reports whether the ratio lets the span's trace through. It looks at the
// same bits as the SDK's TraceIDRatioBased, so that equal ratios keep equal
// traces.
func (q *Queue) keeps(s sdktrace.ReadOnlySpan) bool {
	if !s.SpanContext().IsSampled() {
		return false
	}
	if q.below == math.MaxUint64 {
		return true
	}
	id := s.SpanContext().TraceID()
	return binary.BigEndian.Uint64(id[8:])>>1 < q.below
}

// OnStart counts the span as open.
func (q *Queue) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if !q.keeps(s) {
		return
	}
	q.mu.Lock()
	q.stats.Open++
	q.mu.Unlock()
}

// OnEnd queues the span. It never waits: without room the span is counted as
// lost.
func (q *Queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !q.keeps(s) {
		return
	}
	q.mu.Lock()
	q.stats.Open--
	if q.closed || q.len == len(q.ring) {
		q.res, q.scope = s.Resource(), s.InstrumentationScope()
		if q.closed {
			q.lose(atShutdown, 1)
		} else {
			q.lose(queueFull, 1)
		}
		q.mu.Unlock()
		return
	}
	q.ring[(q.head+q.len)%len(q.ring)] = s
	q.len++
	q.stats.Accepted++
	n := q.len
	q.mu.Unlock()
	if n == 1 {
		signal(q.some)
	}
	if n == q.cfg.Batch {
		signal(q.urgent)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// lose counts lost spans. The caller holds the lock.
func (q *Queue) lose(reason int, spans int64) {
	if spans == 0 {
		return
	}
	now := q.cfg.Now()
	l := &q.owed[reason]
	if l.spans == 0 {
		l.first = now
	}
	l.spans += spans
	l.last = now
	switch reason {
	case queueFull:
		q.stats.QueueFull += spans
	case exportFailed:
		q.stats.ExportFailed += spans
	case atShutdown:
		q.stats.AtShutdown += spans
	}
}

// Stats returns the counts so far.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats
}

// EachDrop calls yield with the losses so far, by reason.
func (q *Queue) EachDrop(yield func(reason string, spans int64)) {
	s := q.Stats()
	yield(QueueFull, s.QueueFull)
	yield(ExportFailed, s.ExportFailed)
	yield(AtShutdown, s.AtShutdown)
}

// ForceFlush returns when everything that was queued before the call has been
// exported or counted as lost, or when ctx ends.
func (q *Queue) ForceFlush(ctx context.Context) error {
	q.mu.Lock()
	if q.settled == q.stats.Accepted {
		q.mu.Unlock()
		return nil
	}
	flushed := make(chan struct{})
	q.waiters = append(q.waiters, waiter{q.stats.Accepted, flushed})
	q.mu.Unlock()
	signal(q.urgent)
	select {
	case <-flushed:
		return nil
	case <-q.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush spans: %w", context.Cause(ctx))
	}
}

// Shutdown takes no more spans, exports what is queued, writes the last markers
// and shuts the exporter down. It returns when that is done, when ctx ends, or
// after ShutdownTimeout; in the last two cases what was not exported is counted
// as lost, and the goroutine ends as soon as the exporter's call, whose context
// is cancelled, returns. The error says how many spans were lost in the queue's
// whole life, if any were, and what failed last. Calling it again waits for and
// returns the same.
func (q *Queue) Shutdown(ctx context.Context) error {
	q.once.Do(func() { q.err = q.shutdown(ctx) })
	return q.err
}

func (q *Queue) shutdown(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, q.cfg.ShutdownTimeout)
	defer stop()
	defer q.cancel()
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.urgent)

	var late error
	select {
	case <-q.done:
	case <-ctx.Done():
		late = context.Cause(ctx)
		q.cancel()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if late != nil {
		// What the worker still has is given up here, so that the count is told
		// even if the exporter never returns.
		q.sealed = true
		q.lose(atShutdown, int64(q.len+q.taken))
		q.head, q.len, q.taken = 0, 0, 0
		clear(q.ring)
	}
	return q.verdict(late)
}

// verdict is Shutdown's error. The caller holds the lock.
func (q *Queue) verdict(late error) error {
	var errs []error
	if n := q.stats.Dropped(); n > 0 {
		errs = append(errs, fmt.Errorf("%d spans lost (%d %s, %d %s, %d %s)", n,
			q.stats.QueueFull, QueueFull, q.stats.ExportFailed, ExportFailed, q.stats.AtShutdown, AtShutdown))
	}
	if late != nil {
		errs = append(errs, late)
	}
	if q.stats.LastError != nil {
		errs = append(errs, q.stats.LastError)
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("export spans: %w", errors.Join(errs...))
}

// work is the queue's goroutine.
func (q *Queue) work() {
	defer close(q.done)
	timer := time.NewTimer(q.cfg.Delay)
	timer.Stop()
	for {
		select {
		case <-q.urgent:
		case <-q.some:
			timer.Reset(q.cfg.Delay)
			select {
			case <-timer.C:
			case <-q.urgent:
			}
		}
		for q.exportBatch() {
		}
		if q.finished() {
			break
		}
	}
	q.mark(true)
	ctx, stop := context.WithTimeout(q.ctx, q.cfg.ExportTimeout)
	defer stop()
	if err := guard(func() error { return q.exporter.Shutdown(ctx) }); err != nil {
		q.failed(fmt.Errorf("shut the exporter down: %w", err))
	}
}

// exportBatch exports the oldest spans and reports whether more are waiting.
func (q *Queue) exportBatch() (more bool) {
	q.mu.Lock()
	n := min(q.len, q.cfg.Batch)
	batch := make([]sdktrace.ReadOnlySpan, n)
	for i := range batch {
		batch[i], q.ring[q.head] = q.ring[q.head], nil
		q.head = (q.head + 1) % len(q.ring)
	}
	q.len -= n
	q.taken = n
	if n > 0 {
		q.res, q.scope = batch[0].Resource(), batch[0].InstrumentationScope()
	}
	q.mu.Unlock()

	if n == 0 {
		return false
	}
	written, err := q.export(batch)
	q.account(n, written)
	if err == nil {
		q.mark(false)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len > 0
}

// account settles a batch and tells those who waited for it.
func (q *Queue) account(n, written int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sealed {
		return // Shutdown has told its count
	}
	q.taken = 0
	q.settled += int64(n)
	q.stats.Exported += int64(written)
	q.lose(exportFailed, int64(n-written))
	q.waiters = slices.DeleteFunc(q.waiters, func(w waiter) bool {
		if w.upTo <= q.settled {
			close(w.flushed)
			return true
		}
		return false
	})
}

// export calls the exporter and returns how many spans were written.
func (q *Queue) export(batch []sdktrace.ReadOnlySpan) (written int, err error) {
	ctx, stop := context.WithTimeout(q.ctx, q.cfg.ExportTimeout)
	defer stop()
	err = guard(func() error { return q.exporter.ExportSpans(ctx, batch) })
	if err == nil {
		return len(batch), nil
	}
	q.failed(err)
	var partial *PartialError
	if errors.As(err, &partial) {
		return min(max(partial.Written, 0), len(batch)), err
	}
	return 0, err
}

func (q *Queue) failed(err error) {
	q.mu.Lock()
	q.stats.Errors++
	q.stats.LastError = err
	q.mu.Unlock()
	if q.cfg.OnError != nil {
		q.cfg.OnError(err)
	}
}

// guard contains a panic of the exporter: it is foreign code, and a trace is not
// worth the process.
func guard(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("exporter panicked: %v", v)
		}
	}()
	return call()
}

func (q *Queue) finished() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && q.len == 0
}

// mark exports a marker for each reason that spans were lost for since the last
// one, and at the end one for the spans that never ended. What the exporter does
// not take stays owed.
func (q *Queue) mark(last bool) {
	q.mu.Lock()
	owed := q.owed
	q.owed = [3]loss{}
	open, res, scope := q.stats.Open, q.res, q.scope
	q.mu.Unlock()

	var markers []sdktrace.ReadOnlySpan
	var of []int // the reason of each marker
	for i, l := range owed {
		if l.spans > 0 {
			markers = append(markers, newMarker(res, scope, reasons[i], l))
			of = append(of, i)
		}
	}
	if last && open > 0 {
		markers = append(markers, newUnfinished(res, scope, open, q.cfg.Now()))
	}
	if len(markers) == 0 {
		return
	}
	written, err := q.export(markers)
	if err == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, i := range of {
		if n >= written {
			q.owed[i] = owed[i].and(q.owed[i])
		}
	}
}
