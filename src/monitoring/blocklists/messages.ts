import type { NewAlert } from '../../alerts/raise.ts'
import { SEVERITIES, type Severity } from '../../alerts/severity.ts'
import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { HostRow } from '../hosts.sql.ts'
import type { ListingChange } from './evaluate-blocklists.ts'

/** An alert about listings always belongs to an incident. */
type ListingAlert = NewAlert & { incident: string }

/** The alert about a listing that was added or removed. */
export function listingAlert(host: HostRow, change: ListingChange, at: Date): ListingAlert {
  return change.to === 'listed' ? listedAlert(host, change, at) : clearedAlert(host, change, at)
}

function listedAlert(host: HostRow, { ip, listing, since }: ListingChange, at: Date): ListingAlert {
  const { list, codes, meanings, reason } = listing
  const text = [
    `${nameOf(host, ip)} is on the blocklist ${list.name} (${list.zone}), ${USE[list.category]}.`,
    reason === null ? null : `Reason given by the list: “${reason}”`,
    meanings.length > 0
      ? `Meaning: ${meanings.join('; ')} (${codes.join(', ')}).`
      : `Response: ${codes.join(', ')}.`,
    `First seen at ${clock(since)}, confirmed at ${clock(at)}.`,
  ]
  return {
    workspaceId: host.workspaceId,
    kind: 'blacklist.listed',
    key: keyOf('listed', host, ip, list, since),
    incident: listingIncidentOf(ip, list),
    phase: 'open',
    severity: SEVERITY[list.category],
    title: `${titleOf(host, ip)} is listed on ${list.name}`,
    text: text.filter((line) => line !== null).join('\n'),
    nextStep: nextStepOf(list, ip),
    path: `/monitoring/${host.id}`,
    objects: [host.host, ip],
    at,
  }
}

function clearedAlert(
  host: HostRow,
  { ip, listing, since }: ListingChange,
  at: Date,
): ListingAlert {
  const { list } = listing
  return {
    workspaceId: host.workspaceId,
    kind: 'blacklist.cleared',
    key: keyOf('cleared', host, ip, list, since),
    incident: listingIncidentOf(ip, list),
    phase: 'resolved',
    severity: 'info',
    title: `Resolved: ${titleOf(host, ip)} was removed from ${list.name}`,
    text: `${nameOf(host, ip)} is no longer on the blocklist ${list.name} (${list.zone}). First seen at ${clock(since)}, confirmed at ${clock(at)}.`,
    nextStep: '',
    path: `/monitoring/${host.id}`,
    objects: [host.host, ip],
    at,
  }
}

/** Listings that the text of one alert names. */
const MAX_NAMED = 20

/** The alert about all listings that the first check of a host found. */
export function alreadyListedAlert(
  host: HostRow,
  changes: ListingChange[],
  at: Date,
): ListingAlert {
  const sorted = changes.toSorted(
    (a, b) => SEVERITIES.indexOf(severityOf(a)) - SEVERITIES.indexOf(severityOf(b)),
  )
  const [first] = sorted
  const count = sorted.length === 1 ? '1 blocklist' : `${sorted.length} blocklists`
  const lines = sorted.slice(0, MAX_NAMED).map((change) => alreadyListedLine(host, change))
  const more = sorted.length - lines.length
  return {
    workspaceId: host.workspaceId,
    kind: 'blacklist.already-listed',
    key: `already-listed ${host.id} ${at.toISOString()}`,
    incident: initialIncidentOf(host),
    phase: 'open',
    severity: first ? severityOf(first) : 'info',
    title: `${host.label ? `${host.host} (${host.label})` : host.host} is already on ${count}`,
    text: [
      'The first check of this host found these listings:',
      ...lines,
      ...(more > 0 ? [`And ${more} more. The page of the host shows all.`] : []),
    ].join('\n'),
    nextStep: `Find and fix the cause, for example a hacked mailbox, then start delisting ${first?.ip ?? host.host}. An address removed too early is listed again.`,
    path: `/monitoring/${host.id}`,
    objects: [host.host],
    at,
  }
}

function severityOf({ listing }: ListingChange): Severity {
  return SEVERITY[listing.list.category]
}

function alreadyListedLine({ host }: HostRow, { ip, listing }: ListingChange): string {
  const { list, reason } = listing
  const name = host === ip ? list.name : `${ip}: ${list.name}`
  return `- ${name} (${list.zone})${reason === null ? '' : `: “${reason}”`}`
}

/** Name of the incident of all listings that the first check of a host found. */
export function initialIncidentOf({ id }: Pick<HostRow, 'id'>): string {
  return ['blacklist', id, 'initial'].join('/')
}

const USE: Record<Blocklist['category'], string> = {
  critical: 'which most mail servers use: they reject email from this address',
  major: 'which many mail servers use: they reject some email from this address',
  minor: 'which few mail servers use',
  informational: 'which mail servers rarely use to reject email',
}

const SEVERITY: Record<Blocklist['category'], Severity> = {
  critical: 'critical',
  major: 'error',
  minor: 'warning',
  informational: 'info',
}

/** Name of the incident of a listing that began while the host was monitored. */
export function listingIncidentOf(ip: string, { zone }: Pick<Blocklist, 'zone'>): string {
  return ['blacklist', ip, zone].join('/')
}

/**
 * The key has no host, so that several hosts of a workspace with the same address raise one alert.
 */
function keyOf(
  event: string,
  { workspaceId }: HostRow,
  ip: string,
  { zone }: Blocklist,
  since: Date,
): string {
  return `${event} ${workspaceId} ${ip} ${zone} ${since.toISOString()}`
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
    scope === 'ip'
      ? 'Find and fix the cause first: an address that is removed too early is listed again.'
      : null,
    scope === 'range' || scope === 'asn'
      ? 'The whole network is listed. Only its owner can request removal: contact your provider.'
      : null,
    delisting.method === 'automatic'
      ? `Entries expire automatically${delisting.autoExpiry ? `: ${delisting.autoExpiry}` : ''}.`
      : null,
    delisting.method === 'email' && delisting.email
      ? `${name} accepts removal requests by email to ${delisting.email}.`
      : null,
    page ? `Page of the list: ${page}` : null,
    `Portreeve guides you through each step: start delisting ${ip}.`,
  ]
  return steps.filter((step) => step !== null).join(' ')
}
