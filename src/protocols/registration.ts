import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { clipText } from '../clip-text.ts'

/** What a registry says about a domain (RFC 9083). */
export type Registration = {
  /** When the registration ends; null where the registry does not publish it. */
  expiresAt: Date | null
  registeredAt: Date | null
  registrar: string | null
  /** Status values in the words of RFC 8056 (`client transfer prohibited`). */
  statuses: string[]
}

const Event = Type.Object({ eventAction: Type.String(), eventDate: Type.String() })
const Entity = Type.Object({
  roles: Type.Optional(Type.Array(Type.String())),
  vcardArray: Type.Optional(Type.Array(Type.Unknown())),
  handle: Type.Optional(Type.String()),
})
const Domain = Type.Object({
  objectClassName: Type.Literal('domain'),
  events: Type.Optional(Type.Array(Type.Unknown())),
  entities: Type.Optional(Type.Array(Type.Unknown())),
  status: Type.Optional(Type.Array(Type.Unknown())),
})

const MAX_STATUSES = 20
const MAX_NAME_CHARACTERS = 200

/**
 * Reads the answer of an RDAP server about a domain. Parts that cannot be read are left out.
 * @returns null when it is no RDAP domain
 */
export function parseRegistration(text: string): Registration | null {
  const content = parseJson(text)
  if (!Value.Check(Domain, content)) return null
  const events = (content.events ?? []).filter((event) => Value.Check(Event, event))
  const dateOf = (action: string) => {
    const event = events.find(({ eventAction }) => eventAction.toLowerCase() === action)
    return event === undefined ? null : parseDate(event.eventDate)
  }
  const statuses = (content.status ?? []).filter((status) => typeof status === 'string')
  return {
    expiresAt: dateOf('expiration'),
    registeredAt: dateOf('registration'),
    registrar: registrarOf(content.entities ?? []),
    statuses: statuses
      .slice(0, MAX_STATUSES)
      .map((status) => clipText(status, MAX_NAME_CHARACTERS)),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function parseDate(text: string): Date | null {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : date
}

function registrarOf(entities: unknown[]): string | null {
  const registrar = entities
    .filter((entity) => Value.Check(Entity, entity))
    .find(({ roles = [] }) => roles.includes('registrar'))
  if (!registrar) return null
  const name = fullNameOf(registrar.vcardArray) ?? registrar.handle
  return name === undefined ? null : clipText(name, MAX_NAME_CHARACTERS) || null
}

/** RFC 7095: `["vcard", [["fn", {}, "text", "Example Inc."], …]]`. */
function fullNameOf(card: unknown[] | undefined): string | undefined {
  const properties = Array.isArray(card?.[1]) ? (card[1] as unknown[]) : []
  for (const property of properties) {
    if (!Array.isArray(property)) continue
    const [name, , , value] = property as unknown[]
    if (name === 'fn' && typeof value === 'string' && value !== '') return value
  }
  return undefined
}
