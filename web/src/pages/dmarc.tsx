import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { postCommand } from '../check/curl.ts'
import { dmarc, domainsQuery, type ReportDomain } from '../dmarc/api.ts'
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

export function Screen() {
  const { data: domains, error } = useQuery(domainsQuery)
  return (
    <Page
      wide
      title="DMARC"
      lead="Who sends in your domain’s name, does it pass, and may the policy be tightened? Receivers report; this is what they say."
      aside={
        <Row>
          {domains && domains.length > 0 && <ButtonLink to="/dmarc/rejected">What was set aside</ButtonLink>}
          <ButtonLink icon="mail" to="/dmarc/mailboxes">
            Mailboxes
          </ButtonLink>
        </Row>
      }
    >
      <LoadingOrError there={domains} error={error} lines={4}>
        Fetching your domains …
      </LoadingOrError>
      {domains && domains.length > 0 && <DomainTable domains={domains} />}
      <Section title="Register a domain">
        <Card>
          <NewDomain />
        </Card>
      </Section>
      {domains?.length === 0 && <NoDomain />}
      {domains && domains.length > 0 && (
        <Section title="Upload reports">
          <Upload />
        </Section>
      )}
    </Page>
  )
}

function NewDomain() {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function register({ domain = '' }: Record<string, string>): Promise<void> {
    const { id } = await dmarc.register(domain.trim())
    await queries.invalidateQueries(domainsQuery)
    await navigate({ to: '/dmarc/$id/record', params: { id } })
  }

  return (
    <Form onSubmit={register} submit="Register it" check={wrongDomain}>
      <TextField name="domain" label="Domain" placeholder="example.com" autoComplete="off" spellCheck={false} />
    </Form>
  )
}

function wrongDomain({ domain = '' }: Record<string, string>): Record<string, string> {
  return domain.trim() === '' ? { domain: 'Type the domain that your mail is from.' } : {}
}

function NoDomain() {
  const domain = useOwnDomain()
  return (
    <Empty icon="mail" title="No domain is registered yet">
      <p>
        <Muted>Register yours above, and you get the record to publish. Or from a program:</Muted>
      </p>
      <Snippet what="the command" text={postCommand('/api/v1/dmarc/domains', { domain })} />
    </Empty>
  )
}

function DomainTable({ domains }: { domains: ReportDomain[] }) {
  return (
    <Table caption="Your domains" quiet columns={['Domain', 'Yours', 'Reports', 'Last report']}>
      {domains.map(
        ({ id, domain, verified, totalReports, totalTlsReports, totalFailureReports, rejectedToday, lastReportAt }) => (
          <tr key={id}>
            <th scope="row">
              <Link to="/dmarc/$id" params={{ id }}>
                {domain}
              </Link>
            </th>
            <td>
              {verified ? (
                <Status tone="good">Verified</Status>
              ) : (
                <Link to="/dmarc/$id/record" params={{ id }}>
                  Not verified yet
                </Link>
              )}
            </td>
            <td>
              {counted(totalReports, 'report')}
              <small>
                {[
                  totalTlsReports > 0 && counted(totalTlsReports, 'TLS report'),
                  totalFailureReports > 0 && counted(totalFailureReports, 'failure report'),
                  rejectedToday.total > 0 && `${counted(rejectedToday.total, 'item')} rejected today`,
                ]
                  .filter(Boolean)
                  .join(', ')}
              </small>
            </td>
            <td data-label="Last report">
              <Muted>{lastReportAt ? <Ago at={lastReportAt} /> : 'none yet'}</Muted>
            </td>
          </tr>
        ),
      )}
    </Table>
  )
}
