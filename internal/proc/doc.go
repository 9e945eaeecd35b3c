// Package proc starts child processes, reports what became of them, and leaves
// none behind. It is the one place of the runtime that does so: shell tools,
// hooks and servers that talk over standard input and output go through it.
//
// # What it owns
//
// An [Owner] owns every process that it starts, and everything that these
// start in turn, until all of it has ended. There is no way to start a process
// without one. [Owner.Run] runs a [Spec] to its end; [Owner.Start] returns a
// [Process] that lives longer; [Owner.Drain] ends whatever is left and says
// what it ended. Owners nest: draining one drains those made by [Owner.Sub].
//
// # What a run is
//
// The child leads its own session and process group and has no terminal.
// Standard input is written without ever failing on an early close;
// standard output and error are kept up to a limit, with the loss counted
// . A [Spec] says all of it as data; nothing here knows whose command it
// runs.
//
// What happened is an [Outcome] of independent facts. A run that timed out can
// have an exit code, one that exited can have survivors, and a caller decides
// which fact counts. An error is never used to say how a child behaved.
//
// # How a run is ended (SPEC Z-9)
//
// Timeout, cancellation, Kill and Drain are one sequence: SIGTERM (and SIGCONT,
// so that a stopped process can obey) to the whole group and to every process
// that left it; the grace time; SIGKILL to all that is still there, whether or
// not the leader has ended; and the call returns when they are gone. Who
// belongs to a run is read from the process table: its group and session, the
// descendants of both, the processes found before and what they lead, and, on
// Linux, every process that carries the run's mark in its environment, which
// finds the daemon that gave itself another parent. A drain of many runs reads
// the table once for all of them.
//
// A process is named by id and start time, and signalled through a pidfd on
// Linux, so that a process id that was given away again is never hit. What
// cannot be ended within [Config.KillWait] (a process in an uninterruptible
// wait, or one of another user) is reported as left, and stays owned.
//
// # Survivors
//
// A process that exits leaves its background children running. They are
// recorded in the outcome, their pipes are read and discarded so that writing
// does not kill them, and they stay owned: Drain ends them like any other. A
// [Spec] may ask for their end at once, or for their being left alone for good
// ([Background]). A background child that left group and session and holds no
// pipe is not in the outcome, because only a reading of the whole process
// table would find it; the drain's reading does, by its mark.
//
// # Systems
//
// On Linux everything above holds. On Darwin escaped descendants are found by
// parent, group and known process only, and the end of a process that is not
// our child is polled for (every 10 ms). On Windows a run is a job object:
// there is no way out of it, CTRL_BREAK stands for SIGTERM, and a survivor's
// pipes are closed.
//
// # What it refuses to know
//
// The death of its own process: children are not tied to it (the signal that
// Linux offers for that is tied to a thread), so after a crash of the host they
// run on, except on Windows.
//
// Hooks, tools, sessions, dialects, and the number of processes that may run
// at once: admission is its callers' matter (Z-42). It imports the standard
// library and golang.org/x/sys only.
package proc
