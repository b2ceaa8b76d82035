import { classify } from '../../net/address.ts'
import { joinItems } from '../../protocols/advice.ts'
import type { Listing } from '../../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../protocols/dnsbl/sweep-address.ts'
import type { DomainContext } from '../domain-context.ts'
import { MAX_BLOCKLIST_ADDRESSES } from '../limits.ts'
import { singleAddresses } from '../senders.ts'
import type { Evidence, LineState } from '../shapes.ts'
import { counted, unused, worstOf, type Line, type LineResult } from './line.ts'

export const blocklistsLine: Line = {
  name: 'blocklists',
  title: 'Blocklists',
  check: checkBlocklists,
}

type Sweep = { ip: string; listings: Listing[] }

async function checkBlocklists(context: DomainContext): Promise<LineResult> {
  const { addresses, omitted, isIncomplete } = await chooseAddresses(context)
  const notChecked =
    omitted > 0 ? [`${counted(omitted, 'more address', 'more addresses')} not checked.`] : []
  if (addresses.length === 0)
    return omitted > 0 || isIncomplete
      ? {
          state: 'unknown',
          summary: 'No single address could be chosen to check.',
          details: notChecked,
        }
      : unused('The domain has no public mail server address.')
  const { blocklists } = context.deps
  const sweeps = await Promise.all(
    addresses.map(async (ip) => ({
      ip,
      listings: await sweepAddress(ip, blocklists, context.signal),
    })),
  )
  const states = sweeps.map(stateOf)
  return {
    state: worstOf([...states, ...(isIncomplete ? (['unknown'] as const) : [])]),
    summary: summaryOf(sweeps, blocklists.lists.length),
    details: [...sweeps.flatMap(detailsOf), ...notChecked],
    evidence: sweeps.map((sweep, index) => evidenceOf(sweep, states[index] ?? 'unknown')),
  }
}

/** Addresses of mail servers and single senders by turns; networks are only counted. */
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
  const candidates = [...new Set(turns.flat())].filter(
    (ip) => ip !== undefined && classify(ip).public,
  ) as string[]
  const addresses = candidates.slice(0, MAX_BLOCKLIST_ADDRESSES)
  const inNetworks = senders.networks
    .filter(({ family, prefix }) => family === 4 && prefix < 32)
    .reduce((sum, { prefix }) => sum + 2 ** (32 - prefix), 0)
  const omittedOfHosts = hosts.reduce((sum, host) => sum + host.omittedAddresses, omittedHosts)
  return {
    addresses,
    omitted: candidates.length - addresses.length + inNetworks + omittedOfHosts,
    isIncomplete: hosts.some(({ failure }) => failure !== null) || senders.failedTerms.length > 0,
  }
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

function summaryOf(sweeps: Sweep[], listCount: number): string {
  const listed = sweeps.filter(({ listings }) => listings.some(countsAsListed))
  if (listed.length > 0) {
    const names = new Set(
      listed.flatMap(({ listings }) =>
        listings.filter(countsAsListed).map(({ list }) => list.name),
      ),
    )
    return `${listed.length} of ${counted(sweeps.length, 'address is', 'addresses are')} listed: ${joinItems([...names], 4)}.`
  }
  const open = sweeps.filter((sweep) => stateOf(sweep) === 'unknown')
  return open.length > 0
    ? `No known listings, but ${counted(open.length, 'address', 'addresses')} could not be checked on all important lists.`
    : `${counted(sweeps.length, 'address is', 'addresses are')} on none of ${listCount} blocklists.`
}

function detailsOf({ ip, listings }: Sweep): string[] {
  return listings
    .filter(({ status }) => status === 'listed')
    .map(({ list, reason, meanings }) => {
      const why = reason ?? meanings.join('; ')
      return `${ip} is on ${list.name} (${list.zone})${why === '' ? '' : `: ${why}`}`
    })
}

function evidenceOf({ ip, listings }: Sweep, state: LineState): Evidence {
  const count = (status: Listing['status']) =>
    listings.filter((listing) => listing.status === status).length
  const value = `${count('listed')} listed, ${count('clean')} not listed, ${count('unknown')} unknown`
  return { label: ip, value, state }
}
