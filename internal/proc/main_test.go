package proc_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(proctest.Main(m)) }
