import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { Fault, messageOf, type FaultDetail } from '../../errors.ts'
import { ROOT } from '../../version.ts'

/** How much a listing matters, gravest first. */
export const LIST_CATEGORIES = ['critical', 'major', 'minor', 'informational'] as const
export type Category = (typeof LIST_CATEGORIES)[number]

const Meanings = Type.Record(Type.String(), Type.String())

const Delisting = Type.Object({
  method: Type.Enum(['automatic', 'form', 'email', 'none']),
  url: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  /** When entries expire by themselves, as a sentence. */
  autoExpiry: Type.Optional(Type.String()),
  /** For the user who makes the request: complete sentences, shown as the next step. */
  notes: Type.Optional(Type.String()),
  /** For maintainers of the catalog. */
  remarks: Type.Optional(Type.String()),
  /**
   * Hours until an entry usually leaves by itself; until a request counts as unanswered; between
   * two requests.
   */
  expectedHours: Type.Optional(Type.Number({ minimum: 1 })),
  deadlineHours: Type.Optional(Type.Number({ minimum: 1 })),
  cooldownHours: Type.Optional(Type.Number({ minimum: 1 })),
  /** Answers whose entries only the network's owner can have removed. */
  providerCodes: Type.Optional(Type.Array(Type.String())),
  /** Removes only entries that no other list has any more. */
  last: Type.Optional(Type.Boolean()),
  /** Whether the route was read in a source of the operator's. */
  verified: Type.Optional(Type.Boolean()),
})

const Entry = Type.Object({
  name: Type.String({ minLength: 1 }),
  zone: Type.String({ minLength: 1 }),
  category: Type.Enum([...LIST_CATEGORIES]),
  operator: Type.Optional(Type.String()),
  enabled: Type.Optional(Type.Boolean()),
  /** Whether monitoring raises an alert for a listing here by default. */
  alert: Type.Optional(Type.Boolean()),
  access: Type.Optional(Type.Enum(['open', 'own-resolver', 'register-resolver-ip', 'key'])),
  /**
   * The zone for queries with a key: with `{key}`, and `{reversed}` where the address does not come
   * first.
   */
  keyTemplate: Type.Optional(Type.String()),
  ipv6: Type.Optional(Type.Boolean()),
  /**
   * The scope of an entry: one address, a policy, a range of a provider, a whole autonomous system.
   */
  scope: Type.Optional(Type.Enum(['ip', 'policy', 'range', 'asn'])),
  /** Zones whose entries this one answers as well. */
  includes: Type.Optional(Type.Array(Type.String())),
  codes: Type.Optional(Meanings),
  notListedCodes: Type.Optional(Meanings),
  refusalCodes: Type.Optional(Meanings),
  strictCodes: Type.Optional(Type.Boolean()),
  /** Meaning of each bit of the last octet, by its value. */
  bitmask: Type.Optional(Meanings),
  test: Type.Optional(
    Type.Object({ entry: Type.Optional(Type.Boolean()), expectedA: Type.Optional(Type.String()) }),
  ),
  lookupUrl: Type.Optional(Type.String()),
  delisting: Type.Optional(Delisting),
  confidence: Type.Optional(Type.String()),
})

const Unfit = Type.Object({ zones: Type.Array(Type.String()), reason: Type.String() })

const File = Type.Object({
  lists: Type.Array(Entry, { minItems: 1 }),
  retired: Type.Optional(Type.Array(Unfit)),
  excluded: Type.Optional(Type.Array(Unfit)),
})
type File = Static<typeof File>

const DEFAULTS = {
  enabled: true,
  alert: false,
  access: 'open',
  ipv6: false,
  scope: 'ip',
  includes: [] as string[],
  codes: {} as Record<string, string>,
  notListedCodes: {} as Record<string, string>,
  refusalCodes: {} as Record<string, string>,
  strictCodes: false,
  test: {},
  delisting: { method: 'none' },
} as const satisfies Partial<Static<typeof Entry>>

/**
 * One blacklist of addresses, with every default filled in. `codes` are the documented answers that
 * mean “listed”.
 */
export type Blocklist = Static<typeof Entry> &
  Required<Pick<Static<typeof Entry>, keyof typeof DEFAULTS>> & { category: Category }

export type Catalogue = {
  lists: Blocklist[]
  /** Sentences about lists that ought not to be there. */
  warnings: string[]
}

const SHIPPED = join(ROOT, 'data', 'blocklists.json')

/**
 * Reads a catalogue of blacklists.
 * @param file the operator's own, in place of the shipped one
 * @throws Fault `invalid_request` that names the file and everything that is wrong in it
 */
