import type { BlacklistItem, BlacklistResult } from '../../../../src/diagnostics/shapes.ts'
import { Disclosure } from '../../ui/layout/disclosure.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import { Status, type Tone } from '../../ui/feedback/status.tsx'
import { Table } from '../../ui/lists/table.tsx'
import type { CheckKind } from './check-kind.ts'
import { blocklists as messages } from '../messages.ts'
import { blacklistVerdict } from './verdict.ts'
import { Warnings } from '../warnings.tsx'

const PATH = '/api/v1/blacklist-check'

export const blacklistKind: CheckKind<BlacklistResult> = {
  name: 'blacklist',
  title: messages.title,
  path: (ip) => `${PATH}?ip=${encodeURIComponent(ip)}`,
  events: (ip) => `${PATH}/events?ip=${encodeURIComponent(ip)}`,
  verdict: blacklistVerdict,
  View: ({ data }) => (
    <>
      <Warnings warnings={data.warnings} />
      <Lists result={data} />
    </>
  ),
}

function Lists({ result: { blacklists, cleanCount } }: { result: BlacklistResult }) {
  const of = (status: BlacklistItem['status']) =>
    blacklists.filter((list) => list.status === status)
  return (
    <>
      <ListTable caption={messages.captions.listed} lists={of('listed')} />
      <ListTable caption={messages.captions.unknown} lists={of('unknown')} />
      {cleanCount > 0 && (
        <Disclosure summary={messages.cleanCount(cleanCount)}>
          <ListTable caption={messages.captions.clean} lists={of('clean')} />
        </Disclosure>
      )}
    </>
  )
}

const TONES: Record<BlacklistItem['status'], Tone> = {
  listed: 'bad',
  unknown: 'unknown',
  clean: 'good',
}

function ListTable({ caption, lists }: { caption: string; lists: BlacklistItem[] }) {
  if (lists.length === 0) return null
  return (
    <Table caption={caption} even columns={[...messages.columns]}>
      {lists.map((list) => (
        <ListRow key={list.dnsbl} list={list} />
      ))}
    </Table>
  )
}

function ListRow({ list }: { list: BlacklistItem }) {
  const explanation = [...list.meanings, list.reason, list.detail].filter(Boolean).join('. ')
  return (
    <tr>
      <th scope="row">
        {list.name}
        <small>
          <code>{list.dnsbl}</code>
        </small>
      </th>
      <td data-label={messages.category}>
        <Muted>{list.category}</Muted>
      </td>
      <td>
        <Status tone={TONES[list.status]}>{messages.states[list.status]}</Status>
        {explanation && <small>{explanation}</small>}
        {list.status === 'listed' && list.delistUrl && (
          <small>
            <a href={list.delistUrl} target="_blank" rel="noreferrer">
              {messages.removal(list.name)}
            </a>
          </small>
        )}
      </td>
    </tr>
  )
}
