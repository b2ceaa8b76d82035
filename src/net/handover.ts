import { Fault } from '../errors.ts'

/** The cause of a failure after the receiver got the whole message and before it responded. */
export class Unanswered extends Error {}

/** Whether a message whose sending failed may have arrived: the receiver got it and did not respond. */
export function mayHaveBeenAccepted(error: unknown): boolean {
  return error instanceof Fault && error.cause instanceof Unanswered
}
