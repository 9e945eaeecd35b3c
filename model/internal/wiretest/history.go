package wiretest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
)

// History draws a history as the runtime makes them: prompts and contexts,
// answers, results in the order of their calls, contexts after them. Cuts are the
// lengths at which a request was sent. Reply gives the replay state of an answer.
func History(t *rapid.T, reply func(messages.Content) messages.JSON) (history []messages.Message, cuts []int) {
	text := rapid.SampledFrom([]string{"", " \n", "a", "some text", "é\"\\"})
	id := rapid.SampledFrom([]messages.CallID{"a", "b", "c", "f.x:0", ""})
	arguments := rapid.SampledFrom([]string{"", "{}", `{"x":1}`, `{"x":`, `[1]`})
	user := func(label string, most int) {
		for range rapid.IntRange(0, most).Draw(t, label) {
			blocks := []messages.Block{messages.TextBlock{Text: text.Draw(t, "text")}}
			if rapid.Bool().Draw(t, "image") {
				blocks = append(blocks, messages.ImageBlock{MediaType: "image/png", Data: "AA=="})
			}
			history = append(history, messages.Message{Role: messages.RoleUser, Content: messages.NewContent(blocks...)})
		}
	}
	user("prompts", 3)
	for range rapid.IntRange(1, 4).Draw(t, "answers") {
		cuts = append(cuts, len(history))
		var blocks []messages.Block
		var calls []messages.CallID
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				blocks = append(blocks, messages.TextBlock{Text: text.Draw(t, "text")})
			case 1:
				blocks = append(blocks, messages.ReasoningBlock{Text: text.Draw(t, "reasoning")})
			case 2:
				c := messages.ToolCallBlock{ID: id.Draw(t, "id"), Name: "T", Arguments: arguments.Draw(t, "arguments")}
				for n := 0; contains(calls, c.ID); n++ {
					c.ID = messages.CallID(fmt.Sprintf("%s-%d", c.ID, n))
				}
				calls = append(calls, c.ID)
				blocks = append(blocks, c)
			}
		}
		content := messages.NewContent(blocks...)
		provider := rapid.SampledFrom([]string{"p", "p", "other"}).Draw(t, "provider")
		history = append(history, messages.Message{
			Role: messages.RoleAssistant, Content: content,
			Provenance: messages.Provenance{Provider: provider, Model: "m", ReplayState: reply(content)},
		})
		for _, c := range calls {
			result := messages.ToolResultBlock{ToolCallID: c, IsError: rapid.Bool().Draw(t, "error")}
			result.Content = messages.Text(text.Draw(t, "result"))
			if rapid.Bool().Draw(t, "image") {
				result.Content = result.Content.Append(messages.ImageBlock{MediaType: "image/png", Data: "AA=="})
			}
			history = append(history, messages.Message{Role: messages.RoleUser, Content: messages.NewContent(result)})
		}
		user("contexts", 2)
	}
	return history, append(cuts, len(history))
}

func contains(ids []messages.CallID, id messages.CallID) bool {
	for _, other := range ids {
		if other == id {
			return true
		}
	}
	return false
}
