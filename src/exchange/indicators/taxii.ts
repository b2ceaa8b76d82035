import { setImmediate as nextTurn } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import { byIssue, type Indicator, type IndicatorList } from './indicators.ts'
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
  const list = await read()
  const after = timeOf(filter.added_after)
  const from = cursorOf(filter.next)
  const limit = Math.min(filter.limit ?? DEFAULT_OBJECTS, MAX_OBJECTS)
  const wanted = filterOf(filter)
  const ids = objectId === undefined ? listOf(filter['match[id]']) : [objectId]
  const candidates = ids
    ? await findMembers(publisher, list, ids)
    : membersAfter(publisher, list.indicators, from ?? (after === null ? null : { time: after }))
  const members: Member[] = []
  for (const member of candidates) {
    if (after !== null && member.addedAt.getTime() <= after) continue
    if (ids && from && !isAfter(member, from)) continue
    if (!wanted(member)) continue
    members.push(member)
    if (members.length > limit) break
  }
  const more = members.length > limit
  const page = members.slice(0, limit)
  const last = page.at(-1)
  return { members: page, more, next: more && last ? cursorTextOf(last) : undefined }
}

/** Where a page ends; without an address, before all indicators of that time. */
type Cursor = { time: number; address?: string }

const identityMember = (publisher: Publisher): Member => ({
  id: identityId(publisher),
  type: 'identity',
  addedAt: IDENTITY_ADDED,
  indicator: null,
})

const memberOf = (publisher: Publisher, indicator: Indicator): Member => ({
  id: indicatorId(publisher, indicator.address),
  type: 'indicator',
  addedAt: indicator.issuedAt,
  indicator,
})

/** The members after a cursor, in order; those before it take no time. */
function* membersAfter(
  publisher: Publisher,
  indicators: Indicator[],
  cursor: Cursor | null,
): Generator<Member> {
  const { time, address = '' } = cursor ?? { time: 0 }
  if (time < IDENTITY_ADDED.getTime()) yield identityMember(publisher)
  const place = { issuedAt: new Date(time), address }
  let [low, high] = [0, cursor ? indicators.length : 0]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byIssue(indicators[middle] as Indicator, place) > 0) high = middle
    else low = middle + 1
  }
  for (let at = low; at < indicators.length; at += 1)
    yield memberOf(publisher, indicators[at] as Indicator)
}

const isAfter = ({ addedAt, indicator }: Member, { time, address = '' }: Cursor): boolean =>
  byIssue({ issuedAt: addedAt, address: indicator?.address ?? '' }, { issuedAt: new Date(time), address }) > 0 // prettier-ignore

/** Positions of indicators by id, made when an id of a list is asked for. */
const positions = new WeakMap<IndicatorList, Promise<Map<string, number>>>()

/** Indicators between which other requests get their turn. */
const IDS_PER_TURN = 2_000

async function findMembers(
  publisher: Publisher,
  list: IndicatorList,
  ids: string[],
): Promise<Member[]> {
  const known = positions.get(list) ?? positionsOf(publisher, list)
  positions.set(list, known)
  const indexes = await known
  const found = [...new Set(ids)].flatMap((id) => indexes.get(id) ?? []).toSorted((a, b) => a - b)
  const indicators = found.map((index) => memberOf(publisher, list.indicators[index] as Indicator))
  return ids.includes(identityId(publisher))
    ? [identityMember(publisher), ...indicators]
    : indicators
}

async function positionsOf(
  publisher: Publisher,
  { indicators }: IndicatorList,
): Promise<Map<string, number>> {
  const indexes = new Map<string, number>()
  for (const [index, { address }] of indicators.entries()) {
    indexes.set(indicatorId(publisher, address), index)
    if (index % IDS_PER_TURN === 0) await nextTurn()
  }
  return indexes
}

const listOf = (text: string | undefined) => (text === undefined ? null : text.split(','))

/** There is one version of each object, the last. */
function filterOf(filter: ObjectFilter): (member: Member) => boolean {
  const types = listOf(filter['match[type]'])
  const specs = listOf(filter['match[spec_version]'])
  const versions = listOf(filter['match[version]'])
  if (specs && !specs.includes('2.1')) return () => false
  const times = versions
    ?.filter((each) => !['all', 'first', 'last'].includes(each))
    .map((each) => timeOf(each))
  const isAnyVersion = !versions || times?.length !== versions.length
  return ({ type, addedAt }) =>
    (types?.includes(type) ?? true) && (isAnyVersion || (times ?? []).includes(addedAt.getTime()))
}

/** Some clients send an offset (RFC 3339), whose plus sign they do not encode. */
function timeOf(given: string | undefined): number | null {
  if (given === undefined) return null
  const text = given.replace(' ', '+')
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]{8,16}(?:Z|[+-]\d\d:\d\d)$/.test(text)
  const time = isTime ? Date.parse(text) : NaN
  if (Number.isNaN(time))
    throw new Fault('invalid_request', 'Times are such as 2026-11-21T12:00:00.000Z.')
  return time
}

function cursorOf(text: string | undefined): Cursor | null {
  if (text === undefined) return null
  const [, time, address = ''] = /^(\d{1,15})_([\da-f.:/]{0,43})$/.exec(text) ?? []
  if (time === undefined)
    throw new Fault('invalid_request', 'next is not from this server. Begin again.')
  return { time: Number(time), address }
}

const cursorTextOf = ({ addedAt, indicator }: Member) =>
  `${addedAt.getTime()}_${indicator?.address ?? ''}`

export const objectOf = (publisher: Publisher, { indicator }: Member) =>
  indicator === null ? identityOf(publisher) : indicatorOf(publisher, indicator)

export const manifestEntryOf = ({ id, addedAt }: Member) => ({
  id,
  date_added: addedAt.toISOString(),
  version: addedAt.toISOString(),
  media_type: STIX_TYPE,
})
