/** Does work when its result is first needed, and only once. */
export function once<T>(work: () => T): () => T {
  let done: { result: T } | undefined
  return () => (done ??= { result: work() }).result
}
