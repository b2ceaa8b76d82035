import type { BlacklistItem, BlacklistResult } from '../../../src/diagnostics/shapes.ts'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status, type Tone } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { counted } from '../ui/text/format.ts'
import type { CheckKind } from './kind.ts'
import { blacklistVerdict } from './verdict.ts'
import { Warnings } from './warnings.tsx'

export const blacklistKind: CheckKind<BlacklistResult> = {
  name: 'blacklist',
  title: 'Blacklists',
  path: (ip) => `/api/v1/blacklist-check?ip=${encodeURIComponent(ip)}`,
  events: (ip) => `/api/v1/blacklist-check/events?ip=${encodeURIComponent(ip)}`,
  verdict: blacklistVerdict,
  View: ({ data }) => (
    <>
      <Warnings warnings={data.warnings} />
      <Lists result={data} />
    </>
  ),
}

function Lists({ result: { blacklists, cleanCount } }: { result: BlacklistResult }) {
  const of = (status: BlacklistItem['status']) => blacklists.filter((list) => list.status === status)
  return (
    <>
      <ListTable caption="Listed" lists={of('listed')} />
      <ListTable caption="Without a usable answer" lists={of('unknown')} />
      {cleanCount > 0 && (
        <Disclosure summary={`Not listed: ${counted(cleanCount, 'list')}`}>
          <ListTable caption="Not listed" lists={of('clean')} />
        </Disclosure>
      )}
    </>
  )
}

const WORDS: Record<BlacklistItem['status'], [Tone, string]> = {
  listed: ['bad', 'Listed'],
  unknown: ['unknown', 'Unknown'],
  clean: ['good', 'Not listed'],
}

function ListTable({ caption, lists }: { caption: string; lists: BlacklistItem[] }) {
  if (lists.length === 0) return null
  return (
    <Table caption={caption} even columns={['Blacklist', 'Category', 'Answer']}>
      {lists.map((list) => (
        <ListRow key={list.dnsbl} list={list} />
      ))}
    </Table>
  )
}

function ListRow({ list }: { list: BlacklistItem }) {
  const [tone, word] = WORDS[list.status]
  const words = [...list.meanings, list.reason, list.detail].filter(Boolean).join('. ')
  return (
    <tr>
      <th scope="row">
        {list.name}
        <small>
          <code>{list.dnsbl}</code>
        </small>
      </th>
      <td data-label="Category">
        <Muted>{list.category}</Muted>
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
        {words && <small>{words}</small>}
        {list.status === 'listed' && list.delistUrl && (
          <small>
            <a href={list.delistUrl} target="_blank" rel="noreferrer">
              How to get off {list.name}
            </a>
          </small>
        )}
      </td>
    </tr>
  )
}
