import { Fault } from '../../errors.ts'
import type { Indicator } from './indicators.ts'
import { identityId, identityOf, indicatorId, indicatorOf, type Publisher } from './stix.ts'
import type { Source } from './sources.ts'

/** RFC-like names of TAXII 2.1 and STIX 2.1. */
export const TAXII_TYPE = 'application/taxii+json;version=2.1'
export const STIX_TYPE = 'application/stix+json;version=2.1'

export const MAX_OBJECTS = 5_000
const DEFAULT_OBJECTS = 1_000

/** When the identity of a publisher was added. */
const IDENTITY_ADDED = new Date('2026-01-01T00:00:00Z')

export type ObjectFilter = {
  added_after?: string | undefined
  limit?: number | undefined
  next?: string | undefined
  'match[id]'?: string | undefined
  'match[type]'?: string | undefined
  'match[version]'?: string | undefined
  'match[spec_version]'?: string | undefined
}

/** An object of a collection, made when it is sent. */
type Member = { id: string; type: string; addedAt: Date; indicator: Indicator | null }

export type Page = { members: Member[]; more: boolean; next: string | undefined }

/** One page of a collection, oldest first. */
export async function readPage(
  { publisher, read }: Source,
  filter: ObjectFilter,
  objectId?: string,
): Promise<Page> {
  const { indicators } = await read()
  const after = timeOf(filter.added_after)
  const from = cursorOf(filter.next)
  const limit = Math.min(filter.limit ?? DEFAULT_OBJECTS, MAX_OBJECTS)
  const wanted = filterOf(filter, objectId)
  const members: Member[] = []
  for (const member of membersOf(publisher, indicators)) {
    const time = member.addedAt.getTime()
    if (after !== null && time <= after) continue
    if (from && (time < from.time || (time === from.time && member.id <= from.id))) continue
    if (!wanted(member)) continue
    members.push(member)
    if (members.length > limit) break
  }
  const more = members.length > limit
  const page = members.slice(0, limit)
  const last = page.at(-1)
  return { members: page, more, next: more && last ? `${last.addedAt.getTime()}_${last.id}` : undefined } // prettier-ignore
}

/** Sorted by time and id, as cursors are. */
function* membersOf(publisher: Publisher, indicators: Indicator[]): Generator<Member> {
  yield { id: identityId(publisher), type: 'identity', addedAt: IDENTITY_ADDED, indicator: null }
  for (let at = 0; at < indicators.length;) {
    const time = indicators[at]?.issuedAt.getTime()
    const those: Member[] = []
    for (; indicators[at]?.issuedAt.getTime() === time && at < indicators.length; at++) {
      const indicator = indicators[at] as Indicator
      const id = indicatorId(publisher, indicator.address)
      those.push({ id, type: 'indicator', addedAt: indicator.issuedAt, indicator })
    }
    yield* those.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

/** There is one version of each object, the last. */
function filterOf(filter: ObjectFilter, objectId?: string): (member: Member) => boolean {
  const listOf = (text: string | undefined) => (text === undefined ? null : text.split(','))
  const [ids, types] = [listOf(filter['match[id]']), listOf(filter['match[type]'])]
  const specs = listOf(filter['match[spec_version]'])
  const versions = listOf(filter['match[version]'])
  if (specs && !specs.includes('2.1')) return () => false
  const times = versions
    ?.filter((each) => !['all', 'first', 'last'].includes(each))
    .map((each) => timeOf(each))
  const isAnyVersion = !versions || times?.length !== versions.length
  return ({ id, type, addedAt }) =>
    (objectId === undefined || id === objectId) &&
    (ids?.includes(id) ?? true) &&
    (types?.includes(type) ?? true) &&
    (isAnyVersion || (times ?? []).includes(addedAt.getTime()))
}

function timeOf(text: string | undefined): number | null {
  if (text === undefined) return null
  const time = /^\d{4}-\d\d-\d\dT[\d:.]{8,16}Z$/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(time))
    throw new Fault('invalid_request', 'Times are such as 2026-11-21T12:00:00.000Z.')
  return time
}

function cursorOf(text: string | undefined): { time: number; id: string } | null {
  if (text === undefined) return null
  const [, time, id = ''] = /^(\d{1,15})_([a-z]+--[0-9a-f-]{36})$/.exec(text) ?? []
  if (time === undefined)
    throw new Fault('invalid_request', 'next is not from this server. Begin again.')
  return { time: Number(time), id }
}

export const objectOf = (publisher: Publisher, { indicator }: Member) =>
  indicator === null ? identityOf(publisher) : indicatorOf(publisher, indicator)

export const manifestEntryOf = ({ id, addedAt }: Member) => ({
  id,
  date_added: addedAt.toISOString(),
  version: addedAt.toISOString(),
  media_type: STIX_TYPE,
})
