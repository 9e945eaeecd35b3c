package messages

// Result is the outcome of one tool execution (P-28). It is frozen: every
// observer reads the same object, and nothing can change it. Success has a
// value; failure has an error.
type Result struct {
	failed   bool
	value    JSON
	content  Content
	meta     JSON
	contexts List[Context]
	message  string
	info     ErrorInfo
}

// ResultFields are the parts of a [Result], for those who build one.
type ResultFields struct {
	Value    JSON    // success only
	Content  Content // what the model reads
	Meta     JSON    // presentation metadata
	Contexts List[Context]
	Message  string    // failure only
	Info     ErrorInfo // failure only, for errors with a code
}

// NewSuccess returns a success. A tools/execute wrapper that answers instead of
// the tool needs only Value: content and meta are rendered again by the tool's
// own output contract (P-19).
func NewSuccess(f ResultFields) *Result {
	return &Result{value: f.Value, content: f.Content, meta: f.Meta, contexts: f.Contexts}
}

// NewFailure returns a failure. Absent content reads "Error: " and the message
// (P-17).
func NewFailure(f ResultFields) *Result {
	if f.Content.IsZero() {
		f.Content = Text("Error: " + f.Message)
	}
	return &Result{
		failed: true, content: f.Content, meta: f.Meta, contexts: f.Contexts,
		message: f.Message, info: f.Info,
	}
}

// IsError reports whether the result is a failure.
func (r *Result) IsError() bool { return r.failed }

// Value returns the canonical value of a success. It is local to the execution
// and never durable.
func (r *Result) Value() JSON { return r.value }

// Content returns what the model reads.
func (r *Result) Content() Content { return r.content }

// Meta returns the presentation metadata, if any.
func (r *Result) Meta() JSON { return r.meta }

// Contexts returns the contexts that enter the batch's FIFO.
func (r *Result) Contexts() List[Context] { return r.contexts }

// Message returns the error message of a failure.
func (r *Result) Message() string { return r.message }

// Info returns the structured identity of a failure, if it has one.
func (r *Result) Info() ErrorInfo { return r.info }

// Fields returns the parts, to build a changed copy from.
func (r *Result) Fields() ResultFields {
	return ResultFields{
		Value: r.value, Content: r.content, Meta: r.meta, Contexts: r.contexts,
		Message: r.message, Info: r.info,
	}
}

// With returns a copy with the parts that change keeps or replaces; the kind
// (success or failure) stays.
func (r *Result) With(change func(*ResultFields)) *Result {
	f := r.Fields()
	change(&f)
	return &Result{
		failed: r.failed, value: f.Value, content: f.Content, meta: f.Meta,
		contexts: f.Contexts, message: f.Message, info: f.Info,
	}
}