export function readCatalogue(file?: string): Catalogue {
  const shipped = parse(SHIPPED)
  if (file === undefined) return { lists: shipped.lists.map(withDefaults), warnings: [] }
  const own = parse(file)
  const unfit = [...(shipped.retired ?? []), ...(shipped.excluded ?? [])]
  return {
    lists: own.lists.map(withDefaults),
    warnings: own.lists.flatMap((list) => unfitListWarnings(list.zone, unfit)),
  }
}

function parse(file: string): File {
  const content = readJson(file)
  if (!Value.Check(File, content)) {
    const errors = Value.Errors(File, content)
    throw unusable(
      file,
      errors.map((error) => ({
        path: pathOf(error.instancePath),
        message: describeSchemaError(error),
      })),
    )
  }
  const details = [...content.lists.flatMap(faultsOf), ...duplicates(content.lists)]
  if (details.length > 0) throw unusable(file, details)
  return content
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const what = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'
    throw new Fault(
      'invalid_request',
      `The blocklist catalogue ${file} ${what}: ${messageOf(error)}.`,
      {
        cause: error,
      },
    )
  }
}

const MAX_FAULTS_SHOWN = 5

function unusable(file: string, details: FaultDetail[]): Fault {
  const shown = details
    .slice(0, MAX_FAULTS_SHOWN)
    .map((detail) => `${detail.path} ${detail.message}`)
  if (details.length > MAX_FAULTS_SHOWN) shown.push('and more')
  const sentence = `The blocklist catalogue ${file} is invalid: ${shown.join('; ')}.`
  return new Fault('invalid_request', sentence, { details })
}

type SchemaError = ReturnType<typeof Value.Errors>[number]

function describeSchemaError(error: SchemaError): string {
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.join(', ')}`
  if (error.keyword === 'required')
    return `is missing ${error.params.requiredProperties.join(', ')}`
  if (error.keyword === 'minLength' || error.keyword === 'minItems') return 'must not be empty'
  return error.message
}

/** `/lists/0/name` as `lists[0].name`. */
function pathOf(pointer: string): string {
  if (pointer === '') return 'the file'
  return pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
}

const ZONE = /^(?=.{1,200}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+$/

/** Checks beyond the schema. */
function faultsOf(list: Static<typeof Entry>, index: number): FaultDetail[] {
  const { zone, keyTemplate, codes = {}, notListedCodes = {} } = list
  const faults: [boolean, string, string][] = [
    [!ZONE.test(zoneKey(zone)), 'zone', 'is not a domain name'],
    [!isKeyTemplate(keyTemplate), 'keyTemplate', 'is not a domain name with {key} in it'],
    [list.access === 'key' && !keyTemplate, 'keyTemplate', 'must contain {key}'],
    [!isLink(list.lookupUrl), 'lookupUrl', 'is not an http URL'],
    [!isLink(list.delisting?.url), 'delisting.url', 'is not an http URL'],
    [
      list.strictCodes === true && Object.keys(codes).length === 0,
      'codes',
      'must have the answers that mean listed',
    ],
    ...Object.keys({ ...codes, ...notListedCodes }).map((code): [boolean, string, string] => [
      !isListingCode(code),
      'codes',
      `has “${code}”, which is not a blocklist answer`,
    ]),
  ]
  return faults.flatMap(([wrong, field, message]) =>
    wrong ? [{ path: `lists[${index}].${field}`, message }] : [],
  )
}

function isKeyTemplate(template: string | undefined): boolean {
  if (template === undefined) return true
  return template.includes('{key}') && ZONE.test(template.replaceAll(/\{(key|reversed)\}/g, 'x'))
}

/** It becomes a link on a page. */
function isLink(url: string | undefined): boolean {
  return url === undefined || /^https?:\/\//.test(url)
}

/** In 127.0.0.0/8, without the answers by which every blocklist rejects queries. */
function isListingCode(code: string): boolean {
  return (
    ipaddr.IPv4.isValidFourPartDecimal(code) &&
    code.startsWith('127.') &&
    !code.startsWith('127.255.255.')
  )
}

function duplicates(lists: File['lists']): FaultDetail[] {
  const zones = lists.map((list) => zoneKey(list.zone))
  return zones.flatMap((zone, index) =>
    zones.indexOf(zone) === index
      ? []
      : [{ path: `lists[${index}].zone`, message: `repeats ${zone}` }],
  )
}

function zoneKey(zone: string): string {
  return zone.toLowerCase().replace(/\.$/, '')
}

function withDefaults(entry: Static<typeof Entry>): Blocklist {
  return { ...DEFAULTS, ...entry, zone: zoneKey(entry.zone) }
}

function unfitListWarnings(zone: string, unfit: Static<typeof Unfit>[]): string[] {
  const found = unfit.find((entry) => entry.zones.includes(zoneKey(zone)))
  return found
    ? [`The list ${zoneKey(zone)} should be removed from the catalogue: ${found.reason}.`]
    : []
}
