import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import { findSenderByHost } from '../../protocols/mail/mail-senders.ts'
import type { SENDER_KINDS, SENDER_MARKS } from '../shapes.ts'
import type { SourceRow } from '../summary/dmarc-summary.sql.ts'

export type SenderMark = (typeof SENDER_MARKS)[number]

/** A sender: one or more sources that one organization operates. */
export type SenderName = {
  /** `service:sendgrid`, `host:example.net`, `ip:192.0.2.1`: marks refer to it. */
  id: string
  name: string
  kind: (typeof SENDER_KINDS)[number]
  docs: string | null
}

export type Sender = SenderName & {
  mark: SenderMark | null
  /** Whether it counts as the owner’s: marked so; or unmarked, and own servers or with passes. */
  isMine: boolean
  sources: number
  messages: number
  pass: number
  fail: number
}

type NamedSource = Pick<SourceRow, 'source' | 'reverseName' | 'confirmed'>
type CountedSource = NamedSource & Pick<SourceRow, 'group' | 'messages' | 'aligned'>

/**
 * Names the sender behind a source by its confirmed reverse name: a known service, the domain’s own
 * servers, or the organization of the name. Without one, the address stands for itself.
 */
export function nameSender(
  domain: string,
  { source, reverseName, confirmed }: NamedSource,
): SenderName {
  const address = { id: `ip:${source}`, name: source, kind: 'address' as const, docs: null }
  if (reverseName === null || !confirmed) return address
  const organization = registeredDomain(reverseName)
  if (organization !== null && organization === (registeredDomain(domain) ?? domain))
    return { id: `host:${organization}`, name: 'Your own servers', kind: 'own', docs: null }
  const service = findSenderByHost(reverseName)
  if (service)
    return { id: `service:${service.id}`, name: service.name, kind: 'service', docs: service.docs }
  if (organization === null) return address
  return { id: `host:${organization}`, name: organization, kind: 'organization', docs: null }
}

/**
 * Groups sources by sender, those with most failed messages first. A sender all of whose messages
 * were forwarded is a forwarder, unless it is marked otherwise.
 */
export function groupSenders(
  domain: string,
  sources: CountedSource[],
  marks: ReadonlyMap<string, SenderMark>,
): Sender[] {
  const groups = Map.groupBy(sources, (source) => nameSender(domain, source).id)
  return [...groups]
    .map(([id, members]) => {
      const mark = marks.get(id) ?? null
      const messages = sum(members, (one) => one.messages)
      const pass = sum(members, (one) => one.aligned)
      const isForwarder = members.every(({ group }) => group === 'forwarder-like')
      const name = nameSender(domain, members[0] as CountedSource)
      const looksMine = !isForwarder && (pass > 0 || name.kind === 'own')
      return {
        ...name,
        mark: mark ?? (isForwarder ? ('forwarder' as const) : null),
        isMine: mark === 'mine' || (mark === null && looksMine),
        sources: members.length,
        messages,
        pass,
        fail: messages - pass,
      }
    })
    .toSorted((one, other) => other.fail - one.fail || other.messages - one.messages)
}

function sum<T>(list: T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0)
}
