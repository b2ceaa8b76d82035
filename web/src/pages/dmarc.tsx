import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { postCommand } from '../check/curl-commands.ts'
import { dmarc, domainsQuery, type ReportDomain } from '../dmarc/api.ts'
import { overview as messages, shared, upload } from '../dmarc/messages.ts'
import { Upload } from '../dmarc/reports/upload.tsx'
import { useOwnDomain } from '../queries.ts'
import { Ago } from '../ui/text/ago.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data: domains, error } = useQuery(domainsQuery)
  return (
    <Page
      wide
      title={shared.title}
      lead={messages.lead}
      rail={
        <>
          <Section title={messages.add}>
            <Card>
              <NewDomain />
            </Card>
          </Section>
          {domains && domains.length > 0 && (
            <Section title={upload.title}>
              <Upload />
            </Section>
          )}
        </>
      }
      aside={
        <Row>
          {domains?.length !== 0 && (
            <ButtonLink to="/dmarc/rejected">{messages.rejected}</ButtonLink>
          )}
          <ButtonLink icon="mail" to="/dmarc/mailboxes">
            {messages.mailboxes}
          </ButtonLink>
        </Row>
      }
    >
      <LoadingOrError there={domains} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {domains && domains.length > 0 && <DomainTable domains={domains} />}
      {domains?.length === 0 && <NoDomain />}
    </Page>
  )
}

function NewDomain() {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function register({ domain = '' }: Record<string, string>): Promise<void> {
    const { id } = await dmarc.register(domain.trim())
    await queries.invalidateQueries(domainsQuery)
    await navigate({ to: '/dmarc/$id/record', params: { id } })
  }

  return (
    <Form {...access} onSubmit={register} submit={messages.addDomain} check={wrongDomain}>
      <TextField
        name="domain"
        label={messages.domain}
        placeholder={messages.domainExample}
        autoComplete="off"
        spellCheck={false}
      />
    </Form>
  )
}

function wrongDomain({ domain = '' }: Record<string, string>): Record<string, string> {
  return domain.trim() === '' ? { domain: messages.missingDomain } : {}
}

function NoDomain() {
  const domain = useOwnDomain()
  return (
    <Empty icon="mail" title={messages.empty}>
      <p>
        <Muted>{messages.emptyHint}</Muted>
      </p>
      <Snippet what={messages.command} text={postCommand('/api/v1/dmarc/domains', { domain })} />
    </Empty>
  )
}

function DomainTable({ domains }: { domains: ReportDomain[] }) {
  return (
    <Table
      caption={messages.yours}
      quiet
      columns={[messages.domain, messages.verification, shared.reports, messages.lastReport]}
    >
      {domains.map(
        ({
          id,
          domain,
          verified,
          totalReports,
          totalTlsReports,
          totalFailureReports,
          rejectedToday,
          lastReportAt,
        }) => (
          <tr key={id}>
            <th scope="row">
              <Link to="/dmarc/$id" params={{ id }}>
                {domain}
              </Link>
            </th>
            <td>
              {verified ? (
                <Status tone="good">{shared.verified}</Status>
              ) : (
                <Link to="/dmarc/$id/record" params={{ id }}>
                  {shared.notVerified}
                </Link>
              )}
            </td>
            <td>
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
            </td>
            <td data-label={messages.lastReport}>
              <Muted>{lastReportAt ? <Ago at={lastReportAt} /> : messages.noReport}</Muted>
            </td>
          </tr>
        ),
      )}
    </Table>
  )
}
