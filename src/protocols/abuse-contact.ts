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

/** RFC 7095: `["vcard", [["email", {}, "text", "abuse@example.com"], …]]`. */
function emailOf(card: unknown[] | undefined): string | null {
  const properties = Array.isArray(card?.[1]) ? (card[1] as unknown[]) : []
  for (const property of properties) {
    if (!Array.isArray(property)) continue
    const [name, , , value] = property as unknown[]
    if (name !== 'email' || typeof value !== 'string') continue
    const email = value.trim().toLowerCase()
    if (email.length <= 254 && EMAIL.test(email)) return email
  }
  return null
}
