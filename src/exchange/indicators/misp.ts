import { createHash } from 'node:crypto'
import { pieces } from '../../abuse/export/list-lines.ts'
import type { Indicator } from './indicators.ts'
import { TLP_WHITE, type Publisher } from './stix.ts'
import { uuidOf } from './indicator-uuid.ts'
import { isoDay } from '../../time.ts'

/** The indicators of one day, as an event of a MISP feed. */
export type MispEvent = { uuid: string; day: string; timestamp: number; indicators: Indicator[] }

/** Events by the day on which their addresses were last issued, newest first. */
export function eventsOf({ scope }: Publisher, indicators: Indicator[]): MispEvent[] {
  const days = Map.groupBy(
    indicators.filter(({ isRevoked }) => !isRevoked),
    ({ issuedAt }) => isoDay(issuedAt),
  )
  return [...days]
    .map(([day, those]) => ({
      uuid: uuidOf(`misp ${scope} ${day}`),
      day,
      timestamp: Math.floor(Math.max(...those.map(({ issuedAt }) => issuedAt.getTime())) / 1000),
      indicators: those,
    }))
    .toSorted((a, b) => (a.day < b.day ? 1 : -1))
}

function headOf(publisher: Publisher, { day, timestamp }: MispEvent) {
  const isPublic = publisher.marking === TLP_WHITE
  return {
    info: `${publisher.name}, ${day}`,
    date: day,
    analysis: '2',
    threat_level_id: '3',
    timestamp: String(timestamp),
    Orgc: { name: publisher.name, uuid: uuidOf(`identity ${publisher.scope}`) },
    Tag: [isPublic ? { name: 'tlp:clear', colour: '#ffffff' } : { name: 'tlp:amber', colour: '#ffc000' }], // prettier-ignore
  }
}

/** `manifest.json`, which names every event of the feed. */
export const manifestOf = (publisher: Publisher, events: MispEvent[]) =>
  Object.fromEntries(events.map((event) => [event.uuid, headOf(publisher, event)]))

/** `hashes.csv`: MD5 of each value, and its event. */
export function* hashesOf(events: MispEvent[]): Generator<string> {
  for (const { uuid, indicators } of events)
    for (const piece of pieces(indicators))
      yield piece
        .map(({ address }) => `${createHash('md5').update(address).digest('hex')},${uuid}\n`)
        .join('')
}

/** An event with its attributes, in pieces of JSON. */
export function* eventJson(publisher: Publisher, event: MispEvent): Generator<string> {
  const { timestamp, uuid } = event
  const head = {
    uuid,
    ...headOf(publisher, event),
    publish_timestamp: String(timestamp),
    published: true,
    // All communities, or this organization only; MISP applies the setting of the feed.
    distribution: publisher.marking === TLP_WHITE ? '3' : '0',
  }
  yield `{"Event":${JSON.stringify(head).slice(0, -1)},"Attribute":[`
  let separator = ''
  for (const piece of pieces(event.indicators)) {
    yield separator + piece.map((each) => JSON.stringify(attributeOf(publisher, each))).join(',')
    separator = ','
  }
  yield ']}}\n'
}

function attributeOf({ scope }: Publisher, { address, services, issuedAt }: Indicator) {
  return {
    uuid: uuidOf(`misp ${scope} attribute ${address}`),
    type: 'ip-src',
    category: 'Network activity',
    value: address,
    comment: services.join(', '),
    to_ids: true,
    timestamp: String(Math.floor(issuedAt.getTime() / 1000)),
    distribution: '5',
    disable_correlation: false,
    deleted: false,
  }
}
