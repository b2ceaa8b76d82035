/** The service does not take the message now. */
export class Later extends Error {
  readonly seconds: number | undefined

  /** @param seconds after which the service wants to be asked again, where it said so */
  constructor(reason: string, seconds?: number) {
    super(reason)
    this.seconds = seconds
  }
}

/** The service no longer accepts anything with these settings: a revoked token, a deleted room. */
export class Dead extends Error {}

/** The service never accepts this message; others it may. */
export class Rejected extends Error {}

/**
 * Throws `Dead` where the words of the service say that the settings no longer work, else
 * `Rejected`; returns for a success.
 */
export function requireSuccess(
  { status, words }: { status: number; words: string },
  isDead: boolean,
): void {
  if (status >= 200 && status < 300) return
  throw isDead ? new Dead(words) : new Rejected(words)
}
