import { LABELS_COLUMN, LabelLine } from '../../labels/labels-column.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { deleteAllWithUndo } from '../../deletions.ts'
import { Status } from '../../ui/feedback/status.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import type { RowAction } from '../../ui/lists/row-action.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { Ago } from '../../ui/text/ago.tsx'
import { counted } from '../../ui/text/format.ts'
import { useAccess } from '../../workspaces/roles.ts'
import { dmarc, domainsQuery, type ReportDomain } from '../api.ts'
import { overview as messages, shared } from '../messages.ts'
import { shareText } from '../share-text.ts'
import { periodWithReports } from '../search.ts'

/** The DMARC domains of the workspace. */
export function DomainTable({ domains }: { domains: ReportDomain[] }) {
  return (
    <DataTable
      caption={messages.yours}
      columns={COLUMNS}
      rows={domains}
      rowId={({ id }) => id}
      nameOf={({ domain }) => domain}
      count={(rows) => counted(rows, 'domain')}
      filterLabel={messages.filter}
      actions={useDomainActions()}
      csvName="dmarc-domains"
    />
  )
}

function useDomainActions(): RowAction<ReportDomain>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: messages.verifyNow,
      appliesTo: ({ verified }) => !verified,
      send: ({ id }) => dmarc.verify(id),
      onDone: () => queries.invalidateQueries(domainsQuery),
      failed: messages.verifyFailed,
    },
    {
      ...access,
      label: messages.delete,
      kind: 'quiet',
      apply: (rows) =>
        deleteAllWithUndo(queries, {
          rows,
          text: messages.deleting(rows.map(({ domain }) => domain)),
          list: domainsQuery.queryKey,
          send: ({ id }) => dmarc.remove(id),
          nameOf: ({ domain }) => domain,
        }),
    },
  ]
}

/** From none to the strictest. */
const POLICIES = ['none', 'quarantine', 'reject']

const COLUMNS: Column<ReportDomain>[] = [
  {
    key: 'domain',
    title: messages.domain,
    cell: ({ id, domain, labels, reported, verified }) => (
      <>
        <Link to="/dmarc/$id" params={{ id }} search={periodWithReports(reported)}>
          {domain}
        </Link>
        {!verified && (
          <small>
            <Status tone="warn">{shared.notVerified}</Status>
          </small>
        )}
        <LabelLine labels={labels} />
      </>
    ),
    sort: ({ domain }) => domain,
    csv: ({ domain }) => domain,
  },
  LABELS_COLUMN,
  {
    key: 'policy',
    title: messages.policy,
    labelled: true,
    cell: ({ policy }) =>
      policy === null ? (
        <Status tone="unknown">{messages.unknownPolicy}</Status>
      ) : (
        <Status tone={policy === 'none' ? 'warn' : 'good'}>{policy}</Status>
      ),
    sort: ({ policy }) => POLICIES.indexOf(policy ?? ''),
    csv: ({ policy }) => policy,
  },
  {
    key: 'passed',
    title: messages.passed,
    labelled: true,
    cell: ({ last30Days: { messages: all, aligned } }) =>
      all === 0 ? (
        <Muted>{messages.noMessages}</Muted>
      ) : (
        <>
          {shareText(aligned, all)} <small>{messages.of(all)}</small>
        </>
      ),
    sort: ({ last30Days: { messages: all, aligned } }) => (all === 0 ? null : aligned / all),
    csv: ({ last30Days: { messages: all, aligned } }) => (all === 0 ? null : aligned / all),
  },
  {
    key: 'reports',
    title: shared.reports,
    cell: ({ totalReports, totalTlsReports, totalFailureReports, rejectedToday }) => (
      <>
        {counted(totalReports, shared.report)}
        <small>
          {[
            totalTlsReports > 0 && counted(totalTlsReports, messages.tlsReport),
            totalFailureReports > 0 && counted(totalFailureReports, messages.failureReport),
            rejectedToday.total > 0 && messages.rejectedToday(rejectedToday.total),
          ]
            .filter(Boolean)
            .join(', ')}
        </small>
      </>
    ),
    sort: ({ totalReports }) => totalReports,
    descendsFirst: true,
    csv: ({ totalReports }) => totalReports,
  },
  {
    key: 'last',
    title: messages.lastReport,
    labelled: true,
    cell: ({ lastReportAt, reported }) => (
      <Muted>
        {reported ? utcDayText(reported.to) : messages.noReport}
        {lastReportAt && (
          <small>
            {messages.received} <Ago at={lastReportAt} />
          </small>
        )}
      </Muted>
    ),
    sort: ({ reported }) => reported?.to ?? null,
    descendsFirst: true,
    csv: ({ reported }) => reported?.to ?? null,
  },
]
