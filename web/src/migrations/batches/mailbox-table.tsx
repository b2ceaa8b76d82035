import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { orderOf } from '../../search.ts'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { Status } from '../../ui/feedback/status.tsx'
import { Choice } from '../../ui/forms/choice.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import type { RowAction } from '../../ui/lists/row-action.ts'
import { numberText, sizeText } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { batches, mailboxesQuery, type Batch, type Mailbox, type MailboxState } from './api.ts'
import { OwnerLinkButton } from './owner-link-button.tsx'
import { CorrectButton } from './correct-button.tsx'
import { batch as texts, causeText, states, table as messages } from './messages.ts'
import { toneOfState } from './status.ts'

/** The columns that the API sorts by. */
const SORTS = ['sourceUser', 'state', 'messages', 'bytes', 'errors'] as const

const ANY = ''

/** The mailboxes of a batch: filtered, sorted and divided into pages by the service. */
export function MailboxTable({ batch }: { batch: Batch }) {
  const search = useSearch({ from: '/own/migrations/batches/$id' })
  const navigate = useNavigate({ from: '/migrations/batches/$id' })
  const { state, problem, host, q, page } = search
  const filter = { state, problem, host, q, sort: orderOf(search.sort, SORTS) }
  const { data, error } = useQuery({
    ...mailboxesQuery(batch.id, { ...filter, page }),
    placeholderData: keepPreviousData,
  })
  const actions = useMailboxActions(batch)
  return (
    <>
      <LoadingOrError there={data} error={error} lines={6} shape="table">
        {texts.loading}
      </LoadingOrError>
      {data && (
        <DataTable
          caption={messages.caption}
          columns={columnsOf(batch)}
          rows={data.mailboxes}
          rowId={({ id }) => id}
          nameOf={nameOf}
          count={messages.count}
          filterLabel={messages.filter}
          filters={
            <StateFilter
              batch={batch}
              state={state}
              onChange={(chosen) =>
                void navigate({
                  search: ({ page: _page, problem: _problem, host: _host, ...rest }) => ({
                    ...rest,
                    state: chosen,
                  }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          }
          actions={actions}
          paged={{
            ...data.pagination,
            onGo: (to) => void navigate({ search: (before) => ({ ...before, page: to }) }),
            sorts: SORTS,
            loadPage: async (number) =>
              (await batches.mailboxes(batch.id, { ...filter, page: number })).mailboxes,
          }}
        />
      )}
    </>
  )
}

type FilterProps = {
  batch: Batch
  state: MailboxState | undefined
  onChange: (state: MailboxState | undefined) => void
}

function StateFilter({ batch: { counts, mailboxes }, state, onChange }: FilterProps) {
  const present = Object.keys(states) as MailboxState[]
  return (
    <Choice
      label={messages.stateFilter}
      value={state ?? ANY}
      choices={[
        { value: ANY, name: messages.anyState(mailboxes) },
        ...present
          .filter((one) => (counts[one] ?? 0) > 0 || one === state)
          .map((one) => ({ value: one, name: messages.state(one, counts[one] ?? 0) })),
      ]}
      onChange={(chosen) => onChange(chosen === ANY ? undefined : chosen)}
    />
  )
}

function useMailboxActions(batch: Batch): RowAction<Mailbox>[] {
  const access = useAccess()
  const queries = useQueryClient()
  if (batch.finishedAt !== null) return []
  const onDone = () => queries.invalidateQueries({ queryKey: ['batches', 'one', batch.id] })
  return [
    {
      ...access,
      label: messages.retry,
      appliesTo: ({ state }) => state === 'needs_attention',
      send: ({ id }) => batches.retry(batch.id, { mailboxes: [id] }),
      onDone,
    },
    {
      ...access,
      label: messages.remove,
      kind: 'quiet',
      appliesTo: ({ state }) => state !== 'syncing' && state !== 'queued',
      confirm: { title: messages.removeTitle, text: messages.removeText },
      send: ({ id }) => batches.remove(batch.id, id),
      onDone,
    },
  ]
}

const nameOf = ({ source }: Mailbox) => messages.account(source.user, source.host)

function columnsOf(batch: Batch): Column<Mailbox>[] {
  const { columns } = messages
  return [
    {
      key: 'sourceUser',
      title: columns.source,
      cell: (mailbox) => <Accounts mailbox={mailbox} />,
      sort: nameOf,
    },
    {
      key: 'state',
      title: columns.state,
      cell: (mailbox) => <State batch={batch} mailbox={mailbox} />,
      sort: ({ state }) => states[state],
    },
    {
      key: 'messages',
      title: columns.progress,
      cell: (mailbox) => <Progress mailbox={mailbox} />,
      sort: ({ messagesTotal }) => messagesTotal,
      descendsFirst: true,
    },
    {
      key: 'bytes',
      title: columns.size,
      align: 'end',
      labelled: true,
      cell: ({ bytesTotal, bytesDone }) => {
        const bytes = bytesTotal ?? bytesDone
        return bytes > 0 ? sizeText(bytes) : '–'
      },
      sort: ({ bytesTotal, bytesDone }) => bytesTotal ?? bytesDone,
      descendsFirst: true,
    },
    {
      key: 'errors',
      title: columns.errors,
      align: 'end',
      labelled: true,
      cell: ({ errorCount }) => numberText(errorCount),
      sort: ({ errorCount }) => errorCount,
      descendsFirst: true,
    },
  ]
}

function Accounts({ mailbox }: { mailbox: Mailbox }) {
  const { source, destination, migrationId, dryRunId, line } = mailbox
  const id = migrationId ?? dryRunId
  const name = messages.account(source.user, source.host)
  return (
    <>
      {id === null ? (
        name
      ) : (
        <Link to="/migrations/$id" params={{ id }}>
          {name}
        </Link>
      )}
      <small>
        {messages.destination(destination.user ?? '?', destination.host ?? '?')} ·{' '}
        {messages.line(line)}
      </small>
    </>
  )
}

/** States in which the owner of a mailbox can sign in. */
const TAKES_OWNER: MailboxState[] = ['waiting_for_owner', 'needs_attention', 'ready']

function State({ batch, mailbox }: { batch: Batch; mailbox: Mailbox }) {
  const { state, problem, warning, isEmpty } = mailbox
  const isCorrectable = [
    'invalid',
    'waiting_for_owner',
    'needs_attention',
    'ready',
    'paused',
  ].includes(state)
  return (
    <>
      {isEmpty ? (
        <Status tone="warn">{messages.empty}</Status>
      ) : (
        <Status tone={toneOfState(state)}>
          {problem && state === 'needs_attention'
            ? sentence(causeText(problem.code))
            : states[state]}
        </Status>
      )}
      {(problem?.message ?? warning) && <small>{problem?.message ?? warning}</small>}
      {isCorrectable && batch.finishedAt === null && (
        <CorrectButton batchId={batch.id} mailbox={mailbox} />
      )}
      {TAKES_OWNER.includes(state) && batch.finishedAt === null && (
        <OwnerLinkButton batchId={batch.id} mailbox={mailbox} />
      )}
    </>
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function Progress({ mailbox }: { mailbox: Mailbox }) {
  const { messagesDone, messagesTotal, state, source, isEmpty } = mailbox
  if (isEmpty) return <>{messages.done(0, 0)}</>
  if (messagesTotal === 0) return <>–</>
  return (
    <>
      <ProgressBar
        label={messages.progressOf(source.user ?? '')}
        done={messagesDone}
        total={messagesTotal}
        tone={state === 'syncing' ? undefined : toneOfState(state)}
      />
      <small>{messages.done(messagesDone, messagesTotal)}</small>
    </>
  )
}
