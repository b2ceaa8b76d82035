import { blocklistVerdict } from '../../diagnostics/check-verdict.ts'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import { classify } from '../../net/address.ts'
import { joinItems } from '../../protocols/advice.ts'
import type { Listing } from '../../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../protocols/dnsbl/sweep-address.ts'
import type { DomainContext } from '../domain-context.ts'
import {
  BLOCKLIST_STARTS_MS,
  MAX_BLOCKLIST_ADDRESSES,
  PARALLEL_BLOCKLIST_ADDRESSES,
  SMALL_NETWORK_BITS,
} from '../limits.ts'
import type { SenderNetwork } from '../../protocols/spf/spf-senders.ts'
import { addressesOfNetwork, singleAddresses } from '../domain-senders.ts'
import type { Evidence, LineState } from '../shapes.ts'
import { counted } from '../../counted.ts'
import { unused, worstOf, type Line, type LineResult } from './line.ts'

export const blocklistsLine: Line = {
  name: 'blocklists',
  title: 'Blocklists',
  check: checkBlocklists,
}

type Sweep = { ip: string; listings: Listing[] }

async function checkBlocklists(context: DomainContext): Promise<LineResult> {
  const { addresses, omitted, isIncomplete } = await chooseAddresses(context)
  if (addresses.length === 0)
    return omitted > 0 || isIncomplete
      ? {
          state: 'unknown',
          summary: 'No single address could be chosen to check.',
          details: notChecked(omitted),
        }
      : unused('The domain has no public mail server address.')
  const { blocklists } = context.deps
  const sweeps = await sweepAll(addresses, context)
  const late = addresses.length - sweeps.length
  const states = sweeps.map(stateOf)
  const isOpen = isIncomplete || late > 0
  return {
    state: worstOf([...states, ...(isOpen ? (['unknown'] as const) : [])]),
    summary: summaryOf(sweeps, blocklists.lists.length),
    details: [...sweeps.flatMap(detailsOf), ...notChecked(omitted), ...lateOf(late)],
    evidence: sweeps.map((sweep, index) => evidenceOf(sweep, states[index] ?? 'unknown')),
  }
}

function notChecked(count: number): string[] {
  return count > 0 ? [`${counted(count, 'more address', 'more addresses')} not checked.`] : []
}

function lateOf(count: number): string[] {
  return count > 0
    ? [
        `${counted(count, 'address was', 'addresses were')} not checked: the blocklists answer slowly.`,
      ]
    : []
}

/** Sweeps a few addresses at a time, in their order, as long as there is time. */
async function sweepAll(addresses: string[], { deps, signal }: DomainContext): Promise<Sweep[]> {
  const lastStart = performance.now() + BLOCKLIST_STARTS_MS
  const sweeps: Sweep[] = []
  const entries = [...addresses.entries()]
  await forEachConcurrently(entries, PARALLEL_BLOCKLIST_ADDRESSES, async ([index, ip]) => {
    if (signal.aborted || performance.now() > lastStart) return
    sweeps[index] = { ip, listings: await sweepAddress(ip, deps.blocklists, signal) }
  })
  return sweeps.filter((sweep) => sweep !== undefined)
}

/** Addresses of mail servers and single senders by turns, then small networks. */
async function chooseAddresses(context: DomainContext) {
  const [{ hosts, omittedHosts }, senders] = await Promise.all([
    context.mailHosts(),
    context.senders(),
  ])
  const own = hosts.flatMap(({ addresses }) => addresses)
  const single = singleAddresses(senders)
  const turns = Array.from({ length: Math.max(own.length, single.length) }, (_, index) => [
    own[index],
    single[index],
  ])
  const small = senders.networks.filter(isSmall).flatMap(addressesOfNetwork).filter(senders.permits)
  const candidates = [...new Set([...turns.flat(), ...small])].filter(
    (ip) => ip !== undefined && classify(ip).public,
  ) as string[]
  const addresses = candidates.slice(0, MAX_BLOCKLIST_ADDRESSES)
  const permitted = candidates.filter((ip) => !ip.includes(':') && senders.permits(ip))
  // Where anyone may send, the addresses are those of the Internet.
  const inNetworks = senders.open.length > 0 ? 0 : senders.ipv4Count - permitted.length
  const omittedOfHosts = hosts.reduce((sum, host) => sum + host.omittedAddresses, omittedHosts)
  return {
    addresses,
    omitted: candidates.length - addresses.length + inNetworks + omittedOfHosts,
    isIncomplete: hosts.some(({ failure }) => failure !== null) || senders.failedTerms.length > 0,
  }
}

function isSmall({ family, prefix }: SenderNetwork): boolean {
  return (family === 4 ? 32 : 128) - prefix <= SMALL_NETWORK_BITS
}

const isGrave = ({ list }: Listing) => list.category === 'critical' || list.category === 'major'

/** Informational lists say nothing about the reputation of one address. */
const countsAsListed = ({ status, list }: Listing) =>
  status === 'listed' && list.category !== 'informational'

function stateOf({ listings }: Sweep): LineState {
  const listed = listings.filter(countsAsListed)
  if (listed.some(isGrave)) return 'bad'
  if (listed.length > 0) return 'warning'
  const isOpen = listings.some(
    ({ status, list }) => status === 'unknown' && list.category === 'critical',
  )
  const isMostlyOpen =
    listings.filter(({ status }) => status === 'unknown').length > listings.length / 2
  return isOpen || isMostlyOpen || listings.length === 0 ? 'unknown' : 'good'
}

/** One address has the sentence of its own check. */
function summaryOf(sweeps: Sweep[], listCount: number): string {
  const [only, ...others] = sweeps
  if (only && others.length === 0) return blocklistVerdict(countsOf(only)).sentence
  const listed = sweeps.filter(({ listings }) => listings.some(countsAsListed))
  if (listed.length > 0) {
    const names = new Set(
      listed.flatMap(({ listings }) =>
        listings.filter(countsAsListed).map(({ list }) => list.name),
      ),
    )
    const verb = listed.length === 1 ? 'is' : 'are'
    return `${listed.length} of ${counted(sweeps.length, 'address', 'addresses')} ${verb} listed: ${joinItems([...names], 4)}.`
  }
  const open = sweeps.filter((sweep) => stateOf(sweep) === 'unknown')
  return open.length > 0
    ? `No known listings, but ${counted(open.length, 'address', 'addresses')} could not be checked on all important lists.`
    : `${counted(sweeps.length, 'address is', 'addresses are')} on none of ${listCount} blocklists.`
}

function countsOf({ ip, listings }: Sweep) {
  const count = (wanted: Listing['status']) =>
    listings.filter(({ status }) => status === wanted).length
  return {
    ip,
    listedCount: count('listed'),
    cleanCount: count('clean'),
    unknownCount: count('unknown'),
    totalChecked: listings.length,
    critical: listings.filter(
      ({ status, list }) => status === 'unknown' && list.category === 'critical',
    ).length,
  }
}

function detailsOf({ ip, listings }: Sweep): string[] {
  return listings
    .filter(({ status }) => status === 'listed')
    .map(({ list, reason, meanings }) => {
      const why = reason ?? meanings.join('; ')
      return `${ip} is on ${list.name} (${list.zone})${why === '' ? '' : `: ${why}`}`
    })
}

function evidenceOf(sweep: Sweep, state: LineState): Evidence {
  const { ip, listedCount, cleanCount, unknownCount } = countsOf(sweep)
  const value = `${listedCount} listed, ${cleanCount} not listed, ${unknownCount} unknown`
  return { label: ip, value, state }
}
