import { canonical, reverseName } from '../../net/address.ts'
import { dataOf, type Resolver } from '../../net/dns.ts'
import type { Db } from '../../store/database.ts'
import { listUnnamedAddresses, setNames, type NamedAddress } from './source-names.sql.ts'

/** Addresses looked up at the same time. The resolver limits its queries in flight on its own. */
const BATCH_ADDRESSES = 100

/**
 * Looks up the reverse names of reported addresses until none are left or the signal aborts.
 * @returns the number of addresses looked up
 */
export async function lookUpNames(
  db: Db,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<number> {
  for (let asked = 0; ;) {
    const addresses = await listUnnamedAddresses(db, BATCH_ADDRESSES)
    if (addresses.length === 0 || signal.aborted) return asked
    const named = await Promise.all(addresses.map((address) => nameOf(address, resolver, signal)))
    // Aborted lookups are repeated by the next run.
    if (signal.aborted) return asked
    await setNames(db, named)
    asked += addresses.length
  }
}

/** A failed query counts as no name; the lookup is repeated after a month. */
async function nameOf(
  address: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<NamedAddress> {
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
