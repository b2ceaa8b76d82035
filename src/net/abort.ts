/** Whether any of the signals has aborted. */
export function isAborted(notifications: readonly AbortSignal[]): boolean {
  return notifications.some((signal) => signal.aborted)
}

/** Calls `act` when one of the signals aborts; gives back how to stop listening. */
export function onAbort(notifications: readonly AbortSignal[], act: () => void): () => void {
  for (const signal of notifications) listen(signal, act)
  return () => {
    for (const signal of notifications) leave(signal, act)
  }
}

type Audience = { acts: Set<() => void>; call: () => void }

// A signal scans all its listeners whenever one is added or removed, so hundreds of queries share
// one listener.
const audiences = new WeakMap<AbortSignal, Audience>()

function listen(signal: AbortSignal, act: () => void): void {
  let audience = audiences.get(signal)
  if (!audience) {
    const acts = new Set<() => void>()
    audience = { acts, call: () => acts.forEach((each) => each()) }
    audiences.set(signal, audience)
    signal.addEventListener('abort', audience.call)
  }
  audience.acts.add(act)
}

function leave(signal: AbortSignal, act: () => void): void {
  const audience = audiences.get(signal)
  if (!audience?.acts.delete(act) || audience.acts.size > 0) return
  audiences.delete(signal)
  signal.removeEventListener('abort', audience.call)
}
