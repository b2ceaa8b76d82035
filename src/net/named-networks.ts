import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { cidr, type Cidr } from '../setting-values.ts'

/** Networks of which some are named. */
export type NamedNetworks = {
  /** The same array at all times, with the present addresses of the names. */
  networks: Cidr[]
  stop(): void
}

/** Milliseconds between two look-ups: a container has another address when it is created again. */
const LOOKUP_INTERVAL_MS = 2_000

/**
 * Resolves names among networks with the resolver of the system, now and every 2 seconds. A name
 * without an address stands for no network; while the resolver does not answer, it keeps its last
 * addresses, because without them all clients would have the address of the proxy.
 */
export async function followNames(settings: readonly (Cidr | string)[]): Promise<NamedNetworks> {
  const fixed = settings.filter((setting) => typeof setting !== 'string')
  const names = settings.filter((setting) => typeof setting === 'string')
  const networks: Cidr[] = []
  const stopping = new AbortController()
  const known = new Map<string, Cidr[]>()
  const update = async () => {
    await Promise.all(
      names.map(async (name) => known.set(name, await addressesOf(name, known.get(name) ?? []))),
    )
    networks.splice(0, networks.length, ...fixed, ...[...known.values()].flat())
  }
  await update()
  if (names.length > 0) void keepUpdating(update, stopping.signal)
  return { networks, stop: () => stopping.abort() }
}

async function keepUpdating(update: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(LOOKUP_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {})
    if (!signal.aborted) await update()
  }
}

/** @param before its addresses so far, which it keeps while the resolver does not answer */
export async function addressesOf(
  name: string,
  before: Cidr[],
  lookUp: (name: string, options: { all: true }) => Promise<LookupAddress[]> = lookup,
): Promise<Cidr[]> {
  try {
    const found = await lookUp(name, { all: true })
    return found.map(({ address }) => cidr(address))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? [] : before
  }
}
