import type { Indicator } from './indicators.ts'
import { uuidOf } from './indicator-uuid.ts'

/** What the objects of a collection have in common. */
export type Publisher = {
  /** Separates the ids of collections: a fleet list is private. */
  scope: string
  name: string
  url: string
  /** The marking that TLP 1.0 defines for all (white) or for an organization (amber). */
  marking: string
}

export const TLP_WHITE = 'marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9'
export const TLP_AMBER = 'marking-definition--f88d31f6-486f-44da-b317-01333bde0b82'

/** When the identity was created; its object never changes. */
const IDENTITY_AT = '2026-01-01T00:00:00.000Z'

export const identityId = ({ scope }: Publisher) => `identity--${uuidOf(`identity ${scope}`)}`
export const indicatorId = ({ scope }: Publisher, address: string) =>
  `indicator--${uuidOf(`indicator ${scope} ${address}`)}`

/** The publisher as a STIX 2.1 identity. */
export function identityOf(publisher: Publisher) {
  return {
    type: 'identity',
    spec_version: '2.1',
    id: identityId(publisher),
    created: IDENTITY_AT,
    modified: IDENTITY_AT,
    name: publisher.name,
    identity_class: 'system',
  }
}

/** An address as a STIX 2.1 indicator. */
export function indicatorOf(publisher: Publisher, indicator: Indicator) {
  const { address, services, confidence, firstSeen, issuedAt, validUntil, isRevoked } = indicator
  const created = earlier(firstSeen, issuedAt)
  // STIX demands an end after the beginning.
  const until = new Date(Math.max(validUntil.getTime(), created.getTime() + 1_000))
  return {
    type: 'indicator',
    spec_version: '2.1',
    id: indicatorId(publisher, address),
    created_by_ref: identityId(publisher),
    created: created.toISOString(),
    modified: issuedAt.toISOString(),
    ...(isRevoked && { revoked: true }),
    name: `Attacks from ${address}`,
    indicator_types: ['malicious-activity'],
    pattern: patternOf(address),
    pattern_type: 'stix',
    valid_from: created.toISOString(),
    valid_until: until.toISOString(),
    ...(services.length > 0 && { labels: services }),
    confidence,
    external_references: [
      { source_name: 'portreeve', url: `${publisher.url}?ip=${encodeURIComponent(address.split('/')[0] ?? '')}` }, // prettier-ignore
    ],
    object_marking_refs: [publisher.marking],
  }
}

const earlier = (a: Date, b: Date) => (a < b ? a : b)

function patternOf(address: string): string {
  if (!address.includes(':')) return `[ipv4-addr:value = '${address}']`
  return address.includes('/')
    ? `[ipv6-addr:value ISSUBSET '${address}']`
    : `[ipv6-addr:value = '${address}']`
}
