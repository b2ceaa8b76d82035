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
