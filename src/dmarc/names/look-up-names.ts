import { canonical, reverseName } from '../../net/address.ts'
import { dataOf, type Resolver } from '../../net/dns.ts'
import type { Db } from '../../store/database.ts'
import { listUnnamedAddresses, setNames, type NamedAddress } from './store.ts'

/** Addresses asked about together; the resolver has its own limit of questions in flight. */
const BATCH_ADDRESSES = 100

/**
 * Finds out what reported addresses are called, until all are or the signal comes.
 * @returns how many were asked about
 */
export async function lookUpNames(db: Db, resolver: Resolver, signal: AbortSignal): Promise<number> {
  for (let asked = 0; ;) {
    const addresses = await listUnnamedAddresses(db, BATCH_ADDRESSES)
    if (addresses.length === 0 || signal.aborted) return asked
    const named = await Promise.all(addresses.map((address) => nameOf(address, resolver, signal)))
    // What we did not wait for is asked about again.
    if (signal.aborted) return asked
    await setNames(db, named)
    asked += addresses.length
  }
}

/** A failure counts as no name: it is asked again in a month, and nothing hangs on it. */
async function nameOf(address: string, resolver: Resolver, signal: AbortSignal): Promise<NamedAddress> {
  const [name] = dataOf(await resolver.query(reverseName(address), 'PTR', signal), 'PTR')
  if (name === undefined) return { address, reverseName: null, confirmed: false }
  const type = address.includes(':') ? 'AAAA' : 'A'
  const answer = await resolver.query(name, type, signal)
  const leadsTo = dataOf(answer, type).map(canonical)
  return {
    address,
    reverseName: name.toLowerCase().replace(/\.$/, ''),
    confirmed: leadsTo.includes(canonical(address)),
  }
}
