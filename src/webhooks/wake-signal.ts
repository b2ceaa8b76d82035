export type WakeSignal = {
  wake: (changed: boolean) => void
  /** Waits for a wake-up and returns its reason, or null after these milliseconds. */
  wait(milliseconds: number): Promise<'captured' | 'changed' | null>
}

/** Creates a signal that remembers a wake-up until the next wait. */
export function createWakeSignal(): WakeSignal {
  let reason: 'captured' | 'changed' | null = null
  let resolve: (() => void) | undefined
  return {
    wake(changed) {
      reason = changed || reason === 'changed' ? 'changed' : 'captured'
      resolve?.()
    },
    async wait(milliseconds) {
      if (reason === null) {
        await new Promise<void>((done) => {
          const timer = setTimeout(done, milliseconds)
          resolve = () => {
            clearTimeout(timer)
            done()
          }
        })
      }
      resolve = undefined
      const result = reason
      reason = null
      return result
    },
  }
}

/** The wake signals of all open streams, by the ID of their endpoint. */
export class WakeSignals {
  readonly #byEndpoint = new Map<string, Set<WakeSignal>>()

  add(endpointId: string, signal: WakeSignal): void {
    const signals = this.#byEndpoint.get(endpointId) ?? new Set()
    this.#byEndpoint.set(endpointId, signals.add(signal))
  }

  remove(endpointId: string, signal: WakeSignal): void {
    const signals = this.#byEndpoint.get(endpointId)
    signals?.delete(signal)
    if (signals?.size === 0) this.#byEndpoint.delete(endpointId)
  }

  wake(endpointId: string, changed: boolean): void {
    this.#byEndpoint.get(endpointId)?.forEach((signal) => signal.wake(changed))
  }

  /** Wakes all streams, because notifications may have been missed. */
  wakeAll(): void {
    for (const endpointId of this.#byEndpoint.keys()) this.wake(endpointId, true)
  }
}
