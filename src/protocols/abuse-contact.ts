import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** Who answers for a network, as its registry says (RFC 9083, section 5.4). */
export type AbuseContact = {
  /** Range and name. */
  network: string
  /** Null where the registry has none. */
  email: string | null
}

const Network = Type.Object({
  objectClassName: Type.Literal('ip network'),
  startAddress: Type.String(),
  endAddress: Type.String(),
  name: Type.Optional(Type.String()),
  entities: Type.Optional(Type.Array(Type.Unknown())),
})
const Entity = Type.Object({
  roles: Type.Optional(Type.Array(Type.String())),
  vcardArray: Type.Optional(Type.Array(Type.Unknown())),
  entities: Type.Optional(Type.Array(Type.Unknown())),
})

/** Contacts of contacts: registries nest the abuse contact in the organisation. */
const MAX_DEPTH = 4
const EMAIL = /^[^\s@"<>(),:;\\[\]\p{Cc}]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/iu

/** Reads the answer of an RDAP server about an address; null when it is none. */
export function parseAbuseContact(text: string): AbuseContact | null {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return null
  }
  if (!Value.Check(Network, content)) return null
  const { startAddress, endAddress, name = '', entities = [] } = content
  const range = `${startAddress} - ${endAddress}${name ? ` (${name})` : ''}`
  const network = range.replace(/[^\x20-\x7e]/g, '').slice(0, 200)
  return { network, email: findAbuseEmail(entities, 1) }
}

function findAbuseEmail(entities: unknown[], depth: number): string | null {
  const known = entities.filter((entity) => Value.Check(Entity, entity))
  for (const { roles = [], vcardArray } of known) {
    const email = roles.includes('abuse') ? emailOf(vcardArray) : null
    if (email !== null) return email
  }
  if (depth >= MAX_DEPTH) return null
  for (const { entities: inner = [] } of known) {
    const email = findAbuseEmail(inner, depth + 1)
    if (email !== null) return email
  }
  return null
}

/**
 * The preferred address of a contact (RFC 7095): `["vcard", [["email", {"pref": "1"}, "text",
 * "abuse@example.com"], …]]`.
 */
function emailOf(card: unknown[] | undefined): string | null {
  const properties = Array.isArray(card?.[1]) ? (card[1] as unknown[]) : []
  const found = properties.flatMap((property) => {
    if (!Array.isArray(property)) return []
    const [name, parameters, , value] = property as unknown[]
    if (String(name).toLowerCase() !== 'email' || typeof value !== 'string') return []
    const email = value
      .trim()
      .toLowerCase()
      .replace(/^mailto:/, '')
    return email.length <= 254 && EMAIL.test(email) ? [{ email, rank: rankOf(parameters) }] : []
  })
  return found.toSorted((a, b) => a.rank - b.rank)[0]?.email ?? null
}

/** After every stated preference. */
const LAST_RANK = 101

/** The preference, of which 1 is the highest (RFC 6350, 5.3); an address of type `abuse` is first. */
function rankOf(parameters: unknown): number {
  const { pref, type } = (parameters ?? {}) as { pref?: unknown; type?: unknown }
  if ([type].flat().some((one) => String(one).toLowerCase() === 'abuse')) return 0
  const rank = Number(pref)
  return pref !== '' && Number.isInteger(rank) && rank >= 1 && rank < LAST_RANK ? rank : LAST_RANK
}
