import { joinItems } from '../../protocols/advice.ts'
import type { DomainListing } from '../../protocols/dnsbl/domain-lists.ts'
import type { DomainContext } from '../domain-context.ts'
import type { LineState } from '../shapes.ts'
import type { Line, LineResult } from './line.ts'

export const domainBlocklistsLine: Line = {
  name: 'domain-blocklists',
  title: 'Domain blocklists',
  check: checkDomainBlocklists,
}

const STATES: Record<DomainListing['status'], LineState> = {
  listed: 'bad',
  clean: 'good',
  unknown: 'unknown',
}

async function checkDomainBlocklists(context: DomainContext): Promise<LineResult> {
  const { name: domain, registeredDomain, deps, signal } = context
  const listings = await deps.domainLists.check({ domain, registeredDomain }, signal)
  const listed = listings.filter(({ status }) => status === 'listed')
  const unknown = listings.filter(({ status }) => status === 'unknown')
  const names = (some: DomainListing[]) => joinItems(some.map(({ list }) => list.name))
  return {
    state: listed.length > 0 ? 'bad' : unknown.length > 0 ? 'unknown' : 'good',
    summary:
      listed.length > 0
        ? `The domain is on ${names(listed)}.`
        : unknown.length > 0
          ? `No known listings, but ${names(unknown)} could not be checked.`
          : `The domain is not on ${names(listings).replace(' and ', ' or ')}.`,
    details: [
      ...listed.map(
        ({ list, meanings }) =>
          `${list.name}: ${meanings.join(', ')}. Request removal at ${list.lookupUrl.replace('{domain}', domain)}`,
      ),
      ...unknown.map(({ list, detail }) => `${list.name}: ${detail}`),
    ],
    evidence: listings.map(({ list, status, codes, domain: asked }) => ({
      label: `${asked} at ${list.zone}`,
      value: codes.join(', ') || (status === 'clean' ? 'not listed' : status),
      state: STATES[status],
    })),
  }
}
