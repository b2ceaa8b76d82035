import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState } from 'react'
import { updateOptimistically } from '../../optimistic-update.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Choice } from '../../ui/forms/choice.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { Table } from '../../ui/lists/table.tsx'
import { counted } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { dmarc, type Sender, type Summary } from '../api.ts'
import { senders as messages, shared, sources } from '../messages.ts'
import { shareText } from '../share-text.ts'
import { sourceTone } from '../tones.ts'

type SenderTableProps = { id: string; queryKey: QueryKey; senders: Sender[] }

/** Who sends as the domain, and whether the owner knows them. The readiness follows the marks. */
export function SenderTable({ id, queryKey, senders }: SenderTableProps) {
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  function mark(sender: Sender, chosen: Sender['mark']): void {
    const apply = (before: Summary): Summary => ({
      ...before,
      senders: before.senders.map((one) => (one.id === sender.id ? { ...one, mark: chosen } : one)),
    })
    setProblem('')
    const send = () => dmarc.markSender(id, sender.id, chosen)
    updateOptimistically(queries, queryKey, apply, send).catch((error: Error) =>
      setProblem(error.message),
    )
  }

  return (
    <Section title={messages.title}>
      <Muted>{messages.explanation}</Muted>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption={messages.title} quiet columns={messages.columns}>
        {senders.map((sender) => (
          <SenderRow key={sender.id} sender={sender} onMark={(chosen) => mark(sender, chosen)} />
        ))}
      </Table>
    </Section>
  )
}

const UNMARKED = 'unmarked'
type Mark = NonNullable<Sender['mark']> | typeof UNMARKED

function SenderRow({
  sender,
  onMark,
}: {
  sender: Sender
  onMark: (chosen: Sender['mark']) => void
}) {
  const access = useAccess()
  const { name, kind, docs, mark, isMine, messages: count, pass, fail } = sender
  return (
    <tr>
      <th scope="row">
        {docs === null ? (
          name
        ) : (
          <a href={docs} target="_blank" rel="noreferrer">
            {name}
          </a>
        )}
        <small>
          {messages.kinds[kind]} · {counted(sender.sources, sources.source)}
        </small>
      </th>
      <td>{counted(count, shared.message)}</td>
      <td>
        <Status tone={sourceTone(sender)}>{shared.passedShare(shareText(pass, count))}</Status>
        {fail > 0 && <small>{shared.failedCount(fail)}</small>}
      </td>
      <td>
        <Choice<Mark>
          {...access}
          label={messages.markOf(name)}
          choices={[
            {
              value: UNMARKED,
              name: isMine && mark === null ? messages.assumed : messages.unmarked,
            },
            ...messages.marks,
          ]}
          value={mark ?? UNMARKED}
          onChange={(value) => onMark(value === UNMARKED ? null : value)}
        />
      </td>
    </tr>
  )
}
