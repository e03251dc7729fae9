// Ctrl-C, a termination and a lost terminal each end a command in order, with the status that shells use.

import { constants } from 'node:os';

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StoppingSignal = (typeof STOPPING)[number];

/** How long an interrupted command may take to clean up. */
const GRACE_MS = 60_000;

/** 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. */
function statusOf(name: StoppingSignal): number {
  return 128 + constants.signals[name];
}

let came: StoppingSignal | undefined;

/** Exit status of a command that was stopped: by the signal that came, or as by Ctrl-C. */
export function stoppedStatus(): number {
  return statusOf(came ?? 'SIGINT');
}

/** Listens until `stop` is called. A second signal ends the process immediately. */
export function listenForSignals() {
  const abort = new AbortController();
  let patience: ReturnType<typeof setTimeout> | undefined;
  const onSignal = (name: StoppingSignal) => {
    // A second signal does not wait for the work to notice the first.
    if (abort.signal.aborted) process.exit(statusOf(name));
    came = name;
    abort.abort();
    // Work that hangs in the operating system never notices.
    patience = setTimeout(() => process.exit(statusOf(name)), GRACE_MS).unref();
  };
  for (const name of STOPPING) process.on(name, onSignal);
  return {
    /** Fires when a signal comes. */
    signal: abort.signal,
    stop(): void {
      clearTimeout(patience);
      for (const name of STOPPING) process.off(name, onSignal);
    },
  };
}
