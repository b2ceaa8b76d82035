import { Fault } from '../errors.ts'

/**
 * What a process without a network knows in its place. Each part of the network declares what it
 * takes from a recording.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- see above
export interface Recording {}

let recording: Recording | undefined

/**
 * Takes the network away from this process, for good: DNS, TLS and small files are answered from a
 * recording, and every other connection fails. The connections to its own database stay.
 */
export function goOffline(recorded: Recording): void {
  recording = recorded
}

/** The recording; undefined in a process with a network. */
export const offline = (): Recording | undefined => recording

/** @throws Fault `demo` in a process without a network */
export function requireNetwork(): void {
  if (recording) throw new Fault('demo', 'This is a demo: it connects to no other host.')
}
