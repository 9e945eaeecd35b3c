package messages

// The core payloads from their text (E-8). The order of the fields is that of
// the text.

func (d *TurnStart) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "turn", into: &d.Turn}, {name: "trigger", into: &d.Trigger}})
}

func (d *TurnEnd) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "turn", into: &d.Turn}, {name: "reason", into: &d.Reason}})
}

func (d *StepStart) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}})
}

func (d *StepEnd) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}})
}

func (d *UserMessage) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "content", into: &d.Content}, {name: "source", into: &d.Source},
		{name: "envelope", into: &d.Envelope, optional: true}, {name: "meta", into: &d.Meta, optional: true},
	})
}

func (d *SteeringMessage) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "turn", into: &d.Turn}, {name: "content", into: &d.Content}, {name: "source", into: &d.Source},
		{name: "envelope", into: &d.Envelope, optional: true}, {name: "meta", into: &d.Meta, optional: true},
	})
}

func (d *PromptBlocked) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "content", into: &d.Content}, {name: "source", into: &d.Source}, {name: "reason", into: &d.Reason},
	})
}

func (d *RequestHeaderEvent) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "header", into: &d.Header}, {name: "reason", into: (*string)(&d.Reason)}})
}

func (h *RequestHeader) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "config", into: &h.Config}, {name: "system", into: &h.System, optional: true},
		{name: "tools", into: intoList(&h.Tools), optional: true},
		{name: "messagePrefix", into: intoList(&h.MessagePrefix), optional: true},
	})
}

func (c *RequestConfig) decodeView(raw JSON) error {
	var stop List[stringView]
	err := decodeFields(raw, "", []field{
		{name: "provider", into: &c.Provider}, {name: "model", into: &c.Model},
		{name: "temperature", into: &c.Temperature, optional: true},
		{name: "maxTokens", into: &c.MaxTokens, optional: true}, {name: "stop", into: intoList(&stop), optional: true},
	})
	for _, s := range stop.items {
		c.Stop.items = append(c.Stop.items, string(s))
	}
	return err
}

func (s *ToolSpec) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "name", into: &s.Name}, {name: "description", into: &s.Description}, {name: "parameters", into: &s.Parameters},
	})
}

func (m *Message) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "role", into: (*string)(&m.Role)}, {name: "content", into: &m.Content},
		{name: "provenance", into: &m.Provenance, optional: true},
	})
}

func (d *AssistantChunk) decodeView(raw JSON) error {
	var chunk rawView
	err := decodeFields(raw, "", []field{
		{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}, {name: "chunk", into: &chunk},
	})
	if err != nil {
		return err
	}
	d.Chunk, err = decodeChunk(JSON(chunk))
	return err
}

func (d *AssistantMessage) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}, {name: "content", into: &d.Content},
		{name: "provenance", into: &d.Provenance}, {name: "usage", into: &d.Usage, optional: true},
	})
}

func (d *ToolCall) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}, {name: "callId", into: (*string)(&d.CallID)},
		{name: "name", into: &d.Name}, {name: "arguments", into: &d.Arguments},
	})
}

func (d *ToolResult) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "turn", into: &d.Turn}, {name: "step", into: &d.Step}, {name: "callId", into: (*string)(&d.CallID)},
		{name: "content", into: &d.Content}, {name: "isError", into: &d.IsError},
		{name: "error", into: &d.Error, optional: true}, {name: "meta", into: &d.Meta, optional: true},
	})
}

func (d *ApprovalAsked) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "id", into: (*string)(&d.ID)}, {name: "toolName", into: &d.ToolName},
		{name: "callId", into: (*string)(&d.CallID), optional: true}, {name: "reason", into: &d.Reason, optional: true},
	})
}

func (d *ApprovalDecided) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "id", into: (*string)(&d.ID)}, {name: "outcome", into: &d.Outcome}})
}

func (d *ApprovalPolicy) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "policy", into: &d.Policy}})
}

func (e *ErrorInfo) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{{name: "name", into: &e.Name}, {name: "code", into: (*string)(&e.Code)}})
}

func (e *PromptEnvelope) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "displayContent", into: &e.DisplayContent}, {name: "prefixContexts", into: intoList(&e.PrefixContexts)},
	})
}

func (c *PrefixContext) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "source", into: &c.Source}, {name: "meta", into: &c.Meta, optional: true},
	})
}

func (p *Provenance) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "provider", into: &p.Provider}, {name: "model", into: &p.Model},
		{name: "replayState", into: &p.ReplayState, optional: true},
	})
}

func (u *Usage) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "inputTokens", into: &u.InputTokens}, {name: "outputTokens", into: &u.OutputTokens},
		{name: "cacheReadTokens", into: &u.CacheReadTokens, optional: true},
		{name: "cacheWriteTokens", into: &u.CacheWriteTokens, optional: true},
		{name: "reasoningTokens", into: &u.ReasoningTokens, optional: true},
	})
}

func (f *Failure) decodeView(raw JSON) error {
	return decodeFields(raw, "", []field{
		{name: "message", into: &f.Message}, {name: "code", into: (*string)(&f.Code)},
		{name: "status", into: &f.Status, optional: true},
		{name: "providerRetryAfterMs", into: &f.ProviderRetryAfterMS, optional: true},
		{name: "requestId", into: (*string)(&f.RequestID), optional: true},
	})
}
