import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AddressLink } from '../addresses/address-link.tsx'
import { Button } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Page } from '../ui/layout/page.tsx'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import type { AuditEntryRow, AuditFilter, AuditLogPage } from './api.ts'
import { changesOf, isAddress, nameOf, targetOf } from './audit-entry.ts'
import { audit as messages, describeDetails } from './messages.ts'

/** The texts of one of the two logs. */
type LogTexts = { title: string; lead: string; caption: string; empty: string }

type AuditScreenProps = {
  texts: LogTexts
  filter: AuditFilter
  result: Pick<UseQueryResult<AuditLogPage>, 'data' | 'error'>
  /** Loads a page in the present filter, for the CSV file. */
  loadPage: (page: number) => Promise<AuditLogPage>
  onGo: (search: AuditFilter) => void
}

/** The screen of an audit log, of the service or of a workspace. */
export function AuditScreen({ texts, filter, result, loadPage, onGo }: AuditScreenProps) {
  const { data, error } = result
  const isFiltered = filter.q !== undefined || filter.actor !== undefined
  const isEmpty = data?.pagination.total === 0 && !isFiltered
  // Another filter starts at the first page.
  const showActor = (actor: string | undefined) => onGo({ ...filter, page: undefined, actor })
  return (
    <Page wide title={texts.title}>
      <Muted>{texts.lead}</Muted>
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {isEmpty && <Muted>{texts.empty}</Muted>}
      {data && !isEmpty && (
        <DataTable
          caption={texts.caption}
          columns={COLUMNS}
          rows={data.entries}
          rowId={({ id }) => id}
          nameOf={({ what }) => what}
          count={messages.entries}
          filters={
            <>
              <FilterField
                label={messages.filter}
                value={filter.q ?? ''}
                onFilter={(text) => onGo({ ...filter, page: undefined, q: text || undefined })}
              />
              {filter.actor !== undefined && (
                <Button size="small" onClick={() => showActor(undefined)}>
                  {messages.onlyBy(filter.actor)}
                  <VisuallyHidden>{messages.showAll}</VisuallyHidden>
                </Button>
              )}
            </>
          }
          csvName="audit-log"
          paged={{
            ...data.pagination,
            onGo: (page) => onGo({ ...filter, page }),
            sorts: [],
            loadPage: async (page) => (await loadPage(page)).entries,
          }}
        />
      )}
    </Page>
  )
}

const [action, by, time] = messages.columns

const COLUMNS: Column<AuditEntryRow>[] = [
  {
    key: 'what',
    title: action,
    cell: (entry) => <Action entry={entry} />,
    csv: ({ what }) => what,
  },
  { key: 'object', title: messages.object, csv: nameOf },
  {
    key: 'actor',
    title: by,
    cell: ({ actorEmail, token }) => (
      <>
        <Link
          to="."
          search={
            ((before: object) => ({
              ...before,
              actor: actorEmail,
              page: undefined,
            })) as never
          }
          title={messages.showOnly(actorEmail)}
        >
          {actorEmail}
        </Link>
        {token && <small>{messages.withToken(token.label)}</small>}
      </>
    ),
    csv: ({ actorEmail }) => actorEmail,
  },
  { key: 'token', title: messages.token, csv: ({ token }) => token?.label ?? null },
  {
    key: 'at',
    title: time,
    short: true,
    ...agoCell('at'),
  },
  { key: 'route', title: messages.request, csv: ({ route }) => route },
  { key: 'details', title: messages.details, csv: ({ details }) => JSON.stringify(details) },
]

/** What was done to which object, what it changed, and the request behind it. */
function Action({ entry }: { entry: AuditEntryRow }) {
  const { what, route, details } = entry
  return (
    <>
      {what} <ObjectName entry={entry} />
      {changesOf(entry).map(([field, change]) => (
        <small key={field}>{messages.change(field, change)}</small>
      ))}
      <Disclosure summary={messages.details}>
        {() => (
          <small>
            <code>{route}</code>
            {describeDetails(details).map(([name, value]) => (
              <div key={name}>{messages.detail(name, value)}</div>
            ))}
          </small>
        )}
      </Disclosure>
    </>
  )
}

function ObjectName({ entry }: { entry: AuditEntryRow }) {
  const name = nameOf(entry)
  const target = targetOf(entry)
  if (target)
    return (
      <Link to={target.to} params={target.params as never}>
        {name ?? messages.open}
      </Link>
    )
  if (name === null) return null
  return isAddress(name) ? <AddressLink address={name} /> : <strong>{name}</strong>
}
