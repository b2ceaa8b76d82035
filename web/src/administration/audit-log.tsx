import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Muted, Page, Row } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { AuditEntryRow, AuditFilter, AuditLogPage } from './api.ts'
import { audit as messages, describeDetails } from './messages.ts'

/** The texts of one of the two logs. */
type LogTexts = { title: string; lead: string; caption: string; empty: string }

type AuditScreenProps = {
  texts: LogTexts
  /** The links to the screens beside it. */
  navigation: ReactNode
  filter: AuditFilter
  result: Pick<UseQueryResult<AuditLogPage>, 'data' | 'error'>
  onGo: (search: AuditFilter) => void
}

/** The screen of an audit log, of the service or of a workspace. */
export function AuditScreen({ texts, navigation, filter, result, onGo }: AuditScreenProps) {
  return (
    <Page wide title={texts.title}>
      {navigation}
      <Muted>{texts.lead}</Muted>
      <AuditLog
        {...texts}
        {...result}
        filter={filter}
        // Another filter starts at the first page.
        onGo={(changed) => onGo({ ...filter, page: undefined, ...changed })}
      />
    </Page>
  )
}

type AuditLogProps = Pick<LogTexts, 'caption' | 'empty'> &
  Pick<AuditScreenProps, 'filter' | 'onGo'> &
  AuditScreenProps['result']

function AuditLog({ caption, empty, filter, data, error, onGo }: AuditLogProps) {
  return (
    <>
      <Row>
        <FilterField
          label={messages.filter}
          value={filter.q ?? ''}
          onFilter={(text) => onGo({ q: text || undefined })}
        />
        {data && <Muted>{messages.entries(data.pagination.total)}</Muted>}
      </Row>
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data?.entries.length === 0 && <Muted>{filter.q ? messages.noMatches : empty}</Muted>}
      {data && data.entries.length > 0 && (
        <div>
          <Table caption={caption} quiet columns={[...messages.columns]}>
            {data.entries.map((entry) => (
              <EntryRow key={entry.id} entry={entry} />
            ))}
          </Table>
          <PaginationLinks {...data.pagination} onGo={(page) => onGo({ page })} />
        </div>
      )}
    </>
  )
}

function EntryRow({ entry }: { entry: AuditEntryRow }) {
  const { at, actorEmail, token, what, route, details } = entry
  return (
    <tr>
      <th scope="row">
        {what}
        <small>{route}</small>
      </th>
      <td>
        {describeDetails(details).map(([name, value]) => (
          <div key={name}>{messages.detail(name, value)}</div>
        ))}
      </td>
      <td>
        {messages.by(actorEmail)}
        {token && <small>{messages.withToken(token.label)}</small>}
      </td>
      <td>
        <Muted>
          <Ago at={at} />
        </Muted>
      </td>
    </tr>
  )
}
