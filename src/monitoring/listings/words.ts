import type { NewAlert } from '../../alerts/raise.ts'
import type { Blocklist } from '../../protocols/dnsbl/catalogue.ts'
import type { HostRow } from '../store.ts'
import type { ListingChange } from './settle.ts'

/** What a person is told of a listing that came or went. */
export function listingAlert(host: HostRow, change: ListingChange, at: Date): NewAlert {
  return change.to === 'listed' ? listedAlert(host, change, at) : clearedAlert(host, change, at)
}

function listedAlert(host: HostRow, { ip, listing, since }: ListingChange, at: Date): NewAlert {
  const { list, codes, meanings, reason } = listing
  const text = [
    `${nameOf(host, ip)} is on the blacklist ${list.name} (${list.zone}), which is ${WEIGHT[list.category]}.`,
    reason === null ? null : `The list says: “${reason}”`,
    meanings.length > 0
      ? `That means: ${meanings.join('; ')} (${codes.join(', ')}).`
      : `It answered ${codes.join(', ')}.`,
    `Seen first at ${clock(since)}, and again at ${clock(at)}.`,
  ]
  return {
    accountId: host.accountId,
    kind: 'blacklist.listed',
    key: keyOf('listed', host, ip, list, since),
    title: `${titleOf(host, ip)} is listed on ${list.name}`,
    text: text.filter((line) => line !== null).join('\n'),
    nextStep: nextStepOf(list, ip),
    path: `/monitoring/${host.id}`,
    at,
  }
}

function clearedAlert(host: HostRow, { ip, listing, since }: ListingChange, at: Date): NewAlert {
  const { list } = listing
  return {
    accountId: host.accountId,
    kind: 'blacklist.cleared',
    key: keyOf('cleared', host, ip, list, since),
    title: `${titleOf(host, ip)} is not listed on ${list.name} any more`,
    text: `${nameOf(host, ip)} is off the blacklist ${list.name} (${list.zone}) since ${clock(since)}; asked again at ${clock(at)}.`,
    nextStep: '',
    path: `/monitoring/${host.id}`,
    at,
  }
}

const WEIGHT: Record<Blocklist['category'], string> = {
  critical: 'used by very many mail servers: mail from there is refused widely',
  major: 'used by many mail servers: some mail from there is refused',
  minor: 'used by few mail servers',
  informational: 'hardly ever used to refuse mail',
}

/** Several hosts of an account may have the same address: it is told once. */
function keyOf(what: string, { accountId }: HostRow, ip: string, { zone }: Blocklist, since: Date): string {
  return `${what} ${accountId} ${ip} ${zone} ${since.toISOString()}`
}

function titleOf({ host, label }: HostRow, ip: string): string {
  if (host !== ip) return `${host} (${ip})`
  return label ? `${ip} (${label})` : ip
}

function nameOf({ host, label }: HostRow, ip: string): string {
  const name = host === ip ? ip : `The address ${ip} of ${host}`
  return label ? `${name} (${label})` : name
}

function clock(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function nextStepOf({ delisting, lookupUrl, scope, name }: Blocklist, ip: string): string {
  const page = (delisting.url ?? lookupUrl)?.replace('{ip}', ip)
  const steps = [
    scope === 'ip' ? 'First find and end what got it listed; who asks too early is listed again.' : null,
    scope === 'range' || scope === 'asn'
      ? 'The whole network is listed: only its owner can act, so ask your provider.'
      : null,
    delisting.method === 'automatic'
      ? `Entries leave by themselves${delisting.autoExpiry ? `: ${delisting.autoExpiry}` : ''}.`
      : null,
    delisting.method === 'email' && delisting.email ? `${name} takes requests by mail to ${delisting.email}.` : null,
    page ? `The list’s page: ${page}` : null,
    `Portreeve leads you through it: start the delisting of ${ip}.`,
  ]
  return steps.filter((step) => step !== null).join(' ')
}
