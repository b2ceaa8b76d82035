import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { domainQuery, tlsReportsQuery, type TlsReport } from '../dmarc/api.ts'
import { DomainPage } from '../dmarc/domains/domain-page.tsx'
import { NoReportAddress } from '../dmarc/domains/record-instructions.tsx'
import { domainPage, shared, tlsReports as messages } from '../dmarc/messages.ts'
import { PeriodText } from '../dmarc/reports/period.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { PaginationLinks } from '../ui/navigation/pagination.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/dmarc/$id/tls' })
  const { page = 1 } = useSearch({ from: '/own/dmarc/$id/tls' })
  const navigate = useNavigate({ from: '/dmarc/$id/tls' })
  const { data, error } = useQuery({
    ...tlsReportsQuery(id, page),
    placeholderData: keepPreviousData,
  })
  return (
    <DomainPage id={id} part={domainPage.tlsReports}>
      <LoadingOrError there={data} error={error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {data?.pagination.total === 0 && <NoReport id={id} />}
      {data && data.pagination.total > 0 && (
        <div>
          <TlsTable reports={data.reports} />
          <PaginationLinks
            {...data.pagination}
            onGo={(to) => void navigate({ search: { page: to } })}
          />
        </div>
      )}
    </DomainPage>
  )
}

function NoReport({ id }: { id: string }) {
  const { data: domain, error } = useQuery(domainQuery(id))
  if (!domain)
    return (
      <LoadingOrError there={domain} error={error} lines={3} slow>
        {messages.loading}
      </LoadingOrError>
    )
  if (domain.tlsRecord === null) return <NoReportAddress />
  return (
    <Stack>
      <p>
        {messages.explanation} {messages.publish} <code>{`_smtp._tls.${domain.domain}`}</code>:
      </p>
      <Snippet what={shared.copyRecord} text={domain.tlsRecord} />
    </Stack>
  )
}

function TlsTable({ reports }: { reports: TlsReport[] }) {
  return (
    <Table
      caption={domainPage.tlsReports}
      quiet
      columns={[shared.reporter, shared.period, messages.connections, messages.failures]}
    >
      {reports.map((report) => (
        <TlsRow key={report.id} report={report} />
      ))}
    </Table>
  )
}

function TlsRow({ report }: { report: TlsReport }) {
  const { organizationName, contactInfo, dateRange, totals, policies } = report
  const { successful, failed } = totals
  return (
    <tr>
      <th scope="row">
        {organizationName || shared.unnamedReporter}
        {contactInfo && <small>{contactInfo}</small>}
      </th>
      <td>
        <PeriodText {...dateRange} />
        {policies.map(({ policyType, policyDomain }, index) => (
          <small key={index}>{messages.policy(policyType, policyDomain)}</small>
        ))}
      </td>
      <td>
        {failed > 0 ? (
          <Status tone="bad">{shared.failedCount(failed)}</Status>
        ) : (
          <Status tone="good">{messages.allSucceeded}</Status>
        )}
        <small>{messages.succeeded(successful)}</small>
      </td>
      <td>
        <Failures policies={policies} />
      </td>
    </tr>
  )
}

function Failures({ policies }: { policies: TlsReport['policies'] }) {
  const failures = policies.flatMap(({ failureDetails }) => failureDetails)
  if (failures.length === 0) return <Muted>{messages.noFailures}</Muted>
  return failures.map((failure, index) => {
    const {
      resultType,
      receivingMxHostname,
      receivingIp,
      sendingMtaIp,
      failedSessionCount,
      failureReasonCode,
    } = failure
    return (
      <div key={index}>
        {messages.failure(resultType, failedSessionCount)}
        <small>
          {[
            receivingMxHostname ?? receivingIp,
            sendingMtaIp && messages.fromAddress(sendingMtaIp),
            failureReasonCode,
            failure.additionalInformation,
          ]
            .filter(Boolean)
            .join(' · ')}
        </small>
      </div>
    )
  })
}
