import { constants } from 'node:os'

/** Exit code of a program that a signal ended, as shells report it. */
export const codeOfSignal = (name: NodeJS.Signals): number => 128 + constants.signals[name]

/**
 * Time after the first signal in which further ones are duplicates: a terminal or a supervisor
 * signals every process of a group, and a parent passes on its own.
 */
export const SAME_SIGNAL_MS = 1_000

/**
 * Calls `stop` at the first of these signals, and `end` at each that comes later than duplicates of
 * the first do.
 */
export function onStopSignals(
  names: readonly NodeJS.Signals[],
  stop: (name: NodeJS.Signals) => void,
  end: (name: NodeJS.Signals) => void,
): void {
  let stoppedAt: number | null = null
  for (const name of names)
    process.on(name, () => {
      if (stoppedAt === null) {
        stoppedAt = performance.now()
        stop(name)
      } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) end(name)
    })
}
