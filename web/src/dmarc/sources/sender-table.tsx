import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { Notice } from '../../ui/feedback/notice.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Choice } from '../../ui/forms/choice.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import type { RowAction } from '../../ui/lists/row-action.ts'
import { counted } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { dmarc, type Sender } from '../api.ts'
import { senders as messages, shared, sources } from '../messages.ts'
import { SUMMARY_TABLES } from '../search.ts'
import { shareText } from '../share-text.ts'
import { sourceTone } from '../tones.ts'
import { useMarks, type Mark as OnMark } from './use-marks.ts'

type SenderTableProps = { id: string; queryKey: QueryKey; senders: Sender[] }

/** Who sends as the domain, and whether the owner knows them. The readiness follows the marks. */
export function SenderTable({ id, queryKey, senders }: SenderTableProps) {
  const { mark, problem } = useMarks(id, queryKey)
  return (
    <Section title={messages.title}>
      <Muted>{messages.explanation}</Muted>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <DataTable
        caption={messages.title}
        columns={columnsOf(mark)}
        rows={senders}
        rowId={(sender) => sender.id}
        nameOf={({ name }) => name}
        count={(rows) => counted(rows, messages.sender)}
        filterLabel={messages.filter}
        parameters={SUMMARY_TABLES.senders}
        actions={useMarkActions(id)}
        csvName="dmarc-senders"
      />
    </Section>
  )
}

function useMarkActions(id: string): RowAction<Sender>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return messages.marks.map(({ value, action }) => ({
    ...access,
    label: action,
    send: (sender) => dmarc.markSender(id, sender.id, value),
    onDone: () => queries.invalidateQueries({ queryKey: ['dmarc'] }),
  }))
}

function columnsOf(onMark: OnMark): Column<Sender>[] {
  const [sender, count, passed, owner] = messages.columns
  return [
    {
      key: 'sender',
      title: sender,
      cell: (row) => <Name sender={row} />,
      sort: ({ name }) => name,
      csv: ({ name }) => name,
    },
    {
      key: 'messages',
      title: count,
      cell: (row) => counted(row.messages, shared.message),
      sort: (row) => row.messages,
      descendsFirst: true,
      csv: (row) => row.messages,
    },
    {
      key: 'passed',
      title: passed,
      cell: (row) => (
        <>
          <Status tone={sourceTone(row)}>
            {shared.passedShare(shareText(row.pass, row.messages))}
          </Status>
          {row.fail > 0 && <small>{shared.failedCount(row.fail)}</small>}
        </>
      ),
      sort: ({ pass, messages: all }) => (all === 0 ? null : pass / all),
      csv: ({ pass }) => pass,
    },
    { key: 'failed', title: shared.failed, csv: ({ fail }) => fail },
    {
      key: 'mark',
      title: owner,
      cell: (row) => <MarkChoice sender={row} onMark={(chosen) => onMark(row, chosen)} />,
      sort: markName,
      csv: markName,
    },
  ]
}

function Name({ sender: { name, docs, kind, sources: count } }: { sender: Sender }) {
  return (
    <>
      {docs === null ? (
        name
      ) : (
        <a href={docs} target="_blank" rel="noreferrer">
          {name}
        </a>
      )}
      <small>
        {messages.kinds[kind]} · {counted(count, sources.source)}
      </small>
    </>
  )
}

function markName({ mark, isMine }: Sender): string {
  if (mark === null) return isMine ? messages.assumed : messages.unmarked
  return messages.marks.find(({ value }) => value === mark)?.name ?? mark
}

const UNMARKED = 'unmarked'
type Mark = NonNullable<Sender['mark']> | typeof UNMARKED

function MarkChoice({
  sender,
  onMark,
}: {
  sender: Sender
  onMark: (chosen: Sender['mark']) => void
}) {
  const access = useAccess()
  const { name, mark } = sender
  return (
    <Choice<Mark>
      {...access}
      label={messages.markOf(name)}
      choices={[{ value: UNMARKED, name: markName({ ...sender, mark: null }) }, ...messages.marks]}
      value={mark ?? UNMARKED}
      onChange={(value) => onMark(value === UNMARKED ? null : value)}
    />
  )
}
