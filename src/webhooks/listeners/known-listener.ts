/** The listener of an endpoint, as far as this instance knows: its lease may have been renewed. */
export type KnownListener = { holdSeconds: number; leaseUntil: number }

export function knownListener({
  holdSeconds,
  leaseUntil,
}: {
  holdSeconds: number
  leaseUntil: Date
}): KnownListener {
  return { holdSeconds, leaseUntil: leaseUntil.getTime() }
}
