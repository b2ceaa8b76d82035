import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { guessTarget } from '../check/guess-target.ts'
import { postCommand } from '../check/curl-commands.ts'
import { dmarc, domainsQuery } from '../dmarc/api.ts'
import { DomainTable } from '../dmarc/domains/domain-table.tsx'
import { importing, overview as messages, shared, upload } from '../dmarc/messages.ts'
import { Upload } from '../dmarc/reports/upload.tsx'
import { ImportButton } from '../imports/import-dialog.tsx'
import { useOwnDomain } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { Form, TextField } from '../ui/forms/form.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { DomainViews } from '../domains/domain-views.tsx'

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
          <ButtonLink to="/dmarc/rejected">{messages.rejected}</ButtonLink>
          <ButtonLink icon="mail" to="/dmarc/mailboxes">
            {messages.mailboxes}
          </ButtonLink>
          <AddSeveral />
        </Row>
      }
    >
      <DomainViews />
      <LoadingOrError there={domains} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {domains && domains.length > 0 && <DomainTable domains={domains} />}
      {domains?.length === 0 && <NoDomain />}
    </Page>
  )
}

function AddSeveral() {
  const queries = useQueryClient()
  return (
    <ImportButton
      {...importing}
      kind="domains"
      onImport={async (entries) => {
        const report = await dmarc.registerSeveral(entries.map(({ name }) => ({ domain: name })))
        await queries.invalidateQueries(domainsQuery)
        return report
      }}
    />
  )
}

function NewDomain() {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function register({ domain = '' }: Record<string, string>): Promise<void> {
    const { id } = await dmarc.register(guessTarget(domain)?.name ?? domain.trim())
    await queries.invalidateQueries(domainsQuery)
    await navigate({ to: '/dmarc/$id/record', params: { id } })
  }

  return (
    <Form {...access} onSubmit={register} submit={messages.addDomain} check={wrongDomain}>
      <TextField
        name="domain"
        label={messages.domain}
        placeholder={messages.domainExample}
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
