package session_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// A log checks what is appended and derives what the model reads.
func ExampleLog() {
	l := session.New(session.Config{Header: session.Header{ID: "s-1"}})
	now := time.UnixMilli(1767225600000).UnixMilli()
	_, err := l.AppendBatch(now,
		session.LogOnly(messages.TurnStart{Turn: l.LastTurn() + 1}),
		session.Add(messages.UserMessage{Content: messages.Text("hello"), Source: messages.UserSource()}),
	)
	if err != nil {
		log.Fatal(err)
	}
	history, _ := l.History()
	fmt.Println(history.At(0).Role, history.At(0).Content.Text())

	_, err = l.Append(now, session.LogOnly(messages.TurnEnd{Turn: 2}))
	fmt.Println(err)
	// Output:
	// user hello
	// session event "turn/end" at seq 2 breaks E-7: names turn 2, but turn 1 is open
}

// A session that a crash interrupted is read, repaired, and made durable again.
func ExampleRepair() {
	ctx, store := context.Background(), session.NewMemoryStore()
	header := session.Header{ID: "s-1"}
	l := session.New(session.Config{Header: header})
	crashed, err := l.AppendBatch(1,
		session.LogOnly(messages.TurnStart{Turn: 1}), session.LogOnly(messages.StepStart{Turn: 1, Step: 1}))
	if err != nil {
		log.Fatal(err)
	}
	err = store.Commit(ctx, session.Batch{ID: "s-1", Epoch: 1, Create: &header, Events: crashed.Slice()})
	if err != nil {
		log.Fatal(err)
	}

	owner, err := store.Acquire(ctx, "s-1")
	if err != nil {
		log.Fatal(err)
	}
	l, err = session.Restore(session.Config{Header: owner.Header}, store.Read(ctx, "s-1", 0, owner.NextSeq))
	if err != nil {
		log.Fatal(err)
	}
	closers, err := session.Repair(l)
	if err != nil {
		log.Fatal(err)
	}
	err = store.Commit(ctx, session.Batch{
		ID: "s-1", Epoch: owner.Epoch, ExpectSeq: owner.NextSeq, Events: closers.Slice(),
	})
	if err != nil {
		log.Fatal(err)
	}
	l.Trim(l.NextSeq())
	for e, err := range store.Read(ctx, "s-1", 0, -1) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Type())
	}
	// Output:
	// 0 turn/start
	// 1 step/start
	// 2 step/end
	// 3 turn/end
}
